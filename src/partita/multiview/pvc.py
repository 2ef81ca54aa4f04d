"""PVC: two views, either of which may lack samples, by factorizations with common coefficients."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus.constraints import MAX_ITER, NON_NEGATIVE, TOL
from partita.exceptions import NotSupportedError
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._views import Views
from partita.solvers.factorization import random_factors, squared_error, squared_norm
from partita.solvers.nonnegative import nonnegative_rows
from partita.solvers.spectral import normalize_rows

__all__ = ["PVC"]

_SWEEPS = 20  # of coordinate descent per step; the next step continues from its result


class PVC(MultiViewBaseline):
    """Partial multi-view clustering of two views.

    A sample has one row of coefficients P, whether it is in both views or in one of them. With P_x
    and P_y the rows of the samples of the two views,

        min ‖X - P_x U_xᵀ‖² + ‖Y - P_y U_yᵀ‖² + Σ_i λ_i ‖p_i‖₁,  P, U_x, U_y >= 0.

    In turn, P and the bases U_x and U_y are the solutions of non-negative least squares problems.
    The rows of P, divided by their length, are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K, and of the columns of the factors.
    lam : float, default=0.01
        Weight λ of the sum of coefficients. That of a sample is λ_i = λ d_i / K for the d_i
        features of its views, times the square of the mean feature of both views.
    scale : {"none", "sum", "frobenius", "rows"}, default="sum"
        Scale of both views. It decides everything, since views are compared by squared errors.
        "none": the features as they are. "sum": divided by their sum, which gives most influence to
        a view with few features that are not zero. "frobenius": divided by the root of the sum of
        their squares, so that views have the same influence. "rows": every row divided by its
        length, so that also samples have.
    n_init : int, default=20
        Restarts of k-means on the rows of P.
    max_iter : int, default=100
        Largest number of iterations, both for the samples in two views, which give the initial
        factors, and for all samples.
    tol : float, default=1e-3
        The iteration stops when the objective decreases by at most this share of it. See the notes
        before you lower it.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initial bases and of k-means. An int gives the same result in
        every call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        The objective above, of the scaled features.
    history_ : array
        The objective after every iteration over all samples; it never increases.
    n_iter_ : int
        Number of iterations over all samples.
    converged_ : bool
        Whether these reached `tol`.
    embedding_ : array of shape (n_samples, n_clusters)
        Rows of P of unit length.

    Notes
    -----
    Cost O(nnz K + (n + d) K²) per sweep of coordinate descent and O((n + d) K) memory beside the
    views, for nnz entries that are not zero and d features in both views. Sparse views stay sparse.
    Negative features are refused, and so are other numbers of views than two.

    Partial views are what the method is for: a missing row has no term in the objective. At least
    one sample must be in both views.

    The model does not bound the factors: P may shrink while the bases grow, which lowers the
    penalty and changes no label. The objective therefore decreases slowly for a long time if λ is
    large or the data have little noise, and a small `tol` is not reached.

    Deviations from the authors' program: λ is relative to the mean feature; otherwise it would
    remove all coefficients if features are small numbers, as those with sum 1 are. The initial
    numbers are random bases instead of coefficients, so that equal samples get equal ones. A step
    is at most 20 sweeps of coordinate descent. The iteration ends by the objective above, where the
    program takes norms that are not squared.

    References
    ----------
    S.-Y. Li, Y. Jiang, Z.-H. Zhou. Partial multi-view clustering. AAAI 2014.
    https://doi.org/10.1609/aaai.v28i1.8973

    Examples
    --------
    >>> import numpy as np
    >>> from partita.multiview import PVC
    >>> first = [[0.0, 1], [0, 2], [1, 0], [2, 0], [np.nan, np.nan]]
    >>> second = [[5.0, 1], [np.nan, np.nan], [1, 5], [1, 5], [1, 4]]
    >>> PVC(n_clusters=2, random_state=0).fit_predict([first, second])
    array([0, 0, 1, 1, 1])
    """

    _needs_non_negative: ClassVar[bool] = True
    _accepts_partial: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "lam": NON_NEGATIVE,
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
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_views(self, views: Views) -> None:
        if views.n_views != 2:
            raise NotSupportedError(
                f"PVC is defined for two views, got {views.n_views}: {', '.join(views.names)}. "
                "MultiNMF and MultiViewClustering accept partial views in any number."
            )
        super()._check_views(views)
        if not views.present.all(axis=1).any():
            raise NotSupportedError(
                f"PVC needs samples that are in both views, {views.names[0]!r} and "
                f"{views.names[1]!r}, and there is none: nothing relates their clusters."
            )

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        widths = [X.shape[1] for X in views.matrices]
        P, bases = random_factors(views.n_samples, widths, self.n_clusters, rng)
        n_entries = sum(X.shape[0] * X.shape[1] for X in views.matrices)
        mean = sum(float(X.sum()) for X in views.matrices) / n_entries
        penalty = self.lam / self.n_clusters * mean**2
        bases = [mean * U for U in bases]  # so that coefficients are of order 1 in any unit
        single = [_Group(views, pattern, penalty) for pattern in ((True, False), (False, True))]
        paired = _Group(views, (True, True), penalty)
        paired.update_coefficients(P, bases)
        self._factorize(P, bases, [], paired)
        history, converged = self._factorize(P, bases, single, paired)
        rows = normalize_rows(P)
        labels, _ = self._kmeans(rows, rng)
        return ViewsSolution(
            labels,
            objective=history[-1],
            embedding=rows,
            n_iter=len(history),
            converged=converged,
            history=history,
        )

    def _factorize(
        self,
        P: NDArray[np.float64],
        bases: list[NDArray[np.float64]],
        single: list[_Group],
        paired: _Group,
    ) -> tuple[list[float], bool]:
        """Update the rows of P of these groups, and the bases, in place."""
        groups = [*single, paired]
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.max_iter:
            for group in single:
                group.update_coefficients(P, bases)
            for v, basis in enumerate(bases):
                parts = [(g.parts[v], P[g.samples]) for g in groups if v in g.parts]
                gram = np.sum([rows.T @ rows for _, rows in parts], axis=0)
                products = np.sum([X.T @ rows for X, rows in parts], axis=0)
                bases[v] = nonnegative_rows(basis, gram, products, max_iter=_SWEEPS)
            paired.update_coefficients(P, bases)
            objective = sum(group.objective(P, bases) for group in groups)
            converged = bool(history) and history[-1] - objective <= self.tol * history[-1]
            history.append(objective)
        return history, converged


class _Group:
    """The samples that are in the same views, with their features in these views."""

    def __init__(self, views: Views, pattern: tuple[bool, ...], penalty: float) -> None:
        is_member = (views.present == pattern).all(axis=1)
        self.samples = np.flatnonzero(is_member)
        self.parts = {
            v: X[is_member[views.present[:, v]]] for v, X in enumerate(views.matrices) if pattern[v]
        }
        self.norms = {v: squared_norm(X) for v, X in self.parts.items()}
        self.penalty = penalty * sum(X.shape[1] for X in self.parts.values())

    def update_coefficients(self, P: NDArray[np.float64], bases: list[NDArray[np.float64]]) -> None:
        """Set the rows of P to the best ones for the bases."""
        gram = np.sum([bases[v].T @ bases[v] for v in self.parts], axis=0)
        products = np.sum([X @ bases[v] for v, X in self.parts.items()], axis=0)
        P[self.samples] = nonnegative_rows(
            P[self.samples], gram, products, self.penalty, max_iter=_SWEEPS
        )

    def objective(self, P: NDArray[np.float64], bases: list[NDArray[np.float64]]) -> float:
        """Return the errors of these samples and the penalty of their coefficients."""
        rows = P[self.samples]
        # the error is symmetric in the two factors: here the basis takes the role of V
        errors = (
            squared_error(self.norms[v], bases[v], rows, X @ bases[v])
            for v, X in self.parts.items()
        )
        return sum(errors) + self.penalty * float(rows.sum())
