"""Methods that are k-means on label rows: SEC and its kin."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import check_weights
from partita._input.containers import label_columns
from partita._sklearn_compat import check_input_names
from partita.consensus.base import BaseConsensus, RowsSolution, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    RANDOM_STATE,
    TOL,
    StrOptions,
)
from partita.ensemble import Ensemble, LabelLayout
from partita.exceptions import ConvergenceWarning, InvalidEnsembleError
from partita.scale import EnsembleRows, RowParts, Rows
from partita.scale.checkpoint import as_checkpoint
from partita.solvers.label_kmeans.iteration import LabelKMeansResult, label_kmeans
from partita.solvers.label_kmeans.merging import merged_groups
from partita.solvers.label_kmeans.search import Tables
from partita.solvers.label_kmeans.seeds import SeedSample, draw_seeds, is_sampled, seed_statistics
from partita.solvers.label_kmeans.statistics import (
    Geometry,
    group_statistics,
    parts_of,
    row_costs,
)

__all__ = ["LabelKMeansConsensus"]

Start = tuple[NDArray[np.float64], NDArray[np.float64]]
Starts = Callable[[int], Start]


class LabelKMeansConsensus(BaseConsensus):
    """A method that is k-means on label rows in a geometry of its own.

    It keeps look-up tables of its clusters and can label new rows by them.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": TOL,
        "init": [StrOptions({"merge", "k-means++", "random"}), "array-like"],
        "random_state": RANDOM_STATE,
    }
    n_clusters: int
    n_init: int
    max_iter: int
    tol: float
    init: Any
    _tables: Tables
    _layout: LabelLayout
    _partition_order: NDArray[np.int64]
    _sizes: NDArray[np.float64]
    _numbers: NDArray[np.int64]

    @abstractmethod
    def _geometry(self, rows: Any, partition_weights: NDArray[np.float64]) -> Geometry:
        """The costs the method minimizes; a weight per column of the rows."""

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        rows = EnsembleRows(ensemble)
        weights = self._weights(ensemble.n_partitions, ensemble.partition_order)
        geometry = self._geometry(rows, weights)
        result = self._kmeans(rows, geometry, self._starts(rows, geometry, weights, rng))
        learned = self._knowledge(
            ensemble.layout, ensemble.partition_order, geometry, result.counts, result.masses
        )
        return Solution(
            result.labels,
            objective=result.objective,
            n_iter=result.n_iter,
            converged=result.converged,
            history=result.history,
            learned=learned | self._learned_of_rows(ensemble, parts_of(geometry, rows.chunk)),
        )

    def _solve_rows(self, rows: Rows, rng: np.random.Generator) -> RowsSolution:
        weights = self._weights(rows.n_partitions, slice(None))
        geometry = self._geometry(rows, weights)
        result = self._kmeans(rows, geometry, self._starts(rows, geometry, weights, rng))
        return RowsSolution(
            result.groups,
            objective=result.objective,
            n_iter=result.n_iter,
            converged=result.converged,
            history=result.history,
            learned=self._knowledge(
                rows.layout, np.arange(rows.n_partitions), geometry, result.counts, result.masses
            ),
        )

    def _starts(
        self,
        rows: Rows,
        geometry: Geometry,
        partition_weights: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Starts:
        """What start number i begins with: given samples, or what is found among all rows if these
        are few and in memory, or else among some of them."""
        if not isinstance(self.init, str):
            seeds = rows.take(self._seed_rows(rows))
            return lambda _: seed_statistics(rows, geometry, seeds)
        k, children = self.n_clusters, rng.spawn(self.n_init)
        if isinstance(rows, EnsembleRows) and not is_sampled(rows, k):
            return lambda i: group_statistics(
                rows, geometry, self._first_groups(rows, geometry, i, children[i]), k
            )
        sample = SeedSample.of(rows, k, rng)
        on_sample = self._geometry(sample.rows, partition_weights[sample.partition_order])

        def start(i: int) -> Start:
            groups = self._first_groups(sample.rows, on_sample, i, children[i])
            # most of the way is gone on the sample, where it costs little
            if is_sampled(rows, k) and k < sample.rows.n_rows:
                first = group_statistics(sample.rows, on_sample, groups, k)
                groups = label_kmeans(
                    sample.rows, on_sample, k, lambda _: first, n_init=1,
                    max_iter=self.max_iter, tol=self.tol,
                ).labels  # fmt: skip
            return sample.statistics(rows, geometry, groups, k)

        return start

    def _first_groups(
        self, rows: EnsembleRows, geometry: Geometry, number: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The group of every row when start `number` begins; -1 is none."""
        if rows.n_rows <= self.n_clusters:  # a sample with few different rows, or a store
            return np.arange(rows.n_rows)
        if self.init == "merge" and number % 2 == 0:
            return merged_groups(rows, geometry, self.n_clusters, rng)
        # merged starts resemble each other, and all of them may miss what few rows contest
        how = "random" if self.init == "random" else "k-means++"
        groups = np.full(rows.n_rows, -1)
        seeds = draw_seeds(rows, geometry, self.n_clusters, how, rng)
        groups[seeds] = np.arange(self.n_clusters)
        return groups

    def _kmeans(self, rows: Rows, geometry: Geometry, starts: Starts) -> LabelKMeansResult:
        result = label_kmeans(
            rows,
            geometry,
            self.n_clusters,
            starts,
            n_init=self.n_init if isinstance(self.init, str) else 1,
            max_iter=self.max_iter,
            tol=self.tol,
            task=type(self).__name__,
            checkpoint=as_checkpoint(getattr(self, "checkpoint", None)),
            identity=self._checkpoint_identity(rows),
        )
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations while "
                "samples were still moving. Raise max_iter, or tol if that is near enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result

    def _weights(self, n_partitions: int, order: Any) -> NDArray[np.float64]:
        """Weights of the partitions, in the order of the columns."""
        given = getattr(self, "partition_weights", None)
        return check_weights(given, n_partitions, "partition_weights")[order]

    def _knowledge(
        self,
        layout: LabelLayout,
        partition_order: NDArray[np.int64],
        geometry: Geometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
    ) -> dict[str, Any]:
        """Return fitted attributes by name, from the statistics of the clusters.

        What `predict` needs is among them: the tables, and how to code new rows.
        """
        tables = geometry.tables(counts, masses)
        return {
            "_tables": tables,
            "_layout": layout,
            "_partition_order": partition_order,
            "_sizes": counts.sum(axis=1),
            **self._learned(geometry, counts, masses, tables),
        }

    def _store_cluster_numbers(self, numbers: NDArray[np.int64]) -> None:
        self._numbers = numbers

    def _store_solution(self, core: Ensemble, solution: Solution) -> None:
        """The number each group got, so that `predict` speaks of the same clusters as `labels_`."""
        groups = core.expand(solution.labels)
        self._numbers = np.full(int(solution.labels.max()) + 1, -1, np.int64)
        self._numbers[groups[groups >= 0]] = self.labels_[groups >= 0]

    def _learned(
        self,
        geometry: Any,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
        tables: Tables,
    ) -> dict[str, Any]:
        """Further fitted attributes by name, from the statistics of the clusters."""
        return {}

    def _learned_of_rows(self, core: Ensemble, parts: RowParts) -> dict[str, Any]:
        """Further fitted attributes by name, from the rows."""
        return {}

    def _solve_trivial(self, core: Ensemble) -> Solution:
        groups = np.arange(core.n_rows)
        rows = EnsembleRows(core)
        geometry = self._geometry(rows, self._weights(core.n_partitions, core.partition_order))
        counts, masses = group_statistics(rows, geometry, groups, core.n_rows)
        objective = geometry.objective(counts, masses, geometry.tables(counts, masses))
        learned = self._knowledge(core.layout, core.partition_order, geometry, counts, masses)
        learned |= self._learned_of_rows(core, parts_of(geometry, rows.chunk))
        return Solution(groups, objective=objective, n_iter=0, learned=learned)

    def _given_samples(self, n: int) -> NDArray[np.int64]:
        """The samples that `init` names by number."""
        seeds = np.asarray(self.init)
        if seeds.shape != (self.n_clusters,) or seeds.dtype.kind not in "iu":
            raise ValueError(
                f"init must name {self.n_clusters} samples by number, got an array of shape "
                f"{seeds.shape} and type {seeds.dtype}."
            )
        if seeds.min() < -n or seeds.max() >= n:
            raise ValueError(f"init must hold sample numbers below {n}, got {seeds.tolist()}.")
        return np.asarray(np.where(seeds < 0, seeds + n, seeds), np.int64)

    def _seed_rows(self, rows: Rows) -> NDArray[np.int64]:
        """The rows that `init` names by sample."""
        if not isinstance(rows, EnsembleRows):
            return self._given_samples(rows.n_rows)
        core = rows.ensemble
        seeds = self._given_samples(core.n_samples)
        chosen = seeds if core.inverse is None else core.inverse[seeds]
        if len(np.unique(chosen)) < len(chosen) or chosen.min() < 0:
            raise ValueError(
                "init names samples with the same labels (or none): seeds must differ."
            )
        return chosen

    def _row_parts(
        self, layout: LabelLayout, codes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the constant and the scale of the costs of new rows."""
        return np.zeros(len(codes)), np.ones(len(codes))

    def predict(self, X: Any, *, noise: str = "missing") -> NDArray[np.int64]:
        """Nearest cluster of new label rows, numbered as in `labels_`.

        Parameters
        ----------
        X : label matrix with the fitted partitions as columns
            A label the partition did not have counts as missing.
        noise : {"missing", "cluster", "singletons"}
            As in `fit`.
        """
        check_is_fitted(self)
        columns, _ = label_columns(X)
        check_input_names(self, X, len(columns))
        codes, _ = self._layout.encode([columns[i] for i in self._partition_order], noise)
        unlabeled = np.flatnonzero((codes == self._layout.missing_code).all(axis=1))
        if len(unlabeled):
            raise InvalidEnsembleError(
                f"{len(unlabeled)} row(s) have no label known from fitting (first: row "
                f"{unlabeled[0]}). Drop them."
            )
        constant, scale = self._row_parts(self._layout, codes)
        costs = row_costs(self._layout, codes, self._tables, constant, scale)
        return self._numbers[np.argmin(costs, axis=1)]
