"""The contract of a consensus method.

A method gives `info`, `_parameter_constraints` with an `__init__` that only stores, and `_solve`.
`BaseConsensus.fit` does the rest for all of them and may not be overridden.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from partita._input.checks import check_n_clusters, random_generator
from partita._memory import require_memory
from partita._numbering import number_by_appearance, number_chunks
from partita._sklearn_compat import Interval, set_input_names
from partita.ensemble import Ensemble, as_ensemble
from partita.exceptions import NotSupportedError, PartitaWarning
from partita.scale import Rows, rows_outside
from partita.scale.checkpoint import as_checkpoint

__all__ = ["N_CLUSTERS", "BaseConsensus", "MethodInfo", "RowsSolution", "Size", "Solution"]

N_CLUSTERS = [Interval(Integral, 1, None, closed="left")]


@dataclass(frozen=True)
class Size:
    """What decides the cost of a method on an ensemble."""

    n_rows: int
    n_partitions: int
    n_base_clusters: int
    n_clusters: int

    @classmethod
    def of(cls, core: Ensemble, n_clusters: int | None) -> Size:
        return cls(core.n_rows, core.n_partitions, core.n_base_clusters, n_clusters or 1)


@dataclass(frozen=True)
class MethodInfo:
    """What the registry, the command line, the docs and the batteries know of a method.

    Attributes
    ----------
    key : str
        Short lower-case name: `get_method(key)`.
    name : str
        Full name.
    family : str
        "linkage", "graph", "k-means", "learned matrix", ...
    cite : str
        Key of the bibliography entry.
    missing : {"native", "pairwise", "disagree", "refused"}
        Missing labels: part of the method's own model, averaged over partitions that label both
        samples, counted as disagreement, or refused with an error.
    deterministic : bool
        Whether the labels depend on no random number.
    time, memory : str
        Cost in words of n' (distinct rows), m, L (all clusters), K.
    bytes_needed : callable
        Bytes of the dense arrays for a given `Size`.
    weighted : bool
        Whether a row of weight r counts as r samples. False where the paper's method counts
        samples with equal labels as one.
    balanced : bool
        Whether clusters are of about equal size by definition of the method.
    out_of_core : bool
        Whether it works from a store or a cluster without all rows in memory: it then has
        `_solve_rows`.
    """

    key: str
    name: str
    family: str
    cite: str
    missing: Literal["native", "pairwise", "disagree", "refused"]
    deterministic: bool
    time: str
    memory: str
    bytes_needed: Callable[[Size], int] = field(repr=False)
    weighted: bool = True
    balanced: bool = False
    out_of_core: bool = False


@dataclass(frozen=True)
class Solution:
    """What `_solve` returns: labels of the rows, and what was learned on the way.

    `learned` becomes fitted attributes by name; `matrix` and `diagonal` are for methods that learn
    a matrix over samples.
    """

    labels: NDArray[np.int64]
    objective: float = float("nan")
    n_iter: int = 1
    converged: bool = True
    history: NDArray[np.float64] | None = None
    matrix: NDArray[np.float64] | None = None
    diagonal: NDArray[np.float64] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RowsSolution:
    """What `_solve_rows` returns: groups of the rows chunk by chunk, -1 for a row without labels,
    and what was learned on the way."""

    groups: Callable[[], Iterator[NDArray[np.int32]]]
    objective: float = float("nan")
    n_iter: int = 1
    converged: bool = True
    history: NDArray[np.float64] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)


class BaseConsensus(ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of all consensus methods: a label matrix in, one partition out.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters numbered by first appearance; -1 only for samples without any label.
    n_clusters_ : int
    n_iter_ : int
    objective_ : float
        NaN where the method has none.
    converged_ : bool
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

    @abstractmethod
    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        """Labels for the rows of a compressed ensemble with more rows than clusters wanted."""

    def _solve_rows(self, rows: Rows, rng: np.random.Generator) -> RowsSolution:
        """Groups of rows that are not all in memory; for methods that are `out_of_core`."""
        raise NotImplementedError

    # -- fitting -----------------------------------------------------------------------------

    @final
    def fit(self, X: Any, y: Any = None, *, noise: str = "missing", client: Any = None) -> Self:
        """Fuse partitions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), data frame, list of vectors, or Ensemble
            Labels of any kind; None, NaN and -1 are missing. A list holds one vector per partition.
            Also a `LabelStore` or a Dask array, whose rows stay where they are if the method is
            `out_of_core`; `labels_` then is an array mapped from a temporary file, with -1 for
            samples without any label.
        y : ignored
        noise : {"missing", "cluster", "singletons"}
            What -1 means: no label, a cluster, or (not in a Dask array) a cluster per sample.
            Ignored for an `Ensemble` and a store.
        client : dask.distributed.Client, optional
            Whose workers run the passes over a store, which they must see, or a Dask array; by
            default a store is read by this process, and an array goes to the current client or
            to Dask's default scheduler.
        """
        self._validate_params()
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)  # nothing of an earlier fit may pass for this one's
        outside = rows_outside(X, noise, client)
        if outside is not None and self.info.out_of_core:
            return self._fit_rows(outside)
        ensemble = as_ensemble(X if outside is None else outside.to_ensemble(), noise)
        set_input_names(self, X, ensemble.n_partitions)
        core = self._reduce(ensemble)
        n_clusters = getattr(self, "n_clusters", None)
        if n_clusters is not None:
            check_n_clusters(n_clusters, ensemble.n_samples)
        if self.info.missing == "refused" and core.n_missing:
            raise NotSupportedError(
                f"{type(self).__name__} is not defined for missing labels, and {core.n_missing} "
                "are missing. Methods that accept them: "
                f"{', '.join(c.__name__ for c in _methods() if c.info.missing != 'refused')}."
            )
        alone = n_clusters is not None and core.n_rows <= n_clusters
        if alone:
            solution = self._each_row_alone(core)
        else:
            self._require_memory(core)
            solution = self._solve(core, random_generator(getattr(self, "random_state", 0)))
        self._set_result(core, solution)
        if not alone:
            self._clear_checkpoint()
        return self

    def _fit_rows(self, rows: Rows) -> Self:
        """Fit to rows that are not all in memory."""
        wanted = getattr(self, "n_clusters", None)
        if wanted is not None:
            check_n_clusters(wanted, rows.n_rows)
        self.n_features_in_ = rows.n_partitions
        solution = self._solve_rows(rows, random_generator(getattr(self, "random_state", 0)))
        self.labels_, numbers = number_chunks(solution.groups, rows.n_rows)
        self.n_clusters_ = int(numbers.max()) + 1
        self._set_account(solution)
        self._remember_numbers(numbers)
        self._clear_checkpoint()
        self._warn_of_other_number("the method found no more")
        return self

    def _reduce(self, ensemble: Ensemble) -> Ensemble:
        """Distinct rows with weights, on which `_solve` works.

        A method that is told more of the samples than their labels may keep more rows.
        """
        return ensemble.compress()

    def _each_row_alone(self, core: Ensemble) -> Solution:
        """The only answer when no more distinct rows than clusters are there."""
        return Solution(np.arange(core.n_rows), n_iter=0)

    def _bytes_needed(self, size: Size) -> int:
        """Bytes of the dense arrays with these parameters, where they matter to that."""
        return self.info.bytes_needed(size)

    def _require_memory(self, core: Ensemble) -> None:
        size = Size.of(core, getattr(self, "n_clusters", None))

        def alternatives(budget: int) -> str:
            fits = [
                c.__name__
                for c in _methods()
                if c.info.bytes_needed(size) <= budget
                and not (core.n_missing and c.info.missing == "refused")
            ]
            return f"Methods that would fit: {', '.join(fits) or 'none'}."

        what = f"{type(self).__name__} on {core.n_rows} distinct rows"
        require_memory(self._bytes_needed(size), what, alternatives)

    def _set_result(self, core: Ensemble, solution: Solution) -> None:
        if solution.labels.dtype.kind not in "iu" or solution.labels.min() < 0:
            raise TypeError(f"{type(self).__name__}._solve must number clusters from 0 on.")
        raw = core.expand(solution.labels)
        self.labels_, self.n_clusters_ = number_by_appearance(raw)
        self._set_account(solution)
        self._remember(core, solution)
        few = f"the ensemble has only {core.n_rows} distinct rows"
        wanted = getattr(self, "n_clusters", None)
        self._warn_of_other_number(
            few if wanted is not None and core.n_rows < wanted else "the method found no more"
        )

    def _set_account(self, solution: Solution | RowsSolution) -> None:
        """How the fit went, and what was learned."""
        self.objective_ = float(solution.objective)
        self.n_iter_ = int(solution.n_iter)
        self.converged_ = bool(solution.converged)
        if solution.history is not None:
            self.history_ = np.asarray(solution.history, np.float64)
        for name, value in solution.learned.items():
            setattr(self, name, value)

    def _warn_of_other_number(self, why: str) -> None:
        wanted = getattr(self, "n_clusters", None)
        if wanted is not None and self.n_clusters_ != wanted:
            warnings.warn(
                f"{type(self).__name__} returned {self.n_clusters_} clusters instead of "
                f"n_clusters={wanted}: {why}.",
                PartitaWarning,
                stacklevel=4,
            )

    def _identity(self, rows: Rows) -> dict[str, Any]:
        """What is fitted to what, in words: no other fit may go on from a checkpoint of this.

        Empty without a checkpoint, which nobody will ask for it.
        """
        parameters = self.get_params(deep=False)
        if parameters.pop("checkpoint", None) is None:
            return {}
        drawn = isinstance(parameters.get("init", ""), str)
        if drawn and not isinstance(parameters["random_state"], Integral):
            raise ValueError(
                "A checkpoint needs a whole number as random_state, so that a fit that goes on "
                f"from it draws the same numbers, got {parameters['random_state']!r}."
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
        """The labels are there: nobody need go on from the last state."""
        checkpoint = as_checkpoint(getattr(self, "checkpoint", None))
        if checkpoint is not None:
            checkpoint.clear()

    def _remember_numbers(self, numbers: NDArray[np.int64]) -> None:
        """What a kind of method keeps of the numbers its groups have got."""

    def _remember(self, core: Ensemble, solution: Solution) -> None:
        """What a kind of method keeps of its solution beyond the labels."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _methods() -> Iterator[type[BaseConsensus]]:
    """All concrete methods that have been defined, in order of definition."""
    pending = list(BaseConsensus.__subclasses__())
    while pending:
        cls = pending.pop(0)
        pending.extend(cls.__subclasses__())
        if "info" in vars(cls):
            yield cls
