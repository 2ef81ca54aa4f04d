"""Base of the methods that are k-means on rows of labels: SEC, KCC, CCC, KC."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import check_weights
from partita._input.containers import label_columns
from partita._sklearn_compat import check_input_names
from partita._warn import warn_not_converged
from partita.consensus._partition_weights import column_weights, weights_of_partitions
from partita.consensus.base import BaseConsensus, RowsSolution, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    PARTITION_WEIGHTS,
    RANDOM_STATE,
    TOL,
    StrOptions,
)
from partita.ensemble import Ensemble, LabelLayout, SoftEnsemble
from partita.exceptions import InvalidEnsembleError, NotSupportedError
from partita.scale import EnsembleRows, Rows
from partita.scale.checkpoint import as_checkpoint
from partita.solvers import weighted_kmeans
from partita.solvers.label_kmeans import (
    Geometry,
    LabelKMeansResult,
    RowTerms,
    Tables,
    group_statistics,
    initializations,
    kmeans_work,
    label_kmeans,
    row_costs,
    row_terms_of,
)

__all__ = ["LabelKMeansConsensus"]


class LabelKMeansConsensus(BaseConsensus):
    """Base of a method that is k-means on rows of labels.

    A subclass defines its cost by a `Geometry`. The look-up tables of the clusters are kept, so
    that `predict` can label new rows.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": TOL,
        "partition_weights": [StrOptions({"agreement"}), *PARTITION_WEIGHTS],
        "init": [StrOptions({"merge", "k-means++", "random"}), "array-like"],
        "random_state": RANDOM_STATE,
    }
    n_clusters: int
    n_init: int
    max_iter: int
    tol: float
    partition_weights: Any
    init: Any
    _tables: Tables
    _layout: LabelLayout | None
    _partition_order: NDArray[np.int64]
    _sizes: NDArray[np.float64]
    _numbers: NDArray[np.int64]

    @abstractmethod
    def _geometry(self, rows: Any, partition_weights: NDArray[np.float64], work: float) -> Geometry:
        """Return the cost to minimize.

        `partition_weights` has a weight per column of `rows`. `work` is that of the fit.
        """

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        rows = EnsembleRows(ensemble)
        weights = column_weights(self.partition_weights, rows, ensemble.partition_order)
        geometry, result = self._kmeans(rows, weights, rng)
        return Solution(
            result.labels,
            objective=result.objective,
            n_iter=result.n_iter,
            converged=result.converged,
            history=result.history,
            learned=self._fitted_rows(rows, weights, geometry, result.counts, result.masses),
        )

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        """Run k-means on vectors; `init`, `tol` and checkpoints are not used."""
        if isinstance(self.partition_weights, str):
            raise NotSupportedError(
                f"partition_weights={self.partition_weights!r} is not defined for soft partitions. "
                "Pass numbers or None."
            )
        w = check_weights(self.partition_weights, soft.n_partitions, "partition_weights")
        points, weights = self._soft_points(soft, np.repeat(w, np.diff(soft.offsets)))
        labels, inertia = weighted_kmeans(
            points, weights, self.n_clusters, rng, n_init=self.n_init, max_iter=self.max_iter
        )
        learned = {"_layout": None, "partition_weights_": w}
        return Solution(labels, objective=inertia, learned=learned)

    def _soft_points(
        self, soft: SoftEnsemble, column_weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the vectors whose k-means the method is, and their weights."""
        raise NotImplementedError

    def _require_complete(self, soft: SoftEnsemble) -> None:
        """Raise if memberships are missing and the method is no k-means on vectors then."""
        if soft.n_missing:
            raise NotSupportedError(
                f"{type(self).__name__} is not defined for soft partitions with missing rows, and "
                f"{soft.n_missing} are missing. EAC, LWGP, HBGF and KC accept them."
            )

    def _solve_rows(self, rows: Rows, rng: np.random.Generator) -> RowsSolution:
        order = np.arange(rows.n_partitions)
        weights = column_weights(self.partition_weights, rows, order)
        geometry, result = self._kmeans(rows, weights, rng)
        return RowsSolution(
            result.groups,
            objective=result.objective,
            n_iter=result.n_iter,
            converged=result.converged,
            history=result.history,
            learned=self._fitted(
                rows.layout, order, weights, geometry, result.counts, result.masses
            ),
        )

    def _kmeans(
        self, rows: Rows, weights: NDArray[np.float64], rng: np.random.Generator
    ) -> tuple[Geometry, LabelKMeansResult]:
        """Run label k-means with a weight per column of the rows."""
        restarts: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
        restarts["n_init"] = self.n_init if isinstance(self.init, str) else 1
        work = kmeans_work(rows, self.n_clusters, restarts["n_init"])
        geometry = self._geometry(rows, weights, work)
        groups = self._initial_groups(rows)
        if groups is not None:
            statistics = group_statistics(rows, geometry, groups, self.n_clusters)
            initialize: Any = lambda _: statistics  # noqa: E731
        else:
            initialize = initializations(
                rows,
                geometry,
                self.n_clusters,
                self.init if isinstance(self.init, str) else self._seed_rows(rows),
                rng,
                geometry_of=lambda sample, order: self._geometry(sample, weights[order], work),
                **restarts,
            )
        result = label_kmeans(
            rows,
            geometry,
            self.n_clusters,
            initialize,
            **restarts,
            task=type(self).__name__,
            checkpoint=as_checkpoint(getattr(self, "checkpoint", None)),
            identity=self._checkpoint_identity(rows),
        )
        if not result.converged:
            warn_not_converged(
                type(self).__name__,
                self.max_iter,
                "while samples were still moving. Raise max_iter, or tol if that is near enough.",
            )
        return geometry, result

    def _fitted(
        self,
        layout: LabelLayout,
        partition_order: NDArray[np.int64],
        weights: NDArray[np.float64],
        geometry: Geometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
    ) -> dict[str, Any]:
        """Return fitted attributes by name, from the statistics of the clusters.

        `predict` needs some of them: the tables, and the layout to code new rows.
        """
        tables = geometry.tables(counts, masses)
        return {
            "_tables": tables,
            "_layout": layout,
            "_partition_order": partition_order,
            "_sizes": counts.sum(axis=1),
            "partition_weights_": weights_of_partitions(weights, partition_order),
            **self._learned(geometry, counts, masses, tables),
        }

    def _fitted_rows(
        self,
        rows: EnsembleRows,
        weights: NDArray[np.float64],
        geometry: Geometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
    ) -> dict[str, Any]:
        """Return fitted attributes by name, also those that need the rows in memory."""
        core = rows.ensemble
        learned = self._fitted(core.layout, core.partition_order, weights, geometry, counts, masses)
        terms = row_terms_of(geometry, rows.chunk)
        return learned | self._learned_of_rows(core, terms, weights)

    def _store_cluster_numbers(self, numbers: NDArray[np.int64]) -> None:
        self._numbers = numbers

    def _store_solution(self, core: Ensemble | SoftEnsemble, solution: Solution) -> None:
        """Keep the number of each group in `labels_`, which `predict` returns."""
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
        """Return further fitted attributes by name, from the statistics of the clusters."""
        return {}

    def _learned_of_rows(
        self, core: Ensemble, terms: RowTerms, weights: NDArray[np.float64]
    ) -> dict[str, Any]:
        """Return further fitted attributes by name, from the rows."""
        return {}

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        groups = np.arange(core.n_rows)
        if isinstance(core, SoftEnsemble):
            return Solution(groups, n_iter=0, learned={"_layout": None})
        rows = EnsembleRows(core)
        weights = column_weights(self.partition_weights, rows, core.partition_order)
        geometry = self._geometry(rows, weights, kmeans_work(rows, core.n_rows, n_init=1))
        counts, masses = group_statistics(rows, geometry, groups, core.n_rows)
        objective = geometry.objective(counts, masses, geometry.tables(counts, masses))
        learned = self._fitted_rows(rows, weights, geometry, counts, masses)
        return Solution(groups, objective=objective, n_iter=0, learned=learned)

    def _initial_groups(self, rows: Rows) -> NDArray[np.int64] | None:
        """Return the group of every row if `init` has a label per sample, otherwise None.

        A row of several samples gets the label that most of them have, of equals the smallest.
        """
        ensemble = rows.ensemble if isinstance(rows, EnsembleRows) else None
        n = rows.n_rows if ensemble is None else ensemble.n_samples
        if isinstance(self.init, str) or np.shape(self.init) != (n,) or n == self.n_clusters:
            return None
        labels = np.asarray(self.init)
        present = np.unique(labels[labels >= 0]) if labels.dtype.kind in "iu" else ()
        if not np.array_equal(present, np.arange(self.n_clusters)):
            raise ValueError(
                f"init with a label per sample must have the labels 0 to {self.n_clusters - 1}, "
                f"each at least once, got {np.unique(labels)[:10].tolist()}. -1 is no label."
            )
        if ensemble is None or ensemble.inverse is None:
            return labels.astype(np.int64)
        is_used = (ensemble.inverse >= 0) & (labels >= 0)
        pairs = ensemble.inverse[is_used].astype(np.int64) * self.n_clusters + labels[is_used]
        values, counts = np.unique(pairs, return_counts=True)
        best = values[np.lexsort((values, -counts))]
        row, first = np.unique(best // self.n_clusters, return_index=True)
        groups = np.full(rows.n_rows, -1, np.int64)
        groups[row] = best[first] % self.n_clusters
        return groups

    def _seed_samples(self, n: int) -> NDArray[np.int64]:
        """Return the numbers of the samples in `init`; negative ones count from the end."""
        seeds = np.asarray(self.init)
        if seeds.shape != (self.n_clusters,) or seeds.dtype.kind not in "iu":
            raise ValueError(
                f"init must hold the numbers of {self.n_clusters} samples, got an array of shape "
                f"{seeds.shape} and type {seeds.dtype}."
            )
        if seeds.min() < -n or seeds.max() >= n:
            raise ValueError(f"init must hold sample numbers below {n}, got {seeds.tolist()}.")
        return np.asarray(np.where(seeds < 0, seeds + n, seeds), np.int64)

    def _seed_rows(self, rows: Rows) -> NDArray[np.int64]:
        """Return the rows of the samples in `init`."""
        if not isinstance(rows, EnsembleRows):
            return self._seed_samples(rows.n_rows)
        core = rows.ensemble
        seeds = self._seed_samples(core.n_samples)
        chosen = seeds if core.inverse is None else core.inverse[seeds]
        if len(np.unique(chosen)) < len(chosen) or chosen.min() < 0:
            raise ValueError(
                "init holds samples with the same labels, or without labels: seeds must differ."
            )
        return chosen

    def _new_row_terms(
        self, layout: LabelLayout, codes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return constant and scale (see `Tables`) of the costs of new rows."""
        return np.zeros(len(codes)), np.ones(len(codes))

    def predict(self, X: Any, *, noise: str = "missing") -> NDArray[np.int64]:
        """Return the nearest cluster of new rows of labels, numbered as in `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), data frame or list of vectors
            Labels in the fitted partitions. A label that a partition did not have in `fit` counts
            as missing.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What -1 means, as in `fit`.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        check_is_fitted(self)
        if self._layout is None:
            raise NotSupportedError(
                f"{type(self).__name__} was fitted to soft partitions. Fit labels to use `predict`."
            )
        columns, _ = label_columns(X)
        check_input_names(self, X, len(columns))
        codes, _ = self._layout.encode([columns[i] for i in self._partition_order], noise)
        unlabeled = np.flatnonzero((codes == self._layout.missing_code).all(axis=1))
        if len(unlabeled):
            raise InvalidEnsembleError(
                f"{len(unlabeled)} row(s) have no label that occurred in fit (first: row "
                f"{unlabeled[0]}). Drop them."
            )
        constant, scale = self._new_row_terms(self._layout, codes)
        costs = row_costs(self._layout, codes, self._tables, constant, scale)
        return self._numbers[np.argmin(costs, axis=1)]
