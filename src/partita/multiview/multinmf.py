"""MultiNMF: a factorization of every view, with coefficients near common ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.consensus.constraints import MAX_ITER, POSITIVE, TOL
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._views import Views
from partita.solvers.factorization import (
    factorize_jointly,
    random_factors,
    ratio,
    squared_error,
    squared_norm,
    unit_column_sums,
)

__all__ = ["MultiNMF"]

_SWEEPS = 3  # passes over the views by which the initial factors come about
_STARTS = 10  # random factors of the first view; the best is used
_INNER = 200  # largest number of updates of one view in a round


class MultiNMF(MultiViewBaseline):
    """Joint non-negative matrix factorization of several views.

    Every view has coefficients V_v and a basis U_v of its own. The coefficients, in units that make
    them comparable, are drawn towards common coefficients V*,

        min Σ_v ‖X_v - V_v U_vᵀ‖² + λ ‖V_v Q_v - V*‖²,  Q_v = diag(column sums of U_v),

    over non-negative factors. One round updates every view by

        V ← V ∘ (X U + λ V*) / (V Uᵀ U + λ V),
        U_fk ← U_fk ((Xᵀ V)_fk + λ Σ_j V_jk V*_jk) / ((U Vᵀ V)_fk + λ Q_k Σ_j V_jk²),

    dividing the columns of U by their sums after each update so that Q = I, and then sets V* to the
    mean of the V_v. The rows of V* are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K, and of the columns of the factors.
    lam : float, default=0.01
        λ, the strength with which all views are drawn towards V*.
    scale : {"none", "sum", "frobenius", "rows"}, default="sum"
        Scale of every view. It decides everything, since λ is compared with the squared errors of
        the views and V* is the mean of coefficients in their units. "none": the features as they
        are. "sum": divided by their sum. "frobenius": divided by the root of the sum of their
        squares. "rows": every row divided by its length.
    n_init : int, default=20
        Restarts of k-means on the rows of V*.
    max_iter : int, default=30
        Largest number of rounds. A round updates each view up to 200 times.
    tol : float, default=1e-4
        The rounds end when one lowers the objective by at most this share of it. The updates of a
        view within a round end at a tenth of it.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initial factors and of k-means. An int gives the same result in every
        call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        The objective above, of the scaled features.
    history_ : array
        The objective after every round; it never increases.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the rounds reached `tol`.
    embedding_ : array of shape (n_samples, n_clusters)
        V*.

    Notes
    -----
    Cost O(nnz K + (n + d) K²) per update, up to 200 updates of every view in a round, and
    O((V n + d) K) memory beside the views, for nnz entries that are not zero and d features in all
    V views. Sparse views stay sparse. Negative features are refused.

    Partial views: a missing row has no term in the objective, and V* of a sample is the mean over
    the views that have it.

    The initial factors come from plain factorizations, three times through all views, each from the
    coefficients of the view before; the first one is the best of ten random ones. In the first
    round V* is V_1. All this is as in the authors' program. Deviations from it: updates of a view
    end by the change of its objective, and rounds too. The program instead keeps a running mean,
    makes 30 rounds, and returns to the factors before a round that raised the objective, which
    these updates cannot do.

    References
    ----------
    J. Liu, C. Wang, J. Gao, J. Han. Multi-view clustering via joint nonnegative matrix
    factorization. SIAM International Conference on Data Mining (SDM), 2013.
    https://doi.org/10.1137/1.9781611972832.28

    Examples
    --------
    >>> from partita.multiview import MultiNMF
    >>> views = [[[0.0, 1], [0, 2], [1, 0], [2, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> MultiNMF(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    _needs_non_negative: ClassVar[bool] = True
    _accepts_partial: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "lam": POSITIVE,
        "max_iter": MAX_ITER,
        "tol": TOL,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.01,
        scale: str = "sum",
        n_init: int = 20,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        factors = [
            _Factors(X, np.flatnonzero(views.present[:, v]), self.lam)
            for v, X in enumerate(views.matrices)
        ]
        _initialize(factors, views.n_samples, self.n_clusters, self.tol / 10, rng)
        common = _first_of(factors, views.n_samples)
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.max_iter:
            report_progress("MultiNMF", len(history), self.max_iter)
            for view in factors:
                view.update(common[view.samples], _INNER, self.tol / 10)
            common = _mean_of(factors, views.n_samples)
            objective = sum(view.error + view.distance(common) for view in factors)
            converged = bool(history) and history[-1] - objective <= self.tol * history[-1]
            history.append(objective)
        report_progress("MultiNMF", self.max_iter, self.max_iter)
        labels, _ = self._kmeans(common, rng)
        return ViewsSolution(
            labels,
            objective=history[-1],
            embedding=common,
            n_iter=len(history),
            converged=converged,
            history=history,
        )


@dataclass
class _Factors:
    """One view: its features X of some samples, its factors V and U, and ‖X - V Uᵀ‖²."""

    X: Any
    samples: NDArray[np.int64]
    lam: float
    V: NDArray[np.float64] = field(init=False)
    U: NDArray[np.float64] = field(init=False)
    error: float = field(init=False)

    def __post_init__(self) -> None:
        self.norm = squared_norm(self.X)

    def update(self, common: NDArray[np.float64], max_iter: int, tol: float) -> list[float]:
        """Update V and U with V* fixed; return the objective of the view after every update."""
        V, U, lam = self.V, self.U, self.lam
        history: list[float] = []
        while len(history) < max_iter:
            V = V * ratio(self.X @ U + lam * common, V @ (U.T @ U) + lam * V)
            products, gram = np.asarray(self.X.T @ V), V.T @ V
            above = products + lam * np.sum(V * common, axis=0)
            below = U @ gram + lam * U.sum(axis=0) * gram.diagonal()
            U = U * ratio(above, below)
            error = squared_error(self.norm, V, U, products)
            V, (U,) = unit_column_sums(V, [U])
            history.append(error + lam * float(np.sum((V - common) ** 2)))
            if len(history) > 1 and history[-2] - history[-1] <= tol * history[-2]:
                break
        self.V, self.U, self.error = V, U, error
        return history

    def distance(self, common: NDArray[np.float64]) -> float:
        """Return λ ‖V - V*‖²."""
        return self.lam * float(np.sum((self.V - common[self.samples]) ** 2))


def _initialize(
    factors: list[_Factors], n: int, n_components: int, tol: float, rng: np.random.Generator
) -> None:
    """Factorize the views in turn, each from the coefficients of the view before."""
    coefficients = np.ones((n, n_components))
    for sweep in range(_SWEEPS):
        for v, view in enumerate(factors):
            fits = []
            for _ in range(1 if sweep or v else _STARTS):
                _, (basis,) = random_factors(n, [view.X.shape[1]], n_components, rng)
                start = coefficients[view.samples], [view.U if sweep else basis]
                fits.append(
                    factorize_jointly([view.X], np.ones(1), *start, max_iter=_INNER, tol=tol)
                )
            best = min(fits, key=lambda fit: fit.history[-1])
            view.V, (view.U,) = unit_column_sums(best.coefficients, best.bases)
            coefficients[view.samples] = view.V


def _first_of(factors: list[_Factors], n: int) -> NDArray[np.float64]:
    """Return V_1; a sample that the first view lacks has the row of the first view with it."""
    common = np.empty((n, factors[0].V.shape[1]))
    for view in reversed(factors):
        common[view.samples] = view.V
    return common


def _mean_of(factors: list[_Factors], n: int) -> NDArray[np.float64]:
    """Return the mean of V_v over the views that have a sample."""
    total = np.zeros((n, factors[0].V.shape[1]))
    n_views = np.zeros(n)
    for view in factors:
        total[view.samples] += view.V
        n_views[view.samples] += 1
    return total / n_views[:, None]
