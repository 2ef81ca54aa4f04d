"""DREC: spectral clustering of a dense representation of micro-clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, N_INIT, POSITIVE, RANDOM_STATE
from partita.ensemble import Ensemble
from partita.matrices import incidence
from partita.solvers.low_rank import low_rank_affinity
from partita.solvers.spectral import spectral_clustering

__all__ = ["DREC"]


class DREC(LearnedMatrixConsensus):
    """Dense representation ensemble clustering.

    Samples with equal labels form a micro-cluster, described by its row of the incidence table: X
    has a column for each, a row for every cluster of every partition. Every column is written as a
    combination of all of them,

        min_Z ‖X - X Z‖_2,1 + lam ‖Z‖²_F,

    where the sum of column lengths forgives single micro-clusters that do not fit. Z is then read
    like a low-rank representation: the cosine, to the fourth power, between rows of its principal
    directions is an affinity, which is cut by spectral clustering.

    Parameters
    ----------
    n_clusters : int
    lam : float
        Weight of the representation's size. The paper tries 1e-3 to 1e3 and keeps the best by the
        true classes. Below 1 every micro-cluster is represented by little but itself, and the
        labels become fragile; 10 to 1000 find planted partitions that 1 misses.
    max_iter : int
        Rounds of reweighted least squares; the published program always does 5.
    n_init : int
        Restarts of the final k-means.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        Z; not symmetric.
    history_ : array of shape (max_iter,)
        The function above after every round, which never rises.
    objective_ : float
        Its last value.

    Notes
    -----
    Cost O(n'² L + n'³) for n' micro-clusters and L clusters in all: one eigendecomposition, then
    O(n'³) a round; about 70 n'² bytes.

    A micro-cluster counts as one throughout, whatever its size, as in the paper;
    `consensus_matrix()` repeats the entries of Z for the samples. Missing labels: a micro-cluster
    belongs to no cluster of a partition that does not label it.

    Deviation from the paper: the equation of every round is solved by one eigendecomposition of
    XᵀX for all rounds, where the program calls a Sylvester solver each time. The rounds are
    counted, not tested for convergence, as in the program.

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
        time="n'³",
        memory="n'²",
        bytes_needed=lambda s: 70 * s.n_rows**2,
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
        Z, history = self._represent(ensemble)
        # every micro-cluster has weight 1 here
        labels = spectral_clustering(
            low_rank_affinity(Z), np.ones(len(Z)), self.n_clusters, rng, n_init=self.n_init
        )
        return Solution(
            labels, objective=history[-1], n_iter=len(history), history=history, matrix=Z
        )

    def _represent(self, ensemble: Ensemble) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Z by reweighted least squares, and the objective after every round.

        With e the reweighting, (XᵀX) Z + lam Z diag(e) = XᵀX; in the eigenvectors Q of XᵀX, with
        eigenvalues g, entry ij of Z becomes g_i / (g_i + lam e_j) times that of the identity.
        """
        X = incidence(ensemble).T
        g, Q = eigh((X.T @ X).toarray(), overwrite=True)
        g[g < len(g) * np.finfo(float).eps * g[-1]] = 0.0  # XᵀX has no negative eigenvalues
        history = np.empty(self.max_iter)
        e = np.ones(len(g))
        for t in range(self.max_iter):
            kept = np.divide(
                g[:, None], g[:, None] + self.lam * e, out=np.zeros_like(Q), where=g[:, None] > 0
            )
            kept *= Q.T
            length_Z = np.linalg.norm(kept)  # rotations keep lengths
            # ‖x_j - X z_j‖² = Σ_i g_i (Qᵀ(I - Z))²_ij
            residual = np.sqrt(g @ np.square(Q.T - kept))
            history[t] = residual.sum() + self.lam * length_Z**2
            e = 2.0 * residual
            report_progress("DREC", t + 1, self.max_iter)
        return Q @ kept, history
