"""ColNMF: non-negative factorizations of all views with common coefficients."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita._input.checks import check_weights
from partita.consensus.constraints import MAX_ITER, TOL
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._views import Views
from partita.solvers.factorization import factorize_jointly, random_factors, unit_column_sums

__all__ = ["ColNMF"]


class ColNMF(MultiViewBaseline):
    """Collective non-negative matrix factorization.

    All views have the same coefficients V and each has its own basis U_v,

        min Σ_v λ_v ‖X_v - V U_vᵀ‖²,  V, U_v >= 0,

    by multiplicative updates

        V ← V ∘ Σ_v λ_v X_v U_v / (V Σ_v λ_v U_vᵀ U_v),  U_v ← U_v ∘ X_vᵀ V / (U_v Vᵀ V).

    The columns of all U_v together are then scaled to sum 1, V accordingly, and the rows of V are
    clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K, and of the columns of the factors.
    view_weights : array-like of shape (n_views,), optional
        λ_v. By default every view has weight 1.
    scale : {"none", "sum", "frobenius", "rows"}, default="sum"
        Scale of every view. It decides everything, since views are compared by squared errors.
        "none": the features as they are. "sum": divided by their sum, which gives most influence to
        a view with few features that are not zero. "frobenius": divided by the root of the sum of
        their squares, so that views have the same influence. "rows": every row divided by its
        length, so that also samples have.
    n_init : int, default=20
        Restarts of k-means on the rows of V.
    max_iter : int, default=500
        Largest number of updates of V and all U_v.
    tol : float, default=1e-4
        The updates stop when one lowers the objective by at most this share of it.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initial bases and of k-means. An int gives the same result in every
        call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        Σ_v λ_v ‖X_v - V U_vᵀ‖² of the scaled features.
    history_ : array
        The objective after every update; it never increases.
    n_iter_ : int
        Number of updates.
    converged_ : bool
        Whether the updates reached `tol`.
    embedding_ : array of shape (n_samples, n_clusters)
        V.

    Notes
    -----
    Cost O(nnz K + (n + d) K²) per update and O((n + d) K) memory beside the views, for nnz entries
    that are not zero and d features in all views. Sparse views stay sparse. Negative features and
    partial views, with missing rows, are refused.

    With squared errors this is `ConNMF` of the views times sqrt(λ_v): the two methods differ by the
    scale of the views only. Deviations from the paper, which treats relations of any kind: the
    non-negative case with squared errors, to which the multi-view literature gives this name.

    References
    ----------
    A. P. Singh, G. J. Gordon. Relational learning via collective matrix factorization. KDD 2008.
    https://doi.org/10.1145/1401890.1401969

    Examples
    --------
    >>> from partita.multiview import ColNMF
    >>> views = [[[0.0, 1], [0, 2], [1, 0], [2, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> ColNMF(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    _needs_non_negative: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "view_weights": ["array-like", None],
        "max_iter": MAX_ITER,
        "tol": TOL,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        view_weights: Any = None,
        scale: str = "sum",
        n_init: int = 20,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.view_weights = view_weights
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        weights = check_weights(self.view_weights, views.n_views, "view_weights")
        widths = [X.shape[1] for X in views.matrices]
        start = random_factors(views.n_samples, widths, self.n_clusters, rng)
        fit = factorize_jointly(
            views.matrices, weights, *start, max_iter=self.max_iter, tol=self.tol
        )
        V, _ = unit_column_sums(fit.coefficients, fit.bases)
        labels, _ = self._kmeans(V, rng)
        return ViewsSolution(
            labels,
            objective=fit.history[-1],
            embedding=V,
            n_iter=len(fit.history),
            converged=fit.converged,
            history=fit.history,
        )
