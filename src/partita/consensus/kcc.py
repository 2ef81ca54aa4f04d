"""KCC: k-means on label rows with the distance of a utility function."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._utility_kmeans import UtilityKMeansConsensus, utility_bytes
from partita.consensus.base import MethodInfo
from partita.consensus.constraints import CHECKPOINT, Interval, StrOptions
from partita.ensemble import SoftEnsemble
from partita.exceptions import NotSupportedError
from partita.scale import Rows
from partita.solvers.label_kmeans import UTILITIES, UtilityGeometry

__all__ = ["KCC"]


class KCC(UtilityKMeansConsensus):
    """K-means-based consensus clustering.

    Find the partition π that agrees best with the ensemble,

        max Σ_i w_i U(π, π_i),  U(π, π_i) = Σ_k p_k μ(P_k^(i)) - μ(P^(i)),

    where P^(i) and P_k^(i) are the proportions of partition i's clusters among all samples and
    among those of consensus cluster k, and p_k is the share of that cluster. For every convex μ
    this is k-means on label rows with a distance of its own. For a row with label c in partition i:

    ======= ============================ =========== ===========================================
    utility known as                     μ(P)        distance to cluster k, summed over i
    ======= ============================ =========== ===========================================
    "c"     category utility             ‖P‖²        w_i (1 + ‖P_k‖² - 2 P_k[c])
    "h"     mutual information           -H(P)       -w_i log2 P_k[c]
    "cos"   cosine                       ‖P‖         w_i (1 - P_k[c] / ‖P_k‖)
    "lp"    Lp norm                      ‖P‖_p       w_i (1 - (P_k[c] / ‖P_k‖_p)^(p-1))
    ======= ============================ =========== ===========================================

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    utility : {"c", "h", "cos", "lp"}, default="c"
        Utility function, see the table.
    normalized : bool, default=False
        Whether to divide w_i by |μ(P^(i))|, so that partitions with many and with few clusters have
        the same influence.
    p : float, default=5
        Order of the norm for "lp"; must exceed 1.
    n_init : int, default=10
        Restarts; the smallest objective wins.
    max_iter : int, default=100
        Largest number of iterations of a restart.
    tol : float, default=0.0
        A restart stops when an iteration lowers the objective by less than this share of it. With 0
        it runs until no sample moves.
    partition_weights : array of shape (n_partitions,) or "agreement", optional
        Weights w_i of the partitions; 1 by default. "agreement": each partition's mean normalized
        mutual information with the others, divided by the largest such mean
        (`partita.matrices.crowd_agreement`) and at least 0.001.
    init : {"merge", "k-means++", "random"} or array, default="merge"
        Initialization of a restart. "merge": four times as many groups, grown from random seeds in
        a few iterations, are merged in pairs with the least increase of the objective; every second
        restart uses "k-means++" instead. "k-means++" and "random" draw one sample per cluster, by
        distance or by weight. An array has the numbers of `n_clusters` samples to use as seeds, or
        the initial label of every sample, for a single restart.
    checkpoint : folder or Checkpoint, optional
        Where the state is saved from time to time, so that the same call continues from there after
        an interruption and gives the same result. By default nothing is saved.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initialization. An int gives the same result in every call; a
        checkpoint needs one.

    Attributes
    ----------
    objective_ : float
        Sum of the distances of all samples to their clusters.
    utility_ : float
        Σ_i w_i U(π, π_i), with w_i divided if `normalized`. Objective and utility differ by terms
        that do not depend on π: objective_ + n utility_ is the same for every partition.
    partition_weights_ : array of shape (n_partitions,)
        Weights of the partitions in the fit.
    history_ : array
        The objective after every iteration of the best restart.

    Notes
    -----
    Cost at most O(n' m K) per iteration (rows whose bounds show that they cannot move cost
    nothing), O(n' m + L K) memory; weights by agreement cost O(n' m²) and 8 L² bytes
    once.

    Missing labels take part in no distance and no proportion, and U(π, π_i) is weighted by the
    share of samples that partition i labels.

    With "h" a label that no member of a cluster has costs 52 bits (log2 of the smallest step from
    1). The first assignment therefore counts disagreements, and small clusters predict new rows
    coarsely.

    Soft partitions: k-means on the rows of memberships with the utility "c"; the others are
    refused, and so are missing rows. `init` and `tol` are not used, and there is no `predict`.

    Deviations from the paper: initialization by merging many small groups, and seeds are distinct
    rows (equal seeds leave a cluster empty at once); an empty cluster takes the row with the
    largest cost; a cluster none of whose members partition i labels has the overall proportions
    P^(i) there instead of a random label; by default iterations run until no sample moves instead
    of until the objective changes by less than 1e-5. The published program reports -(H(P) + Σ p_k
    H(P_k)) as the utility of "h", a sign error; its labels and objective are right, and `utility_`
    here is the definition.

    References
    ----------
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-means-based consensus clustering: a unified view.
    IEEE TKDE 27(1), 2015. https://doi.org/10.1109/TKDE.2014.2316512

    Examples
    --------
    >>> from partita import KCC
    >>> partitions = [[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]]
    >>> KCC(n_clusters=2, utility="h", normalized=True, random_state=0).fit_predict(partitions)
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="kcc",
        name="K-means-based consensus clustering",
        family="k-means",
        cite="wu2015",
        missing="native",
        deterministic=False,
        out_of_core=True,
        soft=True,
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=utility_bytes,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **UtilityKMeansConsensus._parameter_constraints,
        "utility": [StrOptions(set(UTILITIES))],
        "normalized": ["boolean"],
        "p": [Interval(Real, 1, None, closed="neither")],
        "checkpoint": CHECKPOINT,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        utility: str = "c",
        normalized: bool = False,
        p: float = 5,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        partition_weights: Any = None,
        init: Any = "merge",
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.normalized = normalized
        self.p = p
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.partition_weights = partition_weights
        self.init = init
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _geometry(
        self, rows: Rows, partition_weights: NDArray[np.float64], work: float
    ) -> UtilityGeometry:
        return UtilityGeometry(
            rows,
            self.utility,
            partition_weights,
            normalized=self.normalized,
            p=float(self.p),
            work=work,
        )

    def _soft_points(
        self, soft: SoftEnsemble, column_weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.utility != "c":
            raise NotSupportedError(
                f"KCC with utility={self.utility!r} is not defined for soft partitions. Pass "
                'utility="c".'
            )
        self._require_complete(soft)
        if self.normalized:
            shares = np.square(soft.weights @ soft.memberships / soft.weights.sum())
            utility = np.add.reduceat(shares, soft.offsets[:-1])
            column_weights = column_weights / np.repeat(utility, np.diff(soft.offsets))
        return soft.memberships * np.sqrt(column_weights), soft.weights
