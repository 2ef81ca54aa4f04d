"""CCC: squared-error k-means on label rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._utility_kmeans import UtilityKMeansConsensus, utility_bytes
from partita.consensus.base import MethodInfo
from partita.ensemble import SoftEnsemble
from partita.scale import Rows
from partita.solvers.label_kmeans import UtilityGeometry

__all__ = ["CCC"]


class CCC(UtilityKMeansConsensus):
    """Consensus clustering with category utility.

    Squared-error k-means on the rows b(x) of the incidence matrix,

        min Σ_x Σ_i w_i ‖b(x)_i - P_k(x)^(i)‖²,

    where P_k^(i) are the proportions of partition i's clusters in consensus cluster k. It maximizes
    the category utility Σ_i w_i (Σ_k p_k ‖P_k^(i)‖² - ‖P^(i)‖²) and is `KCC` with that utility.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
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
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initialization. An int gives the same result in every call.

    Attributes
    ----------
    objective_ : float
        Sum of the squared distances of all samples to their clusters.
    utility_ : float
        The category utility; objective_ + n utility_ is the same for every partition.
    partition_weights_ : array of shape (n_partitions,)
        Weights of the partitions in the fit.
    history_ : array
        The objective after every iteration of the best restart.

    Notes
    -----
    Cost at most O(n' m K) per iteration (rows whose bounds show that they cannot move cost
    nothing), O(n' m + L K) memory; weights by agreement cost O(n' m²) and 8 L² bytes
    once.

    Missing labels take part in no distance and no proportion.

    Soft partitions: k-means on the rows of memberships, from random centers: `init` and `tol` are
    not used, there is no `predict`, and missing rows are refused.

    Deviations from the papers: initialization by merging, and restarts; an empty cluster takes the
    row with the largest cost.

    References
    ----------
    A. Topchy, A. K. Jain, W. Punch. Combining multiple weak clusterings. ICDM 2003.
    https://doi.org/10.1109/ICDM.2003.1250937

    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-means-based consensus clustering: a unified view.
    IEEE TKDE 27(1), 2015. https://doi.org/10.1109/TKDE.2014.2316512

    Examples
    --------
    >>> from partita import CCC
    >>> CCC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ccc",
        name="Consensus clustering with category utility",
        family="k-means",
        cite="wu2015",
        missing="native",
        deterministic=False,
        soft=True,
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=utility_bytes,
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        partition_weights: Any = None,
        init: Any = "merge",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.partition_weights = partition_weights
        self.init = init
        self.random_state = random_state

    def _geometry(
        self, rows: Rows, partition_weights: NDArray[np.float64], work: float
    ) -> UtilityGeometry:
        return UtilityGeometry(rows, "c", partition_weights, work=work)

    def _soft_points(
        self, soft: SoftEnsemble, column_weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._require_complete(soft)
        return soft.memberships * np.sqrt(column_weights), soft.weights
