"""What label k-means asks of a method, of rows and of groups of rows, in one pass each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks, run_shares
from partita.scale import Chunk, RowParts, Rows, Totals
from partita.solvers.label_kmeans.search import Tables, Typical

__all__ = [
    "Geometry",
    "Shape",
    "Statistics",
    "group_statistics",
    "overall_statistics",
    "parts_of",
    "recount",
    "row_costs",
    "typical_row",
]

_ROWS = 4096
_FIRST = 256


class Geometry(Protocol):
    """What makes one label k-means differ from another."""

    def row_parts(self, labels: NDArray[Any]) -> RowParts:
        """The parts of rows of labels."""

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The mass of rows of labels, alone."""

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        """Look-up tables of groups with these counts (L, K) and masses (m, K)."""

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        """Σ_x r(x) f(x, own group), from the statistics and their tables alone."""

    def inner_products(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Of points that stand for the groups, shape (K, K).

        What a union of two groups costs is their masses times the squared distances from the
        points' common center, exactly or nearly and up to a factor that all unions share.
        """


@dataclass(frozen=True)
class Shape:
    """What a step must know of the rows it is sent to."""

    n_partitions: int
    missing_code: int
    offsets: NDArray[np.int64]
    complete: bool

    @classmethod
    def of(cls, rows: Rows) -> Shape:
        return cls(rows.n_partitions, rows.missing_code, rows.offsets, rows.complete)


@dataclass
class Statistics:
    """What the groups hold: weights by cluster, masses by partition, numbers of rows."""

    counts: NDArray[np.float64]
    masses: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def empty(cls, rows: Rows, n_groups: int) -> Statistics:
        return cls(
            np.zeros((rows.n_base_clusters, n_groups)),
            np.zeros((rows.n_partitions, n_groups)),
            np.zeros(n_groups, np.int64),
        )

    @property
    def arrays(self) -> Totals:
        return self.counts, self.masses, self.sizes

    def clear(self) -> None:
        for array in self.arrays:
            array[:] = 0


def group_statistics(
    rows: Rows, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts (L, n_groups) and masses (m, n_groups) of groups of rows; -1 is in no group."""
    found = Statistics.empty(rows, n_groups)
    shape = Shape.of(rows)

    def step(chunk: Chunk, totals: Totals) -> None:
        nowhere = np.full(len(chunk.codes), -1, np.int32)
        own = groups[chunk.start : chunk.start + len(chunk.codes)].astype(np.int32)
        recount(shape, chunk, parts_of(geometry, chunk).mass, nowhere, own, totals)

    rows.accumulate(step, found.arrays)
    return found.counts, found.masses


def overall_statistics(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of every cluster, and of the rows that every partition labels."""
    found = Statistics.empty(rows, 1)
    shape = Shape.of(rows)

    def step(chunk: Chunk, totals: Totals) -> None:
        everything = np.zeros(len(chunk.codes), np.int32)
        recount(shape, chunk, np.ones(len(everything)), everything - 1, everything, totals)

    rows.accumulate(step, found.arrays)
    return found.counts[:, 0], found.masses[:, 0]


def typical_row(rows: Rows, geometry: Geometry) -> Typical:
    """The middle of the first rows, which only decides where a search looks first."""
    first = np.arange(min(rows.n_rows, _FIRST))
    parts = geometry.row_parts(rows.take(first))
    n_labeled, scale = parts.n_labeled[first], parts.scale[first]
    return Typical(int(np.median(n_labeled)), float(np.median(scale)))


def parts_of(geometry: Geometry, chunk: Chunk) -> RowParts:
    """The parts of a chunk's rows, computed once as long as the chunk is kept."""
    if chunk.parts is None or chunk.parts[0] is not geometry:
        chunk.parts = geometry, geometry.row_parts(chunk.codes)
    return chunk.parts[1]


def recount(
    rows: Shape,
    chunk: Chunk,
    mass: NDArray[np.float64],
    old: NDArray[np.int32],
    new: NDArray[np.int32],
    totals: Totals,
) -> None:
    """Bring statistics up to date with the rows whose group changed."""
    counts, masses, sizes = totals
    kernel = _kernels.label_kmeans.move
    moved = np.flatnonzero(old != new)
    code, offsets = chunk.codes.dtype.type(rows.missing_code), rows.offsets.astype(np.int32)
    run_shares(
        lambda first, last: kernel(
            chunk.codes, code, rows.complete, offsets, chunk.weights, mass, moved, old, new,
            first, last, counts, masses,
        ),
        rows.n_partitions,
        len(moved) * rows.n_partitions,
        per_thread=1,  # every share lists the labels of all rows
    )  # fmt: skip
    for groups, sign in ((new[moved], 1), (old[moved], -1)):
        sizes += sign * np.bincount(groups[groups >= 0], minlength=len(sizes))


def row_costs(
    ensemble: Any,
    labels: NDArray[Any],
    tables: Tables,
    constant: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Cost of label rows, coded as the ensemble's, in every group, shape (n, n_clusters)."""
    out = np.empty((len(labels), tables.lookup.shape[1]))
    kernel = _kernels.label_kmeans.row_costs
    lookup, slope = np.ascontiguousarray(tables.lookup), np.ascontiguousarray(tables.slope)
    code, offsets = labels.dtype.type(ensemble.missing_code), ensemble.offsets.astype(np.int32)
    run_blocks(
        lambda start, stop: kernel(
            labels, code, offsets, lookup, slope, constant, scale, start, stop, out
        ),
        len(labels),
        _ROWS,
    )  # fmt: skip
    return out
