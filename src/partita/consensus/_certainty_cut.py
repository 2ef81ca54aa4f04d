"""Normalized cut of the bipartite graph of samples and base clusters, weighted by certainty."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._threads import run_shares
from partita.consensus.base import BaseConsensus, RowsSolution, Size, Solution, below
from partita.ensemble import Ensemble, SoftEnsemble
from partita.ensemble.column_reduction import compress_columns
from partita.matrices.label_graph import LabelGraph, has_matrix, is_gram_cheaper
from partita.matrices.overlaps import overlaps_of_rows
from partita.matrices.soft import certainty_overlaps
from partita.scale import EnsembleRows, Rows
from partita.scale.checkpoint import Stages
from partita.solvers.kmeans import one_blas_thread, weighted_kmeans
from partita.solvers.kmeans_restarts import batched_kmeans
from partita.solvers.label_kmeans import kmeans_work
from partita.solvers.rows_transfer_cut import (
    RowEmbedding,
    cluster_embedded_rows,
    cluster_vectors,
    inverse_degree,
)
from partita.solvers.spectral import normalize_rows
from partita.solvers.transfer_cuts import transfer_cut, transfer_cut_embedding

__all__ = ["CertaintyCut", "bytes_of_cut"]


def bytes_of_cut(size: Size) -> int:
    """Return the bytes of the dense arrays of a cut."""
    n, m, n_base_clusters = size.n_rows, size.n_partitions, size.n_base_clusters
    per_label = 24 if has_matrix(n * m) else 2  # a second copy of the labels
    order = min(n, n_base_clusters)
    if not is_gram_cheaper(n, m, n_base_clusters):
        order = min(order, 500)
    return n * (per_label * m + 64) + 24 * n * size.n_clusters + 8 * order**2


class CertaintyCut(BaseConsensus):
    """Base class of methods that weight base clusters by certainty and cut their graph.

    A method defines the certainty, from an ensemble and from the table of overlaps of its clusters.
    """

    n_clusters: int
    n_init: int
    checkpoint: Any

    @abstractmethod
    def _certainty(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the certainty of the base clusters of an ensemble, shape (L,)."""

    @abstractmethod
    def _certainties(
        self, ensemble: Ensemble, subsets: Sequence[NDArray[np.int64]]
    ) -> list[NDArray[np.float64]]:
        """Return `_certainty`, and that of each of several subsets of the partitions."""

    @abstractmethod
    def _certainty_by_overlaps(
        self, overlaps: NDArray[np.float64], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the same from the numbers of samples that any two clusters share."""

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        stages = Stages.load(self.checkpoint, self._checkpoint_identity(EnsembleRows(ensemble)))
        if "embedding" not in stages.state:
            if "certainty" not in stages.state:
                stages.finish(certainty=self._certainty(ensemble))
            graph = LabelGraph(ensemble, stages.state["certainty"])
            _, embedding = transfer_cut_embedding(graph, ensemble.weights, self.n_clusters)
            stages.finish(embedding=embedding)
        labels, inertia = weighted_kmeans(
            stages.state["embedding"], ensemble.weights, self.n_clusters, rng, n_init=self.n_init
        )
        return Solution(labels, objective=inertia)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        certainty = self._certainty_by_overlaps(certainty_overlaps(soft), soft.offsets)
        labels, inertia = transfer_cut(
            soft.memberships * certainty, soft.weights, self.n_clusters, rng, n_init=self.n_init
        )
        return Solution(labels, objective=inertia)

    def _solve_each(self, ensemble: Ensemble, numbers: Sequence[int]) -> Iterator[Solution]:
        """Cut one embedding for all numbers: K clusters are read from its first K vectors."""
        yield from self._cut_each(ensemble, self._certainty(ensemble), numbers)

    def _solve_parts(
        self,
        core: Ensemble,
        rows: Ensemble,
        subsets: Sequence[NDArray[np.int64]],
        numbers: Sequence[int],
    ) -> Iterator[tuple[Ensemble, Iterator[Solution]]]:
        """Solve all parts with terms of the certainty that are computed once."""
        if not subsets:
            yield core, self._solve_each(core, below(core, numbers))
            return
        of_all, *certainties = self._certainties(core, subsets)
        yield core, self._cut_each(core, of_all, below(core, numbers))
        for subset, certainty in zip(subsets, certainties, strict=True):
            part = compress_columns(rows, subset)
            yield part, self._cut_each(part, certainty, below(part, numbers))

    def _cut_each(
        self, ensemble: Ensemble, certainty: NDArray[np.float64], numbers: Sequence[int]
    ) -> Iterator[Solution]:
        """Yield the cut of a compressed ensemble for several numbers, each below n_rows."""
        graph = LabelGraph(ensemble, certainty)
        with one_blas_thread():
            _, embedding = transfer_cut_embedding(graph, ensemble.weights, max(numbers, default=1))
        embedding = np.asfortranarray(embedding)  # the first vectors are contiguous
        rngs = [self._random_generator() for _ in numbers]  # in order, whatever thread uses them
        solutions: dict[int, Solution] = {}

        def cut(first: int, last: int) -> None:
            for k, rng in zip(numbers[first:last], rngs[first:last], strict=True):
                points = normalize_rows(embedding[:, :k])
                labels, inertia = batched_kmeans(
                    points, ensemble.weights, k, rng, n_init=self.n_init
                )
                solutions[k] = Solution(labels, objective=inertia)

        work = ensemble.n_rows * sum(numbers) * self.n_init
        with one_blas_thread():  # around all threads, which would set it for each other
            run_shares(cut, len(numbers), work, per_thread=len(numbers))
        yield from (solutions[k] for k in numbers)

    def _solve_rows(self, rows: Rows, rng: np.random.Generator) -> RowsSolution:
        stages = Stages.load(self.checkpoint, self._checkpoint_identity(rows))
        if "vectors" not in stages.state:
            if "certainty" not in stages.state:
                overlaps = overlaps_of_rows(rows)
                certainty = self._certainty_by_overlaps(overlaps, rows.offsets)
                stages.finish(certainty=certainty, sizes=overlaps.diagonal().copy())
                del overlaps
            certainty, sizes = stages.state["certainty"], stages.state["sizes"]
            degrees = partial(
                inverse_degree,
                missing_code=rows.missing_code,
                offsets=rows.offsets,
                certainty=certainty,
            )
            gram = overlaps_of_rows(rows, degrees)
            stages.finish(vectors=cluster_vectors(gram, sizes, certainty, self.n_clusters))
        work = kmeans_work(rows, self.n_clusters, n_init=1)
        embedding = RowEmbedding(stages.state["vectors"], rows.missing_code, rows.offsets, work)
        cut = cluster_embedded_rows(
            rows, embedding, self.n_clusters, rng, n_init=self.n_init, stages=stages
        )
        return RowsSolution(cut.groups, objective=cut.inertia)
