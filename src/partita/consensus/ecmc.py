"""ECMC: completion of the pairs on which the partitions agree."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_not_converged, warn_user
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE,
    RANDOM_STATE,
    Interval,
)
from partita.ensemble import Ensemble
from partita.matrices.agreement import coassociation, coobserved_counts
from partita.solvers import spectral_clustering, top_eigenvectors
from partita.solvers.shared_low_rank import SharedMatrix, fit_low_rank
from partita.solvers.view_errors import ViewErrors

__all__ = ["ECMC"]

_FIRST_PENALTY = 1.25  # initial mu, as a multiple of 1/‖D‖₂
_LARGEST_PENALTY = 1e7  # as a multiple of the initial mu
_EMPTY = 1e-3  # a row of X without a larger entry says nothing


class ECMC(LearnedMatrixConsensus):
    """Ensemble clustering by matrix completion.

    Pairs are certain if (almost) all partitions join them or (almost) all separate them. The matrix
    D is 1 for the former and 0 for the latter; all other pairs are unknown. The pairs are certain
    but for few errors E, and a clustering has a matrix of low rank, so that the unknown entries are
    completed by

        min ‖X‖_* + lam ‖E‖₁  subject to  X + E = D on the certain pairs.

    Labels come from normalized spectral clustering of X.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    low : float, default=0.2
        Largest share of partitions that may join a pair that is certainly apart.
    high : float, default=0.8
        Smallest share of partitions that must join a pair that is certainly together; above `low`.
    lam : float or None, default=None
        Weight of the errors. A cluster of c samples is treated as error altogether unless
        lam c > 1. None means the larger of 1/√n, the usual value of robust principal component
        analysis of n samples, and n_clusters/n.
    growth : float, default=1.5
        Factor of the penalty from one iteration to the next. A smaller factor gives a slightly
        better objective in more iterations.
    n_init : int, default=20
        Restarts of the final k-means; the smallest inertia wins.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-07
        The iteration stops when ‖D - X - E‖_F is below this share of ‖D‖_F.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        X over distinct rows. `consensus_matrix()` has a row per sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    certain_ratio_ : float
        Share of the pairs of distinct rows that are certain, each row with itself included.
    lam_ : float
        The weight of the errors that was used.
    objective_ : float
        Value of the objective above at X.
    history_ : array of shape (n_iter_,)
        ‖D - X - E‖_F / ‖D‖_F after every iteration.

    Notes
    -----
    Cost O(n'² p) per iteration for n' distinct rows and X of rank p, beside two reductions of an
    n' x n' matrix to tridiagonal form; 15 to 40 iterations. Memory: about eight n' x n' arrays. The
    solution is that of the full n x n problem.

    If few pairs are certain, low rank does not determine the others. A warning says so if there
    are fewer of them than a symmetric matrix of rank `n_clusters` over distinct rows has free
    values.

    Missing labels: the share of a pair is that of the partitions that label both samples. Pairs
    that no partition labels are unknown.

    Deviations from the paper: the augmented Lagrangian of robust principal component analysis
    solves the problem. X is zero in the whole row of a sample that is certainly joined with few
    others. Before X is cut, such rows are replaced by the co-association, times the largest
    entry of X in the row of the other sample.

    References
    ----------
    J. Yi, T. Yang, R. Jin, A. K. Jain, M. Mahdavi. Robust ensemble clustering by matrix completion.
    IEEE ICDM 2012, 1176-1181. https://doi.org/10.1109/ICDM.2012.123

    Examples
    --------
    >>> from partita import ECMC
    >>> partitions = [[0, 0, 0, 1, 1], [2, 2, 2, 4, 4], [0, 0, 0, 1, 1], [5, 5, 7, 7, 7]]
    >>> ECMC(n_clusters=2, low=0.3, high=0.7, random_state=0).fit_predict(partitions)
    array([0, 0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ecmc",
        name="Ensemble clustering by matrix completion",
        family="learned matrix",
        cite="yi2012",
        missing="pairwise",
        deterministic=False,
        time="n'³ an iteration",
        memory="n'²",
        bytes_needed=lambda s: 64 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "low": [Interval(Real, 0, 1, closed="both")],
        "high": [Interval(Real, 0, 1, closed="both")],
        "lam": [*POSITIVE, None],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        low: float = 0.2,
        high: float = 0.8,
        lam: float | None = None,
        growth: float = 1.5,
        n_init: int = 20,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.low = low
        self.high = high
        self.lam = lam
        self.growth = growth
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        r = ensemble.weights
        n = float(r.sum())
        lam = max(n**-0.5, self.n_clusters / n) if self.lam is None else self.lam
        D = self._certain_pairs(ensemble)
        certain_ratio = self._check_certain(D)
        X = self._complete(D, r, lam)
        del D
        if X.rank == 0:
            warn_user(
                f"ECMC treats all pairs as errors with lam={lam:.3g}: the labels are those of the "
                "co-association matrix. Raise lam."
            )
        affinity = np.maximum(X.matrix, 0.0)
        _fill_empty_rows(affinity, ensemble)
        labels = spectral_clustering(affinity, r, self.n_clusters, rng, n_init=self.n_init)
        return Solution(
            labels,
            objective=X.nuclear_norm + lam * float(X.errors.sum()),
            n_iter=len(X.history),
            converged=X.converged,
            history=X.history,
            matrix=X.matrix,
            learned={"certain_ratio_": certain_ratio, "lam_": lam},
        )

    def _certain_pairs(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return D: 1 and 0 for pairs that are certain, NaN for the others."""
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got low={self.low} and high={self.high}.")
        D = coassociation(ensemble, expand=False)
        is_together = self.high <= D
        is_certain = is_together | (self.low >= D)
        if ensemble.n_missing:
            is_certain &= coobserved_counts(ensemble) > 0
        D[:] = is_together
        D[~is_certain] = np.nan
        return D

    def _check_certain(self, D: NDArray[np.float64]) -> float:
        """Return the share of certain pairs, and warn if they are too few."""
        n, K = len(D), self.n_clusters
        n_certain = (np.count_nonzero(~np.isnan(D)) + n) // 2  # the diagonal is certain
        n_pairs = n * (n + 1) // 2
        if n_certain < n * K - K * (K - 1) // 2:
            warn_user(
                f"ECMC completes {n_pairs} pairs of distinct rows from {n_certain} certain ones, "
                f"which do not determine a matrix of rank {K}. Raise low={self.low:g} or lower "
                f"high={self.high:g}."
            )
        return n_certain / n_pairs

    def _complete(
        self, D: NDArray[np.float64], weights: NDArray[np.float64], lam: float
    ) -> SharedMatrix:
        root = np.sqrt(weights)

        def norm(matrix: NDArray[np.float64]) -> float:
            """Return the Frobenius norm over samples."""
            return float(np.sqrt(np.einsum("ab,ab,a,b->", matrix, matrix, weights, weights)))

        together = np.nan_to_num(D)
        size = norm(together)
        together *= root[:, None]
        together *= root
        mu = _FIRST_PENALTY / float(top_eigenvectors(together, 1)[0][0])  # entries are >= 0
        del together
        result = fit_low_rank(
            ViewErrors([D], weights, lam, "l1", lambda residual: norm(residual) / size),
            mu=mu,
            growth=self.growth,
            largest_mu=_LARGEST_PENALTY * mu,
            max_iter=self.max_iter,
            tol=self.tol,
            task="ECMC",
            symmetric=True,
        )
        if not result.converged:
            warn_not_converged(
                "ECMC",
                self.max_iter,
                f"with a relative residual of {result.history[-1]:.1e}, above tol={self.tol:g}. "
                "Raise max_iter, or tol if that is close enough.",
            )
        return result


def _fill_empty_rows(affinity: NDArray[np.float64], ensemble: Ensemble) -> None:
    """Replace rows and columns of zeros by co-association, in the scale of the other rows."""
    scale = affinity.max(axis=1)
    is_empty = scale < _EMPTY
    if is_empty.any():
        scale[is_empty] = 1.0
        links = coassociation(ensemble, expand=False)[is_empty] * scale
        affinity[is_empty] = links
        affinity[:, is_empty] = links.T
