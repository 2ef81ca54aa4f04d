"""What a solver may ask of label rows, wherever they lie, and sums over a row's clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks, run_shares

__all__ = [
    "Chunk",
    "RowParts",
    "Rows",
    "Step",
    "Totals",
    "cluster_sums",
    "fresh_memory",
    "n_labelled",
    "row_sums",
]

_BLOCK = 4096

Totals = tuple[NDArray[Any], ...]


class RowParts(NamedTuple):
    """What belongs to the rows alone in some geometry, arrays of shape (n_rows,).

    constant, scale : parts of a row's cost
    mass : what a row of weight 1 adds to the mass of its group
    n_labelled : how many partitions label it
    """

    constant: NDArray[np.float64]
    scale: NDArray[np.float64]
    mass: NDArray[np.float64]
    n_labelled: NDArray[np.int32]


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
    parts : (geometry, RowParts), optional
        What has been computed of these rows in a geometry and does not change.
    """

    start: int
    labels: NDArray[Any]
    weights: NDArray[np.float64]
    groups: NDArray[np.int32]
    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    parts: tuple[Any, RowParts] | None = None


Step = Callable[[Chunk, Totals], None]


def fresh_memory(
    n: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Groups and bounds of rows of which nothing is known."""
    return np.full(n, -1, np.int32), np.full(n, np.inf, np.float32), np.zeros(n, np.float32)


def n_labelled(labels: NDArray[Any], missing: int) -> NDArray[np.int32]:
    """How many partitions label every row."""
    out = np.empty(len(labels), np.int32)
    kernel, code = _kernels.contingency.n_labelled, labels.dtype.type(missing)
    run_blocks(lambda start, stop: kernel(labels, code, start, stop, out), len(out), _BLOCK)
    return out


def row_sums(
    labels: NDArray[Any], missing: int, offsets: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum over a row's clusters of a value per cluster, shape (n_rows,)."""
    out = np.empty(len(labels))
    kernel, code = _kernels.contingency.row_sums, labels.dtype.type(missing)
    offsets = offsets.astype(np.int32)
    run_blocks(
        lambda start, stop: kernel(labels, code, offsets, values, start, stop, out),
        len(labels),
        _BLOCK,
    )
    return out


def cluster_sums(
    labels: NDArray[Any], missing: int, offsets: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum over a cluster's rows of a value per row, clusters of all partitions numbered
    through."""
    n, m = labels.shape
    out = np.zeros(offsets[-1])
    kernel, code = _kernels.contingency.cluster_sums, labels.dtype.type(missing)
    offsets = offsets.astype(np.int32)
    run_shares(
        lambda first, last: kernel(labels, code, offsets, values, first, last, out),
        m,
        n * m,
        per_thread=1,  # every share goes over all rows
    )
    return out


class Rows(Protocol):
    """Rows of labels, coded as in an `Ensemble`.

    Attributes
    ----------
    n_rows, n_partitions, n_all_clusters, missing, offsets, categories, partition_names
        As in `Ensemble`.
    dtype : type of the labels
    complete : bool
        Whether it is known that no label is missing.
    remembers : bool
        Whether groups and bounds that a step leaves in a chunk are there in the next pass.
    whole : bool
        Whether all weights are whole numbers, whose sums are exact in any order.
    """

    n_rows: int
    n_partitions: int
    n_all_clusters: int
    missing: int
    dtype: np.dtype[Any]
    offsets: NDArray[np.int64]
    categories: tuple[NDArray[Any], ...]
    partition_names: NDArray[Any] | None
    remembers: bool
    whole: bool

    @property
    def complete(self) -> bool: ...

    @property
    def fingerprint(self) -> str:
        """What tells these rows from others: no other fit may go on from a state of theirs."""

    def accumulate(self, step: Step, totals: Totals, *, memory: bool = False) -> None:
        """Call `step(chunk, totals)` for every chunk; it adds to the totals in place.

        With `memory` chunks come with their groups and bounds, and keep what the step makes of
        them; without, these are empty.
        """

    def collect(self, step: Callable[[Chunk], Any], *, memory: bool = False) -> Iterator[Any]:
        """`step(chunk)` of every chunk, in order."""

    def forget(self) -> None:
        """Drop all groups and bounds."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The labels of some rows."""
