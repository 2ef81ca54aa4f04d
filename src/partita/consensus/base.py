"""The contract of a consensus method.

A method defines `info`, `_parameter_constraints`, an `__init__` that only stores its arguments, and
`_solve`. `BaseConsensus.fit` does everything else and cannot be overridden.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone

from partita._input.checks import check_n_clusters, random_generator
from partita._memory import require_memory
from partita._numbering import number_by_appearance, number_chunks
from partita._sklearn_compat import fitting, set_input_names
from partita._threads import blas_threads_for
from partita._warn import warn_user
from partita.consensus._contract import MethodInfo, RowsSolution, Size, Solution
from partita.ensemble import Ensemble, SoftEnsemble, as_ensemble, as_soft
from partita.exceptions import NotSupportedError
from partita.scale import Rows, rows_outside
from partita.scale.checkpoint import as_checkpoint

__all__ = ["BaseConsensus", "MethodInfo", "RowsSolution", "Size", "Solution", "below"]


def below(core: Ensemble, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of clusters that are smaller than the number of rows."""
    return [k for k in numbers if k < core.n_rows]


class BaseConsensus(ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of all consensus methods: partitions in, one clustering out.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample, numbered by first appearance; -1 only for samples without any
        label.
    n_clusters_ : int
        Number of clusters in `labels_`.
    n_iter_ : int
        Number of iterations; 1 for a method without iterations.
    objective_ : float
        Value of the objective function; NaN if the method has none.
    converged_ : bool
        Whether the iteration reached its tolerance.
    """

    info: ClassVar[MethodInfo]
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        overridden = {"fit", "fit_predict"} & set(vars(cls))
        if overridden:
            raise TypeError(
                f"{cls.__name__} overrides {sorted(overridden)}; write `_solve` instead."
            )

    # -- what a method defines ---------------------------------------------------------------

    @abstractmethod
    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        """Cluster the rows of a compressed ensemble, which has more than `n_clusters` rows."""

    def _solve_rows(self, rows: Rows, rng: np.random.Generator) -> RowsSolution:
        """Cluster rows that are not all in memory; required if `info.out_of_core`."""
        raise NotImplementedError

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        """Cluster the distinct rows of soft partitions; required if `info.soft`."""
        raise NotImplementedError

    def _solve_each(self, ensemble: Ensemble, numbers: Sequence[int]) -> Iterator[Solution]:
        """Yield the solution of a compressed ensemble for several `n_clusters`, each below n_rows.

        A solution with a `tree_` is a cut of that tree, and another number is another cut. Without
        a tree every number is solved by itself. A method whose numbers share more overrides this.
        """
        solution: Solution | None = None
        for k in numbers:
            tree = None if solution is None else solution.learned.get("tree_")
            if tree is None:
                method = clone(self).set_params(n_clusters=k)
                solution = method._solve(ensemble, method._random_generator())
                method._clear_checkpoint()
            else:
                solution = Solution(tree.cut(k), learned={"tree_": tree})
            yield solution

    def _solve_parts(
        self,
        core: Ensemble,
        rows: Ensemble,
        subsets: Sequence[NDArray[np.int64]],
        numbers: Sequence[int],
    ) -> Iterator[tuple[Ensemble, Iterator[Solution]]]:
        """Yield an ensemble and then subsets of its partitions, each compressed and solved.

        A method whose parts share work overrides this.

        Parameters
        ----------
        core : Ensemble
            Distinct rows, as `_reduce` returns them.
        rows : Ensemble
            The distinct rows as samples with weights.
        subsets : sequence of arrays of indices
            Partitions of every further part.
        numbers : sequence of int
            `n_clusters`, ascending. Of every part those below its number of rows are solved.
        """
        yield core, self._solve_each(core, below(core, numbers))
        for subset in subsets:
            part = self._reduce(rows.subset(partitions=subset))
            yield part, self._solve_each(part, below(part, numbers))

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        """Return one cluster per row: the solution if there are at most `n_clusters` rows."""
        return Solution(np.arange(core.n_rows), n_iter=0)

    def _reduce(self, ensemble: Ensemble) -> Ensemble:
        """Return distinct rows with weights, the input of `_solve`.

        A method that uses more information on the samples than their labels may keep more rows.
        """
        return ensemble.compress()

    def _store_solution(self, core: Ensemble | SoftEnsemble, solution: Solution) -> None:
        """Set further fitted attributes; called after `labels_` is set."""

    def _store_cluster_numbers(self, numbers: NDArray[np.int64]) -> None:
        """Store the number in `labels_` of every group, after a fit to rows outside memory."""

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        return self.info.bytes_needed(size)

    # -- fitting -----------------------------------------------------------------------------

    @final
    def fit(self, X: Any, y: Any = None, *, noise: str = "missing", client: Any = None) -> Self:
        """Fuse partitions into one clustering.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), data frame, list, Ensemble or LabelStore
            The partitions. Labels are of any type; None, NaN and -1 are missing. A list holds one
            label vector per partition, or one matrix of memberships (n_samples, K_i) if the method
            is `soft`; a `SoftEnsemble` holds such matrices. Memberships that are all 0 or 1 are
            taken as labels, by every method. A `LabelStore` or a Dask array is not loaded into
            memory if the method is `out_of_core`; `labels_` is then mapped from a temporary file
            and is -1 for samples without any label.
        y : ignored, default=None
            Present for compatibility with scikit-learn.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            Meaning of the label -1: no label, one cluster, or one cluster per sample (not for a
            Dask array). Ignored for an `Ensemble` and a store.
        client : dask.distributed.Client, optional
            Client whose workers visit the rows of a store or a Dask array. The workers must be
            able to read the store. By default this process reads a store, and an array is computed
            by the current client or else by Dask's default scheduler.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        with fitting(self):
            return self._fit(X, noise, client)

    def _fit(self, X: Any, noise: str, client: Any) -> Self:
        soft = as_soft(X)
        if soft is not None:
            if not soft.is_hard:
                return self._fit_soft(soft)
            X = soft.to_ensemble()
        rows = rows_outside(X, noise, client)
        if rows is not None and self.info.out_of_core:
            return self._fit_rows(rows)
        ensemble = as_ensemble(X if rows is None else rows.to_ensemble(), noise)
        set_input_names(self, X, ensemble.n_partitions)
        core = self._reduce(ensemble)
        n_clusters = self._n_requested
        if n_clusters is not None:
            check_n_clusters(n_clusters, ensemble.n_samples)
        self._check_missing(core)
        if n_clusters is not None and core.n_rows <= n_clusters:
            self._set_result(core, self._solve_trivial(core))
            return self
        self._check_memory(core)
        with blas_threads_for(core.n_rows):
            solution = self._solve(core, self._random_generator())
        self._set_result(core, solution)
        self._clear_checkpoint()
        return self

    def _fit_soft(self, soft: SoftEnsemble) -> Self:
        """Fit degrees of membership."""
        name = type(self).__name__
        if not self.info.soft:
            accepting = ", ".join(c.__name__ for c in _methods() if c.info.soft)
            raise NotSupportedError(
                f"{name} is not defined for soft partitions. Methods that accept them: "
                f"{accepting}. `SoftEnsemble.to_ensemble()` returns the most likely labels."
            )
        core, n_clusters = soft.compress(), self._n_requested
        self.n_features_in_ = core.n_partitions
        if n_clusters is not None:
            check_n_clusters(n_clusters, core.n_samples)
        if n_clusters is not None and core.n_rows <= n_clusters:
            self._set_result(core, self._solve_trivial(core))
            return self
        # a row has an entry in every column, not one per partition
        length = core.n_base_clusters
        size = Size(core.n_rows, length, length, n_clusters or 1)
        needed = self.bytes_needed(size) + 24 * core.n_rows * length
        require_memory(needed, f"{name} on {core.n_rows} rows of memberships")
        with blas_threads_for(core.n_rows):
            solution = self._solve_soft(core, self._random_generator())
        self._set_result(core, solution)
        return self

    def _fit_rows(self, rows: Rows) -> Self:
        """Fit rows that are not all in memory."""
        if self._n_requested is not None:
            check_n_clusters(self._n_requested, rows.n_rows)
        self.n_features_in_ = rows.n_partitions
        solution = self._solve_rows(rows, self._random_generator())
        self.labels_, numbers = number_chunks(solution.groups, rows.n_rows)
        self.n_clusters_ = int(numbers.max()) + 1
        self._set_attributes(solution)
        self._store_cluster_numbers(numbers)
        self._clear_checkpoint()
        self._check_n_clusters("the method found no more")
        return self

    @property
    def _n_requested(self) -> int | None:
        """The parameter `n_clusters`; None if the method chooses the number itself."""
        return getattr(self, "n_clusters", None)

    def _random_generator(self) -> np.random.Generator:
        return random_generator(getattr(self, "random_state", 0))

    def _check_missing(self, core: Ensemble) -> None:
        """Raise if labels are missing and the method is not defined for that."""
        if self.info.missing == "refused" and core.n_missing:
            accepting = ", ".join(c.__name__ for c in _methods() if c.info.missing != "refused")
            raise NotSupportedError(
                f"{type(self).__name__} is not defined for missing labels, and {core.n_missing} "
                f"are missing. Methods that accept them: {accepting}."
            )

    def _check_memory(self, core: Ensemble) -> None:
        """Raise if the dense arrays exceed the memory budget, and name methods that do not."""
        size = Size.of(core, self._n_requested)

        def alternatives(budget: int) -> str:
            names = [
                c.__name__
                for c in _methods()
                if c.info.bytes_needed(size) <= budget
                and not (core.n_missing and c.info.missing == "refused")
            ]
            return f"Methods that would fit: {', '.join(names) or 'none'}."

        task = f"{type(self).__name__} on {core.n_rows} distinct rows"
        require_memory(self.bytes_needed(size), task, alternatives)

    def _set_result(self, core: Ensemble | SoftEnsemble, solution: Solution) -> None:
        """Expand the labels to samples, number the clusters and set the fitted attributes."""
        if solution.labels.dtype.kind not in "iu" or solution.labels.min() < 0:
            raise TypeError(f"{type(self).__name__}._solve must number clusters from 0 on.")
        self.labels_, self.n_clusters_ = number_by_appearance(core.expand(solution.labels))
        self._set_attributes(solution)
        self._store_solution(core, solution)
        if self._n_requested is not None and core.n_rows < self._n_requested:
            self._check_n_clusters(f"the ensemble has only {core.n_rows} distinct rows")
        else:
            self._check_n_clusters("the method found no more")

    def _set_attributes(self, solution: Solution | RowsSolution) -> None:
        self.objective_ = float(solution.objective)
        self.n_iter_ = int(solution.n_iter)
        self.converged_ = bool(solution.converged)
        if solution.history is not None:
            self.history_ = np.asarray(solution.history, np.float64)
        for name, value in solution.learned.items():
            setattr(self, name, value)

    def _check_n_clusters(self, reason: str) -> None:
        """Warn if another number of clusters came back than was requested."""
        if self._n_requested is not None and self.n_clusters_ != self._n_requested:
            warn_user(
                f"{type(self).__name__} returned {self.n_clusters_} clusters instead of "
                f"n_clusters={self._n_requested}: {reason}."
            )

    # -- checkpoints -------------------------------------------------------------------------

    def _checkpoint_identity(self, rows: Rows) -> dict[str, Any]:
        """Describe the fit, so that no other fit continues from its checkpoint.

        Empty if there is no checkpoint.
        """
        parameters = self.get_params(deep=False)
        if parameters.pop("checkpoint", None) is None:
            return {}
        uses_random_numbers = isinstance(parameters.get("init", ""), str)
        if uses_random_numbers and not isinstance(parameters["random_state"], Integral):
            raise ValueError(
                "A checkpoint needs an integer as random_state, so that a continued fit draws the "
                f"same random numbers, got {parameters['random_state']!r}."
            )
        return {
            "method": type(self).__name__,
            **{k: repr(v.tolist() if hasattr(v, "tolist") else v) for k, v in parameters.items()},
            "samples": rows.n_rows,
            "partitions": rows.n_partitions,
            "clusters": rows.n_base_clusters,
            "checksum of the labels": rows.fingerprint,
        }

    def _clear_checkpoint(self) -> None:
        """Delete the saved state, which a finished fit no longer needs."""
        checkpoint = as_checkpoint(getattr(self, "checkpoint", None))
        if checkpoint is not None:
            checkpoint.clear()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _methods() -> Iterator[type[BaseConsensus]]:
    """Yield all concrete methods that have been defined, in order of definition."""
    pending = list(BaseConsensus.__subclasses__())
    while pending:
        cls = pending.pop(0)
        pending.extend(cls.__subclasses__())
        if "info" in vars(cls):
            yield cls
