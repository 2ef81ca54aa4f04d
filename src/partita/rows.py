"""Label rows in chunks: all in memory at once, or one chunk after the other from a store.

A solver that asks no more than sums over rows runs on either. It hands over a step that adds what
one chunk contributes to a tuple of totals; where the chunks lie and who works on them is not its
business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.ensemble import Ensemble

__all__ = ["Chunk", "EnsembleRows", "Rows", "Step", "Totals", "n_labelled", "row_sums"]

_BLOCK = 4096

Totals = tuple[NDArray[Any], ...]


@dataclass
class Chunk:
    """Consecutive rows, and what a k-means knows of them from one iteration to the next.

    Attributes
    ----------
    start : int
        Number of the first row.
    labels : array of shape (rows, n_partitions)
    weights : array of shape (rows,)
    groups : int32 array
        -1 for a row in no group.
    upper, lower : float32 arrays
        Bounds of its cost in its own group and in any other.
    parts : anything
        What has been computed of these rows and does not change; lost where chunks are not kept.
    """

    start: int
    labels: NDArray[Any]
    weights: NDArray[np.float64]
    groups: NDArray[np.int32]
    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    parts: Any = None


Step = Callable[[Chunk, Totals], None]


def fresh_memory(
    n: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Groups and bounds of rows of which nothing is known."""
    return np.full(n, -1, np.int32), np.full(n, np.inf, np.float32), np.zeros(n, np.float32)


def n_labelled(labels: NDArray[Any], missing: int) -> NDArray[np.int64]:
    """How many partitions label every row."""
    out = np.empty(len(labels), np.int64)
    kernel = _kernels.contingency.n_labelled
    run_blocks(lambda start, stop: kernel(labels, missing, start, stop, out), len(out), _BLOCK)
    return out


def row_sums(
    labels: NDArray[Any], missing: int, offsets: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum over a row's clusters of a value per cluster, shape (n_rows,)."""
    out = np.empty(len(labels))
    kernel = _kernels.contingency.row_sums
    run_blocks(
        lambda start, stop: kernel(labels, missing, offsets, values, start, stop, out),
        len(labels),
        _BLOCK,
    )
    return out


class Rows(Protocol):
    """Rows of labels, coded as in an `Ensemble`.

    Attributes
    ----------
    n_rows, n_partitions, n_all_clusters, missing, offsets
        As in `Ensemble`.
    complete : bool
        Whether it is known that no label is missing.
    remembers : bool
        Whether groups and bounds that a step leaves in a chunk are there in the next pass.
    """

    n_rows: int
    n_partitions: int
    n_all_clusters: int
    missing: int
    offsets: NDArray[np.int64]
    complete: bool
    remembers: bool

    def accumulate(self, step: Step, totals: Totals) -> None:
        """Call `step(chunk, totals)` for every chunk; it adds to the totals in place."""

    def collect(self, step: Callable[[Chunk], Any]) -> list[Any]:
        """`step(chunk)` of every chunk, in order."""

    def forget(self) -> None:
        """Drop all groups and bounds."""

    def put(self, row: int, group: int) -> None:
        """Change the group of one row."""

    def groups(self) -> NDArray[Any]:
        """A copy of the rows' groups."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The labels of some rows."""


class EnsembleRows:
    """The rows of an ensemble in memory: one chunk."""

    remembers = True

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.n_rows = ensemble.n_rows
        self.n_partitions = ensemble.n_partitions
        self.n_all_clusters = ensemble.n_all_clusters
        self.missing = ensemble.missing
        self.offsets = ensemble.offsets
        self.complete = ensemble.n_missing == 0
        self.chunk = Chunk(0, ensemble.labels, ensemble.weights, *fresh_memory(self.n_rows))

    def accumulate(self, step: Step, totals: Totals) -> None:
        step(self.chunk, totals)

    def collect(self, step: Callable[[Chunk], Any]) -> list[Any]:
        return [step(self.chunk)]

    def forget(self) -> None:
        self.chunk.groups[:] = -1
        self.chunk.upper[:] = np.inf
        self.chunk.lower[:] = 0.0

    def put(self, row: int, group: int) -> None:
        self.chunk.groups[row] = group
        self.chunk.upper[row], self.chunk.lower[row] = np.inf, 0.0

    def groups(self) -> NDArray[np.int64]:
        return self.chunk.groups.astype(np.int64)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self.chunk.labels[rows]
