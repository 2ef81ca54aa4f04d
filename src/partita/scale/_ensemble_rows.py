"""The rows of an ensemble in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.io.store._files import checksum
from partita.scale.rows import Chunk, Rows, Step, Totals, fresh_memory

__all__ = ["EnsembleRows"]


class EnsembleRows(Rows):
    """The rows of an ensemble in memory: one chunk, which is kept."""

    remembers = True

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.n_rows = ensemble.n_rows
        self.layout = ensemble.layout
        self.whole = bool((ensemble.weights == np.floor(ensemble.weights)).all())
        self.chunk = Chunk(0, ensemble.codes, ensemble.weights, *fresh_memory(self.n_rows))

    @property
    def complete(self) -> bool:
        return self.ensemble.n_missing == 0

    @property
    def fingerprint(self) -> str:
        """What tells these rows from others."""
        return f"{checksum(self.chunk.weights, checksum(self.chunk.codes)):08x}"

    def accumulate(self, step: Step, totals: Totals, *, memory: bool = False) -> None:
        step(self.chunk, totals)

    def collect(self, step: Callable[[Chunk], Any], *, memory: bool = False) -> Iterator[Any]:
        yield step(self.chunk)

    def forget(self) -> None:
        self.chunk.groups[:] = -1

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self.chunk.codes[rows]
