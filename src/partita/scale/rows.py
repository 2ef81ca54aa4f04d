"""What a solver may ask of label rows, wherever they lie, and sums over a row's clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks, run_shares
from partita.ensemble import LabelLayout

__all__ = [
    "Chunk",
    "RowParts",
    "Rows",
    "Step",
    "Totals",
    "cluster_sums",
    "fresh_memory",
    "n_labeled",
    "row_sums",
]

_BLOCK = 4096

Totals = tuple[NDArray[Any], ...]


class RowParts(NamedTuple):
    """What belongs to the rows alone in some geometry, arrays of shape (n_rows,).

    constant, scale : parts of a row's cost
    mass : what a row of weight 1 adds to the mass of its group
    n_labeled : how many partitions label it
    """

    constant: NDArray[np.float64]
    scale: NDArray[np.float64]
    mass: NDArray[np.float64]
    n_labeled: NDArray[np.int32]


@dataclass
class Chunk:
    """Consecutive rows, and what a k-means knows of them from one iteration to the next.

    Attributes
    ----------
    start : int
        Number of the first row.
    codes : array of shape (rows, n_partitions)
    weights : array of shape (rows,)
    groups : int32 array
        -1 for a row in no group.
    upper, lower : float32 arrays
        Bounds of its cost in its own group and in any other.
    parts : (geometry, RowParts), optional
        What has been computed of these rows in a geometry and does not change.
    """

    start: int
    codes: NDArray[Any]
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


def n_labeled(labels: NDArray[Any], missing: int) -> NDArray[np.int32]:
    """How many partitions label every row."""
    out = np.empty(len(labels), np.int32)
    kernel, code = _kernels.contingency.n_labeled, labels.dtype.type(missing)
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


class Rows(ABC):
    """Rows of codes, wherever they are kept.

    Attributes
    ----------
    n_rows : int
    layout : LabelLayout
        How to read the codes.
    remembers : bool
        Whether groups and bounds that a step leaves in a chunk are there in the next pass.
    whole : bool
        Whether all weights are whole numbers, whose sums are exact in any order.
    """

    n_rows: int
    layout: LabelLayout
    remembers: bool
    whole: bool

    @property
    def n_partitions(self) -> int:
        return self.layout.n_partitions

    @property
    def n_base_clusters(self) -> int:
        return self.layout.n_base_clusters

    @property
    def missing_code(self) -> int:
        return self.layout.missing_code

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.layout.dtype

    @property
    def offsets(self) -> NDArray[np.int64]:
        return self.layout.offsets

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether it is known that no label is missing."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Checksum of the rows, by which a checkpoint recognizes them."""

    @abstractmethod
    def accumulate(self, step: Step, totals: Totals, *, memory: bool = False) -> None:
        """Call `step(chunk, totals)` for every chunk; it adds to the totals in place.

        With `memory` chunks come with their groups and bounds, and keep what the step makes of
        them; without, these are empty.
        """

    @abstractmethod
    def collect(self, step: Callable[[Chunk], Any], *, memory: bool = False) -> Iterator[Any]:
        """Yield `step(chunk)` for every chunk, in order."""

    @abstractmethod
    def forget(self) -> None:
        """Drop all groups and bounds."""

    @abstractmethod
    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the codes of some rows."""
