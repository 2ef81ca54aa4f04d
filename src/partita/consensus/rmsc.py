"""RMSC: a low-rank transition matrix behind the random walks of all partitions."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_not_converged
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
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices.partition_views import PartitionTransitions, SoftTransitions
from partita.solvers import weighted_kmeans
from partita.solvers.shared_transitions import fit_transitions, walk_embedding
from partita.solvers.spectral import normalize_rows

__all__ = ["RMSC"]

_LAM = 0.005  # smallest value that the authors try


class RMSC(LearnedMatrixConsensus):
    """Robust multi-view spectral clustering of partitions.

    Partition i defines a random walk that goes from a sample to any sample of its cluster with
    equal probability. Its transition matrix T_i is that of one shared walk, which has low rank,
    plus sparse errors,

        min ‖P‖_* + lam Σ_i ‖E_i‖₁  subject to  T_i = P + E_i,  P >= 0,  P 1 = 1.

    Labels come from spectral clustering of the shared walk: with its stationary distribution π and
    Π = diag(π), from the leading eigenvectors of (Π^½ P Π^-½ + Π^-½ Pᵀ Π^½)/2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float or None, default=None
        Weight of the errors. The method's authors try 0.005 to 1. None means the larger of 0.005
        and 2 n_clusters/(m n) for m partitions of n samples: with much less, clusters of the mean
        size dissolve into one.
    mu : float, default=0.001
        Initial penalty of the augmented Lagrangian.
    growth : float, default=1.9
        Factor of the penalty from one iteration to the next. With 1.9, as published, the iteration
        stops 2 to 13 per cent above the smallest objective; 1.1 comes within 0.1 per cent of it in
        six times as many iterations.
    n_init : int, default=20
        Restarts of the final k-means; the smallest inertia wins.
    max_iter : int, default=300
        Largest number of iterations.
    tol : float, default=1e-06
        The iteration stops when, in all rows of P + E_i - T_i and of P - Q, the absolute entries
        sum to less than `tol`. Q is the low-rank copy of P.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        P over distinct rows: entry (a, b) is the probability of a step from a sample of row a to
        each sample of row b. `consensus_matrix()` has a row per sample, and its rows sum to 1.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    partition_errors_ : array of shape (n_partitions,)
        ‖T_i - P‖₁: how far each partition is from the shared walk.
    lam_ : float
        The weight of the errors that was used.
    objective_ : float
        Value of the objective above at P.
    history_ : array of shape (n_iter_,)
        Largest sum of absolute residuals in a row after every iteration.

    Notes
    -----
    Cost O(m n'² + n'³) per iteration for m partitions and n' distinct rows; about 30 iterations.
    Memory: one n' x n' array per partition and about eight more. The solution is that of the full
    n x n problem.

    The entries of T_i are about K/n, so that the nuclear norm matters less the more samples and
    partitions there are: P is then close to the median of the T_i.

    Missing labels: a partition has no opinion on pairs that it does not label both. The errors are
    free there.

    Soft partitions: from a sample the walk chooses a cluster by membership, then a sample of it by
    membership.

    Deviations from the published program: `lam` is larger in small problems, E_i starts at 0
    instead of at random, the iteration also waits for P - Q, and π is the distribution of a walk
    from a random sample, which is unique even if P falls into separate parts.

    References
    ----------
    R. Xia, Y. Pan, L. Du, J. Yin. Robust multi-view spectral clustering via low-rank and sparse
    decomposition. AAAI 2014, 2149-2155. https://doi.org/10.1609/aaai.v28i1.8950

    Examples
    --------
    >>> from partita import RMSC
    >>> RMSC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rmsc",
        name="Robust multi-view spectral clustering",
        family="learned matrix",
        cite="xia2014",
        missing="pairwise",
        deterministic=False,
        soft=True,
        time="m n'² + n'³ an iteration",
        memory="m n'²",
        bytes_needed=lambda s: 8 * (s.n_partitions + 8) * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "lam": [*POSITIVE, None],
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
        lam: float | None = None,
        mu: float = 1e-3,
        growth: float = 1.9,
        n_init: int = 20,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.mu = mu
        self.growth = growth
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        order = ensemble.partition_order
        return self._fuse(PartitionTransitions(ensemble), ensemble.weights, order, rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        order = np.arange(soft.n_partitions)
        return self._fuse(SoftTransitions(soft), soft.weights, order, rng)

    def _fuse(
        self,
        transitions: Sequence[NDArray[np.float64]],
        r: NDArray[np.float64],
        partition_order: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Solution:
        smallest = 2.0 * self.n_clusters / (len(transitions) * float(r.sum()))
        lam = max(_LAM, smallest) if self.lam is None else self.lam
        walk = fit_transitions(
            transitions,
            r,
            lam=lam,
            mu=self.mu,
            growth=self.growth,
            max_iter=self.max_iter,
            tol=self.tol,
            task="RMSC",
        )
        if not walk.converged:
            warn_not_converged(
                "RMSC",
                self.max_iter,
                f"with residuals up to {walk.history[-1]:.1e}, above tol={self.tol:g}. Raise "
                "max_iter or growth, or tol if that is close enough.",
            )
        rows = normalize_rows(walk_embedding(walk.matrix, r, self.n_clusters))
        labels, _ = weighted_kmeans(rows, r, self.n_clusters, rng, n_init=self.n_init)
        errors = np.empty(len(transitions))
        errors[partition_order] = walk.errors  # in the order of the input
        return Solution(
            labels,
            objective=walk.nuclear_norm + lam * float(walk.errors.sum()),
            n_iter=len(walk.history),
            converged=walk.converged,
            history=walk.history,
            matrix=walk.matrix,
            learned={"partition_errors_": errors, "lam_": lam},
        )
