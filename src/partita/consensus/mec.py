"""MEC: a low-rank matrix behind the co-association matrices of several views."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_not_converged, warn_user
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    Interval,
    StrOptions,
)
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices.partition_views import GroupCoassociations, SoftGroupCoassociations
from partita.solvers import spectral_embedding, weighted_kmeans
from partita.solvers.low_rank import low_rank_affinity
from partita.solvers.shared_low_rank import SharedMatrix, fit_low_rank
from partita.solvers.view_errors import ERROR_NORMS, ViewErrors

__all__ = ["MEC"]

_LAM = 0.1  # in the range 0.01 to 0.3 that users of the method try
_LARGEST_PENALTY = 1e10

Matrix = NDArray[np.float64]


class MEC(LearnedMatrixConsensus):
    """Multi-view ensemble clustering.

    The partitions come in groups, one group per view of the samples, and S_v is the co-association
    matrix of view v. All views are one shared matrix of low rank plus errors of their own,

        min ‖Z‖_* + lam Σ_v ‖E_v‖ + beta tr(Hᵀ L_Z H)  subject to  S_v = Z + E_v,  HᵀH = I,

    where the last term, if `beta` is positive, draws samples together that spectral clustering of Z
    puts into one cluster. Labels come from the low-rank affinity of Z by spectral clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    groups : array-like of shape (n_partitions,) or None, default=None
        View of each partition, any labels. None: every partition is a view of its own.
    lam : float or None, default=None
        Weight of the errors. A cluster of c samples on which all V views agree is part of Z only if
        lam V √c > 1 for the norm "l21", or lam V c > 1 for "l1"; otherwise it is treated as error.
        None means 0.1, or twice the value at which a cluster of the mean size is kept if that is
        larger. A warning says so if the rank of Z is below the number of clusters.
    error_norm : {"l21", "l1"}, default="l21"
        Norm of the errors: the sum of the lengths of columns, for samples that a view places
        wrongly, or the sum of absolute entries, for single pairs.
    beta : float, default=0.0
        Weight of the spectral term. 0 leaves it out.
    mu : float, default=0.001
        Initial penalty of the augmented Lagrangian.
    growth : float, default=1.5
        Factor of the penalty from one iteration to the next.
    n_init : int, default=20
        Restarts of the final k-means; the smallest inertia wins.
    max_iter : int, default=300
        Largest number of iterations.
    tol : float, default=1e-06
        The iteration stops when no entry of S_v - Z - E_v exceeds `tol`.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        Z over distinct rows, not symmetric if `error_norm="l21"`. `consensus_matrix()` has a row
        per sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    view_errors_ : array of shape (n_views,)
        ‖S_v - Z‖: how far each view is from the shared matrix, in the order of the sorted labels in
        `groups`.
    lam_ : float
        The weight of the errors that was used.
    objective_ : float
        Value of the objective above at Z.
    history_ : array of shape (n_iter_,)
        Largest absolute entry of S_v - Z - E_v after every iteration.

    Notes
    -----
    Cost O(m n'² + n'³) per iteration for m partitions and n' distinct rows; 20 to 50 iterations.
    Memory: one n' x n' array per view and about seven more. The solution is that of the full n x n
    problem.

    Missing labels: an entry of S_v is the share of the partitions of the view that label both
    samples. The errors are free where there are none.

    The spectral term: H has the leading eigenvectors of the normalized (|Z| + |Zᵀ|)/2, once Z has
    rank `n_clusters`, and tr(Hᵀ L_Z H) = Σ_pq Z_pq ‖h_p - h_q‖²/2 with H fixed. H is not the best
    one for this sum, so that no objective is promised to fall.

    Soft partitions: the views are expected co-association matrices.

    Deviations from the published program of the core: the mean over views does not keep values of
    previous iterations, the threshold of the singular values is 1/(V mu), and E_v starts at 0
    instead of at random.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Z. Ding, Y. Fu. From ensemble clustering to multi-view clustering. IJCAI
    2017, 2843-2849. https://doi.org/10.24963/ijcai.2017/396

    Examples
    --------
    >>> from partita import MEC
    >>> partitions = [[0, 0, 0, 1, 1], [2, 2, 2, 4, 4], [0, 0, 0, 1, 1], [5, 5, 7, 7, 7]]
    >>> MEC(n_clusters=2, random_state=0).fit_predict(partitions)
    array([0, 0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mec",
        name="Multi-view ensemble clustering",
        family="learned matrix",
        cite="tao2017",
        missing="pairwise",
        deterministic=False,
        soft=True,
        time="m n'² + n'³ an iteration",
        memory="m n'²",
        bytes_needed=lambda s: 8 * (s.n_partitions + 7) * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "groups": ["array-like", None],
        "lam": [*POSITIVE, None],
        "error_norm": [StrOptions(set(ERROR_NORMS))],
        "beta": NON_NEGATIVE,
        "mu": POSITIVE,
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
        groups: Any = None,
        lam: float | None = None,
        error_norm: str = "l21",
        beta: float = 0.0,
        mu: float = 1e-3,
        growth: float = 1.5,
        n_init: int = 20,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.groups = groups
        self.lam = lam
        self.error_norm = error_norm
        self.beta = beta
        self.mu = mu
        self.growth = growth
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        n_views = size.n_partitions if self.groups is None else len(np.unique(self.groups))
        return 8 * (n_views + 7) * size.n_rows**2

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        groups = self._view_of_columns(ensemble.partition_order)
        return self._fuse(GroupCoassociations(ensemble, groups), ensemble.weights, rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        groups = self._view_of_columns(np.arange(soft.n_partitions))
        return self._fuse(SoftGroupCoassociations(soft, groups), soft.weights, rng)

    def _fuse(
        self, views: Sequence[Matrix], r: NDArray[np.float64], rng: np.random.Generator
    ) -> Solution:
        lam = self._error_weight(len(views), float(r.sum()))
        result = fit_low_rank(
            ViewErrors(views, r, lam, self.error_norm, _largest_entry),
            mu=self.mu,
            growth=self.growth,
            largest_mu=_LARGEST_PENALTY,
            max_iter=self.max_iter,
            tol=self.tol,
            task="MEC",
            symmetric=self.error_norm == "l1",
            slope=self._spectral_slope(r) if self.beta else None,
        )
        Z = result.matrix
        self._warn(lam, result)
        objective = result.nuclear_norm + lam * float(result.errors.sum())
        if self.beta:
            objective += float(r @ (Z * self._spectral_slope(r)(Z, result.rank)) @ r)
        return Solution(
            self._assign(Z, r, rng),
            objective=objective,
            n_iter=len(result.history),
            converged=result.converged,
            history=result.history,
            matrix=Z,
            learned={"view_errors_": result.errors, "lam_": lam},
        )

    def _view_of_columns(self, partition_order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the view of every column, from its place in the input."""
        m = len(partition_order)
        if self.groups is None:
            return partition_order
        groups = np.asarray(self.groups)
        if groups.shape != (m,):
            raise ValueError(
                f"groups must have one entry for each of the {m} partitions, got an array of shape "
                f"{groups.shape}."
            )
        numbers: NDArray[np.int64] = np.unique(groups, return_inverse=True)[1].reshape(-1)
        return numbers[partition_order]

    def _spectral_slope(self, weights: NDArray[np.float64]) -> Any:
        """Return the gradient of the spectral term, a function of Z and its rank."""

        def slope(Z: Matrix, rank: int) -> Matrix:
            if rank < self.n_clusters:  # eigenvectors would be arbitrary
                return np.zeros_like(Z)
            A = np.abs(Z)
            A += A.T.copy()
            A /= 2.0
            _, H = spectral_embedding(A, weights, self.n_clusters)
            squares = np.einsum("ak,ak->a", H, H)
            distance = squares[:, None] + squares - 2.0 * (H @ H.T)
            return (self.beta / 2.0) * np.maximum(distance, 0.0)

        return slope

    def _assign(
        self, Z: Matrix, weights: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        root = np.sqrt(weights)
        affinity = low_rank_affinity(Z * np.outer(root, root), symmetric=self.error_norm == "l1")
        degree = affinity @ weights
        _, vectors = spectral_embedding(affinity, weights, self.n_clusters)
        rows = vectors / np.sqrt(degree)[:, None]
        labels, _ = weighted_kmeans(rows, weights, self.n_clusters, rng, n_init=self.n_init)
        return labels

    def _error_weight(self, n_views: int, n_samples: float) -> float:
        """Return `lam`, or its value for a problem of this size."""
        if self.lam is not None:
            return self.lam
        mean_size = n_samples / self.n_clusters
        return max(_LAM, 2.0 / (n_views * mean_size ** (1.0 if self.error_norm == "l1" else 0.5)))

    def _warn(self, lam: float, result: SharedMatrix) -> None:
        if result.rank < self.n_clusters:
            warn_user(
                f"The matrix that MEC learned with lam={lam:.3g} has rank {result.rank}, below "
                f"n_clusters={self.n_clusters}: too much of the views is treated as error. Raise "
                "lam."
            )
        if not result.converged:
            warn_not_converged(
                "MEC",
                self.max_iter,
                f"with entries of S - Z - E up to {result.history[-1]:.1e}, above "
                f"tol={self.tol:g}. Raise max_iter or growth, or tol if that is close enough.",
            )


def _largest_entry(matrix: Matrix) -> float:
    return float(np.abs(matrix).max())
