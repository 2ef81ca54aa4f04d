"""Rows of an ensemble in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.io.positioned_file import checksum
from partita.scale._rows import AddChunk, Chunk, Rows, Totals

__all__ = ["EnsembleRows"]


class EnsembleRows(Rows):
    """Rows of an ensemble in memory: one chunk, which keeps its state in every pass."""

    keeps_state = True

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.n_rows = ensemble.n_rows
        self.layout = ensemble.layout
        self.has_integer_weights = bool((ensemble.weights == np.floor(ensemble.weights)).all())
        self.chunk = Chunk(0, ensemble.codes, ensemble.weights)

    @property
    def complete(self) -> bool:
        return self.ensemble.n_missing == 0

    @property
    def fingerprint(self) -> str:
        return f"{checksum(self.chunk.weights, checksum(self.chunk.codes)):08x}"

    def accumulate(self, add: AddChunk, totals: Totals, *, keep_state: bool = False) -> None:
        add(self.chunk, totals)

    def collect(
        self, function: Callable[[Chunk], Any], *, keep_state: bool = False
    ) -> Iterator[Any]:
        yield function(self.chunk)

    def reset_state(self) -> None:
        self.chunk.state.clear()

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self.chunk.codes[rows]
