"""NMFC: the co-association matrix as a product of non-negative, nearly orthogonal factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.checks import check_weights
from partita._warn import warn_user
from partita.config import report_progress
from partita.consensus._partition_weights import column_weights, weights_of_partitions
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE,
    RANDOM_STATE,
    StrOptions,
)
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import ConvergenceWarning, NotSupportedError
from partita.matrices import cluster_overlaps, incidence
from partita.matrices.soft import soft_overlaps
from partita.scale import EnsembleRows
from partita.solvers import weighted_kmeans
from partita.solvers.label_kmeans import (
    UtilityGeometry,
    draw_seeds,
    kmeans_work,
    label_kmeans,
    seed_statistics,
)
from partita.solvers.simplex import simplex_quadratic

__all__ = ["NMFC"]

_TINY = 1e-12  # keeps denominators from zero
_ROUNDS = 20  # largest number of alternations of factors and weights
_WEIGHT_TOL = 1e-4  # the alternation stops when no weight changes by more


class NMFC(BaseConsensus):
    """Non-negative matrix factorization consensus.

    The weighted co-association matrix is approximated by a partition matrix that may be soft,

        min ‖A - Q D Qᵀ‖²,  A = Σ_i w_i M^(i),  Q >= 0, Qᵀ Q = I, D >= 0 diagonal,

    where M^(i) is 1 if partition i joins two samples. Q and D follow from multiplicative updates,

        Q ← Q ∘ sqrt( A Q D / (Q Qᵀ A Q D) ),  D ← D ∘ sqrt( Qᵀ A Q / (Qᵀ Q D Qᵀ Q) ),

    and the cluster of a sample is the largest entry of its row of Q D^½.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    partition_weights : {"equal", "learned", "agreement"} or array, default="equal"
        Weights of the partitions. "equal": w_i = 1/m. "learned": the weights on the simplex for
        which A is nearest to Q D Qᵀ; these are learned in turn with the factors, from the best
        restart with equal weights. "agreement": proportional to each partition's mean normalized
        mutual information with the others (`partita.matrices.crowd_agreement`). An array of shape
        (n_partitions,) is divided by its sum.
    n_init : int, default=5
        Restarts. Among those with the most clusters, the smallest objective wins.
    max_iter : int, default=1000
        Largest number of updates for one set of weights.
    tol : float, default=0.001
        The updates stop when one changes Q by less than this share of its norm.
    init : {"k-means", "random"}, default="k-means"
        Initial Q: the clusters of a k-means consensus plus 0.2, or uniform random numbers.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initialization. An int gives the same result in every call.

    Attributes
    ----------
    objective_ : float
        ‖A - Q D Qᵀ‖².
    history_ : array
        The objective after every update of the best restart. It may increase at first, while Q is
        not yet orthogonal.
    partition_weights_ : array of shape (n_partitions,)
        w_i, with sum 1.
    membership_ : array of shape (n_samples, n_clusters)
        Rows of Q D^½; the columns are in no particular order.

    Notes
    -----
    Cost O(n' m K) per update, since A Q = B (w ∘ (Bᵀ Q)), and O(n' (m + K) + L²) memory: A is never
    formed. Sums over samples become weighted sums over distinct rows, which is exact if the
    initialization is the same for samples with equal labels. For learned weights G_ij = tr(M^(i)
    M^(j)), the sum of squared overlaps of two partitions' clusters, makes that step a quadratic
    problem of size m. Identical partitions may share their weight in any way.

    Missing labels count as disagreement.

    Soft partitions: co-association is P Pᵀ / m with memberships P.

    Learned weights have a flaw of the model itself: a base partition with n_clusters clusters has a
    factorization without error, so that the weights tend towards single partitions (on ten
    partitions of the ecoli data with K = 8 completely within 20 rounds, after which the alternation
    ends even if the weights have not converged). Look at `partition_weights_` before using the
    result.

    Deviations from the papers: initialization by k-means by default, restarts, and a stop by the
    change of Q instead of a fixed number of updates.

    References
    ----------
    T. Li, C. Ding, M. I. Jordan. Solving consensus and semi-supervised clustering problems using
    nonnegative matrix factorization. ICDM 2007. https://doi.org/10.1109/ICDM.2007.98

    T. Li, C. Ding. Weighted consensus clustering. SIAM International Conference on Data Mining
    (SDM), 2008.

    Examples
    --------
    >>> from partita import NMFC
    >>> NMFC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="nmfc",
        name="Non-negative matrix factorization consensus",
        family="factorization",
        cite="li2007",
        missing="disagree",
        deterministic=False,
        soft=True,
        time="n' m K per update",
        memory="n' (m + K) + L²",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_partitions + 96 * s.n_clusters) + 24 * s.n_base_clusters**2
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "partition_weights": [StrOptions({"equal", "learned", "agreement"}), "array-like"],
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
        "init": [StrOptions({"k-means", "random"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        partition_weights: Any = "equal",
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-3,
        init: str = "k-means",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partition_weights = partition_weights
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        # scale the weights to a mean near 1, so that _TINY is negligible; a power of two is exact
        unit = 2.0 ** np.round(np.log2(ensemble.weights.mean()))
        ensemble = replace(ensemble, weights=ensemble.weights / unit)
        problem = _Problem.of(ensemble)
        order, weights = ensemble.partition_order, self.partition_weights
        fixed = None if isinstance(weights, str) and weights != "agreement" else weights
        weights = column_weights(fixed, EnsembleRows(ensemble), order)
        best = self._best_fit(
            problem, weights, lambda child: self._initialize(ensemble, weights, child), rng
        )
        return self._solution(best, order, unit, ensemble.expand(best.membership, np.nan))

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        weights = self.partition_weights
        if isinstance(weights, str) and weights == "agreement":
            raise NotSupportedError(
                'partition_weights="agreement" is not defined for soft partitions. Pass "equal", '
                '"learned" or numbers.'
            )
        fixed = None if isinstance(weights, str) else weights
        weights = check_weights(fixed, soft.n_partitions, "partition_weights")
        unit = 2.0 ** np.round(np.log2(soft.weights.mean()))
        soft = replace(soft, weights=soft.weights / unit)
        problem = _Problem(soft.memberships, soft.weights, soft.offsets, soft_overlaps(soft))
        K = self.n_clusters

        def initialize(child: np.random.Generator) -> NDArray[np.float64]:
            if self.init == "random":
                return child.uniform(size=(soft.n_rows, K))
            points = soft.memberships * np.sqrt(np.repeat(weights, np.diff(soft.offsets)))
            groups, _ = weighted_kmeans(points, soft.weights, K, child, n_init=1)
            return np.eye(K)[groups] + 0.2

        best = self._best_fit(problem, weights, initialize, rng)
        order = np.arange(soft.n_partitions)
        return self._solution(best, order, unit, soft.expand(best.membership))

    def _best_fit(
        self,
        problem: _Problem,
        weights: NDArray[np.float64],
        initialize: Callable[[np.random.Generator], NDArray[np.float64]],
        rng: np.random.Generator,
    ) -> _Fit:
        """Factorize from `n_init` initializations and return the best, with learned weights."""
        w = weights / weights.sum()
        fits = []
        for restart, child in enumerate(rng.spawn(self.n_init)):
            report_progress("NMFC", restart, self.n_init)
            Q = initialize(child)
            Q /= np.sqrt(problem.r @ Q**2)
            D = problem.through_clusters(Q, w)[1].diagonal()
            fits.append(self._factorize(problem, _Fit(Q, D, w)))
        report_progress("NMFC", self.n_init, self.n_init)
        best = max(fits, key=lambda fit: (len(np.unique(fit.labels)), -fit.history[-1]))
        if isinstance(self.partition_weights, str) and self.partition_weights == "learned":
            best = self._learn_weights(problem, best)
        if not best.converged:
            warn_user(
                f"NMFC stopped after max_iter={self.max_iter} updates while Q still changed by "
                f"more than tol={self.tol:g}. Raise one of them.",
                ConvergenceWarning,
            )
        return best

    def _solution(
        self,
        best: _Fit,
        order: NDArray[np.int64],
        unit: float,
        membership: NDArray[np.float64],
    ) -> Solution:
        return Solution(
            best.labels,
            objective=best.history[-1] * unit**2,
            n_iter=len(best.history),
            converged=best.converged,
            history=np.asarray(best.history) * unit**2,
            learned={
                "partition_weights_": weights_of_partitions(best.w, order),
                "membership_": membership,
            },
        )

    def _initialize(
        self, ensemble: Ensemble, weights: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the initial Q, with `weights` for the columns of the ensemble."""
        shape = (ensemble.n_rows, self.n_clusters)
        if self.init == "random":
            return rng.uniform(size=shape)
        rows = EnsembleRows(ensemble)
        work = kmeans_work(rows, self.n_clusters, n_init=1)
        geometry = UtilityGeometry(rows, "c", weights, work=work)
        seeds = draw_seeds(rows, geometry, self.n_clusters, "k-means++", rng.spawn(1)[0])
        start = seed_statistics(rows, geometry, rows.take(seeds))
        clusters = label_kmeans(rows, geometry, self.n_clusters, lambda _: start, n_init=1).labels
        return np.eye(self.n_clusters)[clusters] + 0.2

    def _factorize(self, problem: _Problem, start: _Fit) -> _Fit:
        """Update Q and D until Q changes by at most `tol`."""
        Q, D, w, r = start.Q, start.D, start.w, problem.r
        history: list[float] = []
        converged = False
        AQ, QAQ = problem.through_clusters(Q, w)
        while not converged and len(history) < self.max_iter:
            new = Q * np.sqrt(AQ * D / (Q @ (QAQ * D) + _TINY))
            change = float(r @ ((new - Q) ** 2).sum(axis=1)) / float(r @ (Q**2).sum(axis=1))
            Q = new
            AQ, QAQ = problem.through_clusters(Q, w)
            S = Q.T @ (r[:, None] * Q)
            D = D * np.sqrt(QAQ.diagonal() / ((S * D) @ S + _TINY).diagonal())
            history.append(problem.objective(Q, D, w))
            converged = change <= self.tol**2
        return _Fit(Q, D, w, [*start.history, *history], converged)

    def _learn_weights(self, problem: _Problem, fit: _Fit) -> _Fit:
        """Alternate between the weights and the factors."""
        for _ in range(_ROUNDS):
            previous = fit.w
            fit = replace(fit, w=problem.nearest_weights(fit.Q, fit.D))
            fit = self._factorize(problem, fit)
            if np.abs(fit.w - previous).max() < _WEIGHT_TOL:
                break
        return fit


@dataclass(frozen=True)
class _Fit:
    """Factors Q and D, weights w, and the objective after every update."""

    Q: NDArray[np.float64]
    D: NDArray[np.float64]
    w: NDArray[np.float64]
    history: list[float] = field(default_factory=list)
    converged: bool = False

    @property
    def membership(self) -> NDArray[np.float64]:
        return self.Q * np.sqrt(self.D)

    @property
    def labels(self) -> NDArray[np.int64]:
        return np.argmax(self.membership, axis=1)


class _Problem:
    """Products with A = Σ_i w_i M^(i) on weighted rows, and the optimal weights."""

    def __init__(
        self,
        B: Any,
        weights: NDArray[np.float64],
        offsets: NDArray[np.int64],
        overlaps: NDArray[np.float64],
    ) -> None:
        self.m = len(offsets) - 1
        self.r = weights
        self.B = B
        self.Bt = B.T.tocsr() if sp.issparse(B) else B.T
        self.offsets = offsets
        # G_ij = tr(M^(i) M^(j)) = Σ |c ∩ c'|² over the clusters of i and of j
        squares = np.square(overlaps)
        by_row = np.add.reduceat(squares, self.offsets[:-1], axis=0)
        self.G = np.add.reduceat(by_row, self.offsets[:-1], axis=1)

    @classmethod
    def of(cls, ensemble: Ensemble) -> _Problem:
        """Return the problem of labels."""
        B, overlaps = incidence(ensemble), cluster_overlaps(ensemble)
        return cls(B, ensemble.weights, ensemble.offsets, overlaps)

    def _on_clusters(self, Q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Bᵀ diag(r) Q."""
        return np.asarray(self.Bt @ (self.r[:, None] * Q))

    def through_clusters(
        self, Q: NDArray[np.float64], w: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A diag(r) Q and Qᵀ diag(r) A diag(r) Q."""
        T = self._on_clusters(Q)
        weighted = np.repeat(w, np.diff(self.offsets))[:, None] * T
        return np.asarray(self.B @ weighted), T.T @ weighted

    def _products(self, Q: NDArray[np.float64], D: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g_i = tr(M^(i) Q D Qᵀ) = ‖B_iᵀ Q D^½‖²."""
        return np.add.reduceat(self._on_clusters(Q) ** 2 @ D, self.offsets[:-1])

    def objective(
        self, Q: NDArray[np.float64], D: NDArray[np.float64], w: NDArray[np.float64]
    ) -> float:
        S = Q.T @ (self.r[:, None] * Q)
        own = np.trace((S * D) @ (S * D))
        return float(w @ self.G @ w - 2.0 * (w @ self._products(Q, D)) + own)

    def nearest_weights(
        self, Q: NDArray[np.float64], D: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the weights for which A is nearest to Q D Qᵀ."""
        return simplex_quadratic(self.G, self._products(Q, D))
