"""ConNMF: non-negative factorization of the concatenated views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from partita.consensus.constraints import MAX_ITER, TOL
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._concatenation import concatenate
from partita.multiview._scaling import scale_features
from partita.multiview._views import Views
from partita.solvers.factorization import factorize_jointly, random_factors, unit_column_sums

__all__ = ["ConNMF"]


class ConNMF(MultiViewBaseline):
    """Non-negative matrix factorization of concatenated views.

    The features of all views, side by side, are approximated by a product of non-negative factors,

        min ‖[X_1, ..., X_V] - V Uᵀ‖²,  V, U >= 0,

    with one row of V per sample and one row of U per feature, by multiplicative updates

        V ← V ∘ X U / (V Uᵀ U),  U ← U ∘ Xᵀ V / (U Vᵀ V).

    The columns of U are then scaled to sum 1, V accordingly, and the rows of V are clustered by
    k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K, and of the columns of the factors.
    scale : {"none", "sum", "frobenius", "rows"}, default="sum"
        Scale of the concatenated matrix. "none": the features as they are. "sum": divided by their
        sum. "frobenius": divided by the root of the sum of their squares. "rows": every row
        divided by its length, over all views together. The first three give the same labels, and
        a view with larger numbers has more influence; `ColNMF` scales every view by itself.
    n_init : int, default=20
        Restarts of k-means on the rows of V.
    max_iter : int, default=500
        Largest number of updates of V and U.
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
        ‖X - V Uᵀ‖² of the scaled features.
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
    partial views, with missing rows, are refused. The factors are drawn once: another
    `random_state` may give another local optimum.

    References
    ----------
    D. D. Lee, H. S. Seung. Algorithms for non-negative matrix factorization. NIPS 2000.

    H. Liu, J. Wu, T. Liu, D. Tao, Y. Fu. Spectral ensemble clustering via weighted k-means:
    theoretical and practical evidence. IEEE TKDE 29(5), 2017.
    https://doi.org/10.1109/TKDE.2017.2650229

    Examples
    --------
    >>> from partita.multiview import ConNMF
    >>> views = [[[0.0, 1], [0, 2], [1, 0], [2, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> ConNMF(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    _needs_non_negative: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "max_iter": MAX_ITER,
        "tol": TOL,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale: str = "sum",
        n_init: int = 20,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _scaled(self, views: Views) -> Views:
        X = scale_features(concatenate(views.matrices), self.scale)
        return replace(views, matrices=(X,))

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        (X,) = views.matrices
        start = random_factors(views.n_samples, [X.shape[1]], self.n_clusters, rng)
        fit = factorize_jointly([X], np.ones(1), *start, max_iter=self.max_iter, tol=self.tol)
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
