"""GWCA: a weighted mean of the connective matrices, with weights learned by divergences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.consensus._linkage import linkage_solution
from partita.consensus.base import BaseConsensus, MethodInfo, Size, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    POSITIVE,
    Interval,
    StrOptions,
)
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import NotSupportedError
from partita.matrices import cluster_overlaps, incidence
from partita.matrices.soft import soft_overlaps
from partita.solvers import spectral_clustering
from partita.solvers.simplex import project_to_simplex
from partita.solvers.spectral import Factored

__all__ = ["GWCA"]

_CELLS = 1 << 19  # entries of a block of rows of the consensus matrix
_EQUAL = 1e-12  # divergences that differ by less are equal
_LAM = 10.0  # default of lam, as a multiple of the range of the divergences

Array = NDArray[np.float64]


class GWCA(BaseConsensus):
    """Generalized weighted cluster aggregation.

    The consensus matrix A is near to the connective matrices M⁽ⁱ⁾ (1 where partition i joins a
    pair, 0 where it separates it) in a Bregman divergence, and partitions that are far from it get
    less weight,

        min Σ_i w_i d_i + λ ‖w‖²,  d_i = Σ_pq D(M⁽ⁱ⁾_pq ‖ A_pq) / n²,  w >= 0, Σ_i w_i = 1.

    For given weights the best A is Σ_i w_i M⁽ⁱ⁾, whatever the divergence. For given A the best
    weights are the projection of -d / (2λ) to the simplex. The two steps alternate, and labels come
    from A.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    divergence : {"euclidean", "kl", "itakura-saito", "logistic"}, default="euclidean"
        D(x ‖ y): (x - y)²; x ln(x/y) - x + y; x/y - ln(x/y) - 1; or
        x ln(x/y) + (1 - x) ln((1 - x)/(1 - y)).
    lam : float, optional
        λ, the weight of ‖w‖²: a large value gives equal weights, a small one all weight to one
        partition. By default ten times the range of the d_i at equal weights.
    delta : float, default=0.001
        For all divergences but "euclidean", the entries 0 and 1 become delta and 1 - delta, so that
        the logarithms are finite.
    assign_labels : {"average", "spectral"}, default="average"
        How labels are assigned: by average linkage of 1 - A, or by normalized spectral clustering
        of A with k-means from a fixed seed. The latter forms no n' x n' matrix if no label is
        missing.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-8
        The iteration stops when no weight changes by more.

    Attributes
    ----------
    partition_weights_ : array of shape (n_partitions,)
        w_i. Look at them: if few are positive, few partitions made the result.
    divergences_ : array of shape (n_partitions,)
        d_i at the final A.
    lam_ : float
        The λ that was used; 0 if it follows from the data and all d_i are equal.
    objective_ : float
        The objective above.
    history_ : array of shape (n_iter_ + 1,)
        The objective with equal weights and after each iteration; it never increases.
    tree_ : Tree
        Merges of distinct rows and their heights (`assign_labels="average"` only).

    Notes
    -----
    Cost for "euclidean" O(n' m²) once and O(m²) per iteration, since
    n² d_i = G_ii - 2 (G w)_i + wᵀ G w with the squared overlaps G_ij = tr(M⁽ⁱ⁾ M⁽ʲ⁾). With missing
    labels, and for the other divergences, O(n'² m) per iteration on some rows of A at a time.
    Average linkage needs 8 n'² bytes; without it memory is O(n' m + L²).

    Missing labels: d_i is the sum over the pairs that partition i labels, and A_pq the weighted
    mean over the partitions that label both samples, which is the best A for these d_i. A pair that
    no partition labels has A_pq = 0. A partition with few labels has a small d_i and so no small
    weight, but the weight counts only where it has labels.

    Deviations: the text of the paper was not at hand. The order of the arguments of D and ‖w‖² as
    the penalty of the weights follow a description of it. The default of `lam` is ours: with a
    small value the weights collapse to a single partition, the one nearest to all others.

    Soft partitions: the matrices are P⁽ⁱ⁾ P⁽ⁱ⁾ᵀ; only the Euclidean divergence, and no missing
    rows.

    References
    ----------
    F. Wang, X. Wang, T. Li. Generalized cluster aggregation. IJCAI 2009, 1279-1284.

    Examples
    --------
    >>> from partita import GWCA
    >>> partitions = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]
    >>> method = GWCA(n_clusters=2).fit(partitions)
    >>> method.labels_
    array([0, 0, 1, 1])
    >>> method.partition_weights_.round(3)
    array([0.354, 0.354, 0.292])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gwca",
        name="Generalized weighted cluster aggregation",
        family="linkage",
        cite="wang2009",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n' m² + n'² m",
        memory="n'²",
        bytes_needed=lambda s: 8 * s.n_rows**2 + _linear_bytes(s),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "divergence": [StrOptions({"euclidean", "kl", "itakura-saito", "logistic"})],
        "lam": [*POSITIVE, None],
        "delta": [Interval(Real, 0, 0.5, closed="neither")],
        "assign_labels": [StrOptions({"average", "spectral"})],
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        divergence: str = "euclidean",
        lam: float | None = None,
        delta: float = 1e-3,
        assign_labels: str = "average",
        max_iter: int = 200,
        tol: float = 1e-8,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.lam = lam
        self.delta = delta
        self.assign_labels = assign_labels
        self.max_iter = max_iter
        self.tol = tol

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        if self.assign_labels == "average":
            return self.info.bytes_needed(size)
        return _linear_bytes(size) + 32 * size.n_rows * size.n_clusters

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        pairs, m = _Pairs(ensemble), ensemble.n_partitions
        if self.divergence != "euclidean":
            measure = _SMOOTHED[self.divergence](self.delta)
            weights = self._learn(m, lambda w: pairs.divergences(w, measure))
        elif ensemble.n_missing:
            weights = self._learn(m, lambda w: pairs.divergences(w, _EUCLIDEAN))
        else:
            G = _squared_overlaps(cluster_overlaps(ensemble), ensemble.offsets) / pairs.total**2
            weights = self._learn(m, lambda w: np.diag(G) - 2.0 * (G @ w) + w @ G @ w)
        labels, learned = self._assign(ensemble, pairs, weights.w, rng)
        return self._solution(labels, weights, learned, ensemble.partition_order)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        if self.divergence != "euclidean":
            raise NotSupportedError(
                f"GWCA with divergence={self.divergence!r} is not defined for soft partitions. "
                'Pass divergence="euclidean".'
            )
        if soft.n_missing:
            raise NotSupportedError(
                f"GWCA is not defined for soft partitions with missing rows, and {soft.n_missing} "
                "are missing. EAC, LWGP, HBGF and KC accept them."
            )
        m, r = soft.n_partitions, soft.weights
        G = _squared_overlaps(soft_overlaps(soft), soft.offsets) / float(r.sum()) ** 2
        weights = self._learn(m, lambda w: np.diag(G) - 2.0 * (G @ w) + w @ G @ w)
        factor = soft.memberships * np.sqrt(np.repeat(weights.w, np.diff(soft.offsets)))
        if self.assign_labels == "average":
            tree = linkage_solution(factor @ factor.T, r, self.n_clusters)
            return self._solution(tree.labels, weights, dict(tree.learned), np.arange(m))
        labels = spectral_clustering(Factored(factor), r, self.n_clusters, rng)
        return self._solution(labels, weights, {}, np.arange(m))

    def _solution(
        self,
        labels: NDArray[np.int64],
        weights: _Weights,
        learned: dict[str, Any],
        partition_order: NDArray[np.int64],
    ) -> Solution:
        if not weights.converged:
            warn_not_converged(
                "GWCA", self.max_iter, f"while a weight changed by more than tol={self.tol:g}."
            )
        for name, values in (("partition_weights_", weights.w), ("divergences_", weights.d)):
            learned[name] = np.empty(len(values))
            learned[name][partition_order] = values
        return Solution(
            labels,
            objective=weights.history[-1],
            n_iter=len(weights.history) - 1,
            converged=weights.converged,
            history=np.asarray(weights.history),
            learned={**learned, "lam_": weights.lam},
        )

    def _learn(self, n_partitions: int, divergences: Callable[[Array], Array]) -> _Weights:
        """Alternate between A, which the divergences contain, and the weights."""
        w = np.full(n_partitions, 1.0 / n_partitions)
        d = divergences(w)
        spread = float(np.ptp(d))
        if self.lam is None and spread <= _EQUAL:
            return _Weights(w, d, 0.0, [float(w @ d)] * 2, converged=True)
        lam = _LAM * spread if self.lam is None else float(self.lam)
        history = [float(w @ d + lam * (w @ w))]
        converged = False
        while not converged and len(history) <= self.max_iter:
            report_progress("GWCA", len(history), self.max_iter)
            previous, w = w, project_to_simplex(-d / (2.0 * lam))
            d = divergences(w)
            history.append(float(w @ d + lam * (w @ w)))
            converged = bool(np.abs(w - previous).max() <= self.tol)
        return _Weights(w, d, lam, history, converged)

    def _assign(
        self, ensemble: Ensemble, pairs: _Pairs, w: Array, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Return labels from the consensus matrix of the weights, and the tree of linkage."""
        r, k = ensemble.weights, self.n_clusters
        if self.assign_labels == "average":
            solution = linkage_solution(pairs.consensus(w), r, k)
            return solution.labels, dict(solution.learned)
        if ensemble.n_missing:
            n = ensemble.n_rows
            require_memory(16 * n**2, f"The {n} x {n} consensus matrix, as labels are missing,")
            return spectral_clustering(pairs.consensus(w), r, k, rng), {}
        roots = np.sqrt(w)[pairs.partition_of]
        return spectral_clustering(Factored(incidence(ensemble, roots)), r, k, rng), {}


@dataclass(frozen=True)
class _Weights:
    """Weights w, divergences d at their consensus matrix, and the objective of every iteration."""

    w: Array
    d: Array
    lam: float
    history: list[float]
    converged: bool


@dataclass(frozen=True)
class _Measure:
    """A divergence of two values from a consensus in [low, high], as functions of the latter."""

    low: float
    high: float
    divergence: Callable[[float, Array], Array]


_EUCLIDEAN = _Measure(0.0, 1.0, lambda x, y: np.square(x - y))


def _kl(x: float, y: Array) -> Array:
    return x * np.log(x / y) - x + y


def _itakura_saito(x: float, y: Array) -> Array:
    return x / y - np.log(x / y) - 1.0


def _logistic(x: float, y: Array) -> Array:
    return x * np.log(x / y) + (1.0 - x) * np.log((1.0 - x) / (1.0 - y))


_SMOOTHED: dict[str, Callable[[float], _Measure]] = {
    "kl": lambda delta: _Measure(delta, 1.0 - delta, _kl),
    "itakura-saito": lambda delta: _Measure(delta, 1.0 - delta, _itakura_saito),
    "logistic": lambda delta: _Measure(delta, 1.0 - delta, _logistic),
}


class _Pairs:
    """The consensus matrix of weighted partitions, some rows at a time."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.r = ensemble.weights
        self.total = float(self.r.sum())
        self.B = incidence(ensemble)
        self.Bt = self.B.T.tocsr()
        self.rBt = self.Bt.copy()  # diag(r) B, transposed
        self.rBt.data *= self.r[self.rBt.indices]
        self.partition_of = np.repeat(np.arange(ensemble.n_partitions), ensemble.n_clusters)
        self.observed = ensemble.observed.astype(np.float64) if ensemble.n_missing else None

    def blocks(self, w: Array) -> Iterator[tuple[slice, Array]]:
        """Yield rows of A, the weighted share of the partitions that label both samples."""
        n, length = self.B.shape
        step = max(1, _CELLS // max(n, length))
        weighted = self.B.copy()
        weighted.data = w[self.partition_of[weighted.indices]]
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            A = (weighted[rows] @ self.Bt).toarray()
            if self.observed is not None:
                both = (self.observed[rows] * w) @ self.observed.T
                np.divide(A, both, out=A, where=both > 0)
            yield rows, np.minimum(A, 1.0, out=A)

    def consensus(self, w: Array) -> Array:
        """Return A."""
        matrix = np.empty((len(self.r), len(self.r)))
        for rows, A in self.blocks(w):
            matrix[rows] = A
        return matrix

    def divergences(self, w: Array, measure: _Measure) -> Array:
        """Return d_i: D(low ‖ A) over all pairs, and the difference to D(high ‖ A) if joined."""
        low, high = measure.low, measure.high
        sums = np.zeros(len(w))
        for rows, A in self.blocks(w):
            A *= high - low
            A += low
            separated = measure.divergence(low, A)
            difference = measure.divergence(high, A) - separated
            joined = self.B[rows].multiply((self.rBt @ difference.T).T)
            by_cluster = np.asarray(joined.T @ self.r[rows]).ravel()
            sums += np.bincount(self.partition_of, by_cluster, minlength=len(w))
            if self.observed is None:
                sums += float(self.r[rows] @ separated @ self.r)
            else:
                weights = self.observed * self.r[:, None]
                sums += ((separated @ weights) * weights[rows]).sum(axis=0)
        return sums / self.total**2


def _squared_overlaps(overlaps: Array, offsets: NDArray[np.int64]) -> Array:
    """Return G_ij = tr(M⁽ⁱ⁾ M⁽ʲ⁾) = Σ |c ∩ c'|² over the clusters of i and of j."""
    by_row = np.add.reduceat(np.square(overlaps), offsets[:-1], axis=0)
    return np.asarray(np.add.reduceat(by_row, offsets[:-1], axis=1))


def _linear_bytes(size: Size) -> int:
    """Return the bytes of incidences, of a block of rows, and of the overlaps of clusters."""
    block = min(size.n_rows * max(size.n_rows, size.n_base_clusters), _CELLS)
    incidences = 60 * size.n_rows * size.n_partitions
    return incidences + 64 * block + 24 * size.n_base_clusters**2
