"""Balanced cuts: refine several initial partitions and keep the smallest cut.

`graphs` (edges are cut) and `hypergraphs` (nets are cut) share this procedure. They differ in the
cost of a cut and in the initial partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._numbering import number_by_appearance
from partita._packages import is_installed, require_package
from partita.config import report_progress
from partita.solvers.graph_cut._adjacency import Adjacency
from partita.solvers.graph_cut._part_limits import PartLimits
from partita.solvers.graph_cut._refinement import ROUNDING, refine
from partita.solvers.kmeans import one_blas_thread, weighted_kmeans

__all__ = ["Cut", "Initialization", "balanced_cut", "choose_partitioner", "kmeans_groups"]

_PERTURBATIONS = 30  # times the best partition is perturbed and refined again
_PERTURBATION_WORK = 2e5  # vertices times parts beyond which there are fewer perturbations
_SCATTERED_SHARE = 0.1  # share of the vertices that a perturbation moves at random
_SCATTERED_MIN = 4  # their smallest expected number, for small graphs
_PACKAGES = {"metis": "pymetis", "kahypar": "kahypar"}


@dataclass(frozen=True)
class Cut:
    """A balanced partition.

    Attributes
    ----------
    labels : array of shape (n_vertices,)
        Part of every vertex, numbered by first appearance.
    cut : float
        Cost of the cut.
    history : array
        Cut after every pass of the refinement that led to `labels`.
    partitioner : str
        What made the initial partitions; "none" if there was nothing to choose.
    """

    labels: NDArray[np.int64]
    cut: float
    history: NDArray[np.float64]
    partitioner: str


@dataclass(frozen=True)
class Initialization:
    """Initial groups of vertices.

    Attributes
    ----------
    partitioner : str
        Name of the procedure that makes them.
    n_init : int
        Number of initial partitions.
    make : callable (PartLimits) -> iterator of arrays of shape (n_vertices,)
        Yields the group of every vertex, once per initial partition.
    """

    partitioner: str
    n_init: int
    make: Callable[[PartLimits], Iterator[NDArray[np.int64]]]


def balanced_cut(
    adjacency: Adjacency,
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    *,
    external: Initialization,
    builtin: Initialization,
    fits_external: bool,
    partitioner: str,
    balance: float,
    task: str,
) -> Cut:
    """Refine every initial partition, then perturbations of the best; keep the smallest cut.

    The initial partitions are `external` or `builtin`, see `choose_partitioner`.
    """
    name = choose_partitioner(partitioner, external.partitioner, fits_external)
    if n_parts >= adjacency.n_vertices or n_parts == 1:
        return _trivial_cut(adjacency, n_parts)
    initialization = external if name == external.partitioner else builtin
    limits = PartLimits.of(weights, n_parts, balance)
    n_perturbations = int(
        min(_PERTURBATIONS, _PERTURBATION_WORK / (adjacency.n_vertices * n_parts))
    )
    n_refinements = initialization.n_init + n_perturbations
    work = adjacency.work(n_parts, n_refinements)
    best, history = limits.packing, [np.inf]
    visited: dict[bytes, int] = {}

    def initial_groups() -> Iterator[NDArray[np.int64]]:
        yield from initialization.make(limits)
        for i in range(n_perturbations):
            yield _perturbed(best, n_parts, rng, mix=i % 2 == 1)

    for done, groups in enumerate(initial_groups(), 1):
        with one_blas_thread():
            parts, cuts = refine(adjacency, groups, weights, limits, work, visited)
        if cuts[-1] < history[-1] * (1 - ROUNDING):
            best, history = parts, cuts
        report_progress(task, done, n_refinements)
    return Cut(number_by_appearance(best)[0], history[-1], np.asarray(history), name)


def kmeans_groups(
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    n_init: int,
) -> Iterator[NDArray[np.int64]]:
    """Yield k-means clusterings of a spectral embedding, one per restart."""
    for _ in range(n_init):
        yield weighted_kmeans(embedding, weights, n_parts, rng, n_init=1)[0]


def _perturbed(
    parts: NDArray[np.int64], n_parts: int, rng: np.random.Generator, *, mix: bool
) -> NDArray[np.int64]:
    """Mix the vertices of two parts at random, or move some vertices to random parts."""
    if mix:
        pair = rng.choice(n_parts, 2, replace=False)
        return np.where(np.isin(parts, pair), rng.choice(pair, len(parts)), parts)
    is_moved = rng.random(len(parts)) < max(_SCATTERED_SHARE, _SCATTERED_MIN / len(parts))
    return np.where(is_moved, rng.integers(n_parts, size=len(parts)), parts)


def _trivial_cut(adjacency: Adjacency, n_parts: int) -> Cut:
    """Return one part, or one part per vertex."""
    n = adjacency.n_vertices
    labels = np.zeros(n, np.int64) if n_parts == 1 else np.arange(n)
    cut = adjacency.cut(labels, n)
    return Cut(labels, cut, np.asarray([cut]), "none")


def choose_partitioner(partitioner: str, external: str, fits_external: bool) -> str:
    """Return the name of the partitioner to use.

    Parameters
    ----------
    partitioner : str
        The user's choice: `external`, "builtin" or "auto".
    external : {"metis", "kahypar"}
        The optional partitioner for this kind of graph.
    fits_external : bool
        Whether "auto" may use it for this graph, if it is installed.
    """
    package = _PACKAGES[external]
    if partitioner == external:
        purpose = f'Methods with partitioner="{external}"'
        require_package(package, purpose, "partita[graph]", 'pass partitioner="builtin"')
        return external
    use_external = partitioner == "auto" and fits_external and is_installed(package)
    return external if use_external else "builtin"
