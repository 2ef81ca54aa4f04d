"""`Rows`: access to rows of codes chunk by chunk; sums over their base clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita._threads import run_blocks, run_shares
from partita.ensemble.layout import HasLayout

__all__ = [
    "AddChunk",
    "Chunk",
    "RowArrays",
    "Rows",
    "Totals",
    "cluster_sums",
    "n_labeled",
    "row_sums",
]

_BLOCK = 4096
_OPERATIONS = 40  # elementary operations per label to add up values of its cluster
_TO_COUNT = 0.1  # of these to count a label: NumPy compares many codes at a time
_PASSES = 10  # or chunks: by the size of a chunk alone a store with many of them would seem small

Totals = tuple[NDArray[Any], ...]
"""Arrays to which every chunk adds its contribution."""

RowArrays = tuple[NDArray[Any], ...]
"""Arrays with one entry per row of a chunk, in descending order of item size (for alignment)."""


@dataclass
class Chunk:
    """Consecutive rows, and arrays of one entry per row that solvers keep with them.

    Attributes
    ----------
    start : int
        Number of the first row.
    codes : array of shape (n_chunk_rows, n_partitions)
        Codes of the rows.
    weights : array of shape (n_chunk_rows,)
        Weights of the rows.
    state : dict
        Arrays that change from pass to pass, by a key that the solver chooses. A solver adds
        missing ones and writes to them in place; `Rows.reset_state` drops all of them.
    constants : dict
        The same for arrays that never change once they are computed.
    """

    start: int
    codes: NDArray[Any]
    weights: NDArray[np.float64]
    state: dict[Any, RowArrays] = field(default_factory=dict)
    constants: dict[Any, RowArrays] = field(default_factory=dict)


AddChunk = Callable[[Chunk, Totals], None]
"""Function that adds the contribution of a chunk to totals, in place."""


def n_labeled(
    labels: NDArray[Any], missing_code: int, work: float | None = None
) -> NDArray[np.int32]:
    """Return the number of partitions that label each row; `work` as in `row_sums`."""
    work = _PASSES * _OPERATIONS * labels.size if work is None else work
    out = np.empty(len(labels), np.int32)
    codes, code, _ = CodeTable.of(labels, missing_code, np.zeros(1, np.int64))
    fill = _kernels.contingency.n_labeled.at(_TO_COUNT * work)
    run_blocks(lambda start, stop: fill(codes, code, start, stop, out), len(out), _BLOCK)
    return out


def row_sums(
    labels: NDArray[Any],
    missing_code: int,
    offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    work: float | None = None,
) -> NDArray[np.float64]:
    """Return for each row the sum of `values` over its base clusters, shape (n_rows,).

    `work` is that of all calls of a solve, by which the form of the kernel is chosen; by default
    that of ten calls. See `Rows.work_of_sums`.
    """
    work = _PASSES * _OPERATIONS * labels.size if work is None else work
    out = np.empty(len(labels))
    table = *CodeTable.of(labels, missing_code, offsets), values
    fill = _kernels.contingency.row_sums.at(work)
    run_blocks(lambda start, stop: fill(*table, start, stop, out), len(labels), _BLOCK)
    return out


def cluster_sums(
    labels: NDArray[Any],
    missing_code: int,
    offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    work: float | None = None,
) -> NDArray[np.float64]:
    """Return for each base cluster the sum of `values` over its rows, shape (L,).

    `work` as in `row_sums`.
    """
    n, m = labels.shape
    out = np.zeros(offsets[-1])
    table = *CodeTable.of(labels, missing_code, offsets), values
    work = _PASSES * _OPERATIONS * labels.size if work is None else work
    add_up = _kernels.contingency.cluster_sums.at(work)
    run_shares(
        lambda first, last: add_up(*table, first, last, out),
        m,
        n * m,
        per_thread=1,  # every share reads all rows
    )
    return out


class Rows(HasLayout, ABC):
    """Rows of codes that are read chunk by chunk.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    layout : LabelLayout
        Integer type, missing code, offsets and categories of the codes.
    keeps_state : bool
        Whether `Chunk.state` and `Chunk.constants` are available in later passes.
    has_integer_weights : bool
        Whether all weights are integers, so that their sums are exact in any order.
    """

    n_rows: int
    keeps_state: bool
    has_integer_weights: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.layout.dtype

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether no label is missing."""

    @property
    def work_of_sums(self) -> float:
        """About how many operations sums over all rows need that are kept as constants of chunks.

        Rows that keep no constants compute them in every pass.
        """
        n_passes = 1 if self.keeps_state else _PASSES
        return float(_OPERATIONS * n_passes) * self.n_rows * self.n_partitions

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Checksum of the rows, by which a checkpoint recognizes them."""

    @abstractmethod
    def accumulate(self, add: AddChunk, totals: Totals, *, keep_state: bool = False) -> None:
        """Call `add(chunk, totals)` for every chunk; `add` adds to the totals in place.

        With `keep_state`, chunks have the state and constants of earlier passes, and what `add`
        leaves there is kept for later ones. Without it both may be empty and are dropped.
        """

    @abstractmethod
    def collect(
        self, function: Callable[[Chunk], Any], *, keep_state: bool = False
    ) -> Iterator[Any]:
        """Yield `function(chunk)` for every chunk, in order; `keep_state` as in `accumulate`."""

    @abstractmethod
    def reset_state(self) -> None:
        """Drop the state of all chunks; constants stay."""

    @abstractmethod
    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the codes of some rows."""
