"""DREC: spectral clustering of a dense representation of micro-clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, N_INIT, POSITIVE, RANDOM_STATE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import incidence
from partita.solvers.low_rank import low_rank_affinity
from partita.solvers.spectral import spectral_clustering

__all__ = ["DREC"]


class DREC(LearnedMatrixConsensus):
    """Dense representation ensemble clustering.

    Samples with equal labels form a micro-cluster, described by its row of the incidence table. The
    matrix X has a column per micro-cluster and a row per base cluster. Every column is represented
    as a combination of all columns,

        min_Z ‖X - X Z‖_2,1 + lam ‖Z‖²_F,

    where the sum of column lengths tolerates single micro-clusters that do not fit. Z is then
    treated as a low-rank representation: the fourth power of the cosine between rows of its
    principal directions is an affinity, which is cut by spectral clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=10.0
        Weight of ‖Z‖². The paper tries 1e-3 to 1e3 and keeps the best value according to the true
        classes. Below 1 every micro-cluster is represented by little but itself, and the labels are
        not robust; 10 to 1000 find planted partitions that 1 misses. Few partitions may need more
        than 10: nine spectral partitions of the text tr41 give one giant cluster at 10 and an NMI
        of 0.59 at 100.
    max_iter : int, default=5
        Rounds of reweighted least squares, all of which are run; the published program always runs
        5.
    n_init : int, default=100
        Restarts of the final k-means; the smallest inertia wins.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        Z, not symmetric. `consensus_matrix()` repeats its entries for the samples.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    history_ : array of shape (max_iter,)
        The objective after every round; it never increases.
    objective_ : float
        Its last value.

    Notes
    -----
    Cost O(n'² r + r³) for n' micro-clusters, L base clusters and r = min(n', L), then O(n' r) per
    round; about 16 n'² + 40 n' r bytes. As in the paper, every micro-cluster counts as one.

    Missing labels: a micro-cluster belongs to no cluster of a partition that does not label it.

    Soft partitions: X is the table of memberships.

    Deviations from the paper: one eigendecomposition of XᵀX, computed from the smaller side of X,
    solves the equations of all rounds, where the program calls a Sylvester solver in each. As in
    the program, there is no test for convergence.

    References
    ----------
    J. Zhou, H. Zheng, L. Pan. Ensemble clustering based on dense representation. Neurocomputing
    357, 2019. https://doi.org/10.1016/j.neucom.2019.04.078

    Examples
    --------
    >>> from partita import DREC
    >>> DREC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="drec",
        name="Dense representation ensemble clustering",
        family="learned matrix",
        cite="zhou2019",
        missing="native",
        deterministic=False,
        soft=True,
        time="n'² r + r³",
        memory="n'²",
        bytes_needed=lambda s: 16 * s.n_rows**2 + 40 * s.n_rows * min(s.n_rows, s.n_base_clusters),
        weighted=False,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "lam": POSITIVE,
        "max_iter": MAX_ITER,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 10.0,
        max_iter: int = 5,
        n_init: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        return self._fuse(incidence(ensemble), rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        return self._fuse(sp.csr_matrix(soft.memberships), rng)

    def _fuse(self, B: sp.csr_matrix, rng: np.random.Generator) -> Solution:
        Q, QtZ, history = self._represent(B)
        affinity = low_rank_affinity(QtZ, basis=Q)
        weights = np.ones(len(Q))  # every micro-cluster counts as one
        labels = spectral_clustering(affinity, weights, self.n_clusters, rng, n_init=self.n_init)
        del affinity
        return Solution(
            labels, objective=history[-1], n_iter=len(history), history=history, matrix=Q @ QtZ
        )

    def _represent(
        self, B: sp.csr_matrix
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return Q and QᵀZ by reweighted least squares, and the objective after every round.

        With the weights e of a round, (XᵀX) Z + lam Z diag(e) = XᵀX. With the eigenvectors Q and
        the positive eigenvalues g of XᵀX, the solution is (QᵀZ)_ij = g_i / (g_i + lam e_j) (Qᵀ)_ij,
        and Z = Q QᵀZ: it has no part outside the range of XᵀX.
        """
        g, Q = _range_of_gram(B.T)
        history = np.empty(self.max_iter)
        e = np.ones(len(Q))
        for t in range(self.max_iter):
            QtZ = g[:, None] / (g[:, None] + self.lam * e)
            QtZ *= Q.T
            norm_Z = np.linalg.norm(QtZ)  # a rotation does not change the norm
            # ‖x_j - X z_j‖² = Σ_i g_i (Qᵀ(I - Z))²_ij
            residual = np.sqrt(g @ np.square(Q.T - QtZ))
            history[t] = residual.sum() + self.lam * norm_Z**2
            e = 2.0 * residual
            report_progress("DREC", t + 1, self.max_iter)
        return Q, QtZ, history


def _range_of_gram(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the positive eigenvalues of XᵀX and their eigenvectors, from the smaller side of X."""
    n_base_clusters, n = X.shape
    is_flat = n_base_clusters < n
    g, vectors = eigh((X @ X.T if is_flat else X.T @ X).toarray(), overwrite=True)
    is_positive = g >= n * np.finfo(float).eps * g[-1]  # the others are 0 but for rounding
    g, vectors = g[is_positive], vectors[:, is_positive]
    return g, np.asarray(X.T @ vectors) / np.sqrt(g) if is_flat else vectors
