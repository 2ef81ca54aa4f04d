"""What the multi-view methods of other papers share.

A method defines `_parameter_constraints`, an `__init__` that only stores its arguments, and
`_solve`. `MultiViewBaseline` checks, orders and scales the views, and sets the results.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.checks import check_n_clusters, random_generator
from partita._numbering import number_by_appearance
from partita._warn import warn_not_converged, warn_user
from partita.consensus.constraints import N_CLUSTERS, N_INIT, RANDOM_STATE
from partita.exceptions import NotSupportedError
from partita.multiview._base import BaseMultiView
from partita.multiview._row_order import order_samples, reorder
from partita.multiview._scaling import SCALE, scale_features
from partita.multiview._views import Views
from partita.solvers.kmeans import one_blas_thread, weighted_kmeans

__all__ = ["MultiViewBaseline", "ViewsSolution"]


@dataclass(frozen=True)
class ViewsSolution:
    """What `_solve` returns.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        Cluster of every sample.
    objective : float
        Value of the objective function.
    embedding : array of shape (n_samples, p) or None
        Rows that were clustered.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the iteration reached its tolerance.
    history : sequence of float or None
        The objective after every iteration.
    learned : mapping
        Further fitted attributes by name.
    """

    labels: NDArray[np.int64]
    objective: float
    embedding: NDArray[np.float64] | None = None
    n_iter: int = 1
    converged: bool = True
    history: Sequence[float] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)


class MultiViewBaseline(BaseMultiView):
    """A method that clusters the features of several views by itself."""

    n_clusters: int
    n_init: int
    scale: str
    random_state: Any

    _needs_non_negative: ClassVar[bool] = False
    _accepts_partial: ClassVar[bool] = False
    _stop: ClassVar[str] = (
        "while the objective still changed by more than tol={tol:g} of it. Raise one of them."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "scale": SCALE,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    @abstractmethod
    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        """Cluster the samples of scaled views."""

    def _fit_views(self, views: Views) -> None:
        check_n_clusters(self.n_clusters, views.n_samples)
        self._check_views(views)
        order = order_samples(views)
        with one_blas_thread():  # sums depend on the number of threads
            views = self._scaled(reorder(views, order))
            solution = self._solve(views, random_generator(self.random_state))
        self._set_result(solution, order)

    def _scaled(self, views: Views) -> Views:
        matrices = tuple(scale_features(X, self.scale) for X in views.matrices)
        return replace(views, matrices=matrices)

    def _check_views(self, views: Views) -> None:
        """Raise if the method is not defined for these views."""
        if not (self._accepts_partial or views.is_complete):
            sample, view = np.argwhere(~views.present)[0]
            name = sample if views.sample_ids is None else views.sample_ids[sample]
            raise NotSupportedError(
                f"{type(self).__name__} needs every sample in every view, and "
                f"{np.count_nonzero(~views.present)} row(s) are missing, first sample {name!s} in "
                f"view {views.names[view]!r}. Estimators that accept partial views: "
                f"{', '.join(sorted(_accepting_partial()))} and MultiViewClustering."
            )
        if self._needs_non_negative:
            for name, X in zip(views.names, views.matrices, strict=True):
                _check_non_negative(X, name, type(self).__name__)

    def _kmeans(self, embedding: Any, rng: np.random.Generator) -> tuple[NDArray[np.int64], float]:
        """Return the labels and the inertia of the best of `n_init` runs of k-means."""
        weights = np.ones(embedding.shape[0])
        return weighted_kmeans(embedding, weights, self.n_clusters, rng, n_init=self.n_init)

    def _set_result(self, solution: ViewsSolution, order: NDArray[np.int64]) -> None:
        """Return to the order of the user's samples and set the fitted attributes."""
        position = np.argsort(order)
        self.labels_, self.n_clusters_ = number_by_appearance(solution.labels[position])
        self.objective_ = float(solution.objective)
        self.n_iter_ = int(solution.n_iter)
        self.converged_ = bool(solution.converged)
        if solution.embedding is not None:
            self.embedding_ = solution.embedding[position]
        if solution.history is not None:
            self.history_ = np.asarray(solution.history, np.float64)
        for name, value in solution.learned.items():
            setattr(self, name, value)
        parameters = self.get_params()
        if not self.converged_:
            warn_not_converged(
                type(self).__name__,
                parameters["max_iter"],
                self._stop.format(tol=parameters["tol"]),
            )
        if self.n_clusters_ != self.n_clusters:
            warn_user(
                f"{type(self).__name__} returned {self.n_clusters_} clusters instead of "
                f"n_clusters={self.n_clusters}: the embedding has no more distinct rows."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a list of views
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._needs_non_negative
        return tags


def _check_non_negative(X: Any, view: str, method: str) -> None:
    entries = X.data if sp.issparse(X) else X
    if entries.size and (smallest := float(entries.min())) < 0:
        raise ValueError(
            f"{method} needs non-negative features, and view {view!r} has values down to "
            f"{smallest:g}. Shift or clip that view, or use a method that accepts negative "
            "features: ConKM, CRSC, RMSC or MultiViewClustering."
        )


def _accepting_partial() -> list[str]:
    return [cls.__name__ for cls in MultiViewBaseline.__subclasses__() if cls._accepts_partial]
