"""CCC: plain k-means on label rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import MethodInfo
from partita.consensus.constraints import PARTITION_WEIGHTS
from partita.scale import Rows
from partita.solvers.label_kmeans import Tables, UtilityGeometry, max_initial_groups

__all__ = ["CCC"]


class CCC(LabelKMeansConsensus):
    """Consensus clustering with category utility.

    Squared-error k-means on the rows b(x) of the incidence matrix,

        min Σ_x Σ_i w_i ‖b(x)_i - P_k(x)^(i)‖²,

    P_k^(i) being the proportions of partition i's clusters in consensus cluster k. It maximizes the
    category utility Σ_i w_i (Σ_k p_k ‖P_k^(i)‖² - ‖P^(i)‖²), and is `KCC` with that utility.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, of which the one with the smallest objective wins.
    max_iter : int
    tol : float
        Stop when the objective falls by less than this share of itself; 0 runs until no sample
        moves.
    partition_weights : array of shape (n_partitions,), optional
        w_i; 1 by default.
    init : {"merge", "k-means++", "random"} or array of shape (n_clusters,)
        What a start begins with. "merge": four times as many groups, grown from random seeds in a
        few iterations and merged two by two where that loses least; every second start is a
        "k-means++" one. The others are one sample per cluster: drawn by distance, drawn by weight,
        or given by number.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    objective_ : float
        Sum of the squared distances of all samples to their clusters.
    utility_ : float
        The category utility; objective_ + n utility_ is the same for every partition.
    history_ : array
        The objective after every iteration of the winning start.

    Notes
    -----
    Cost O(n' m K) per iteration at most (rows that bounds hold in place cost nothing), O(n' m + L
    K) memory. Missing labels take part in no distance and no proportion. Deviations from the
    papers: merged starts and restarts; an emptied cluster takes the row that costs most where it
    is.

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
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=lambda s: (
            s.n_rows * (s.n_partitions + 160)
            + 64 * s.n_base_clusters * max_initial_groups(s.n_clusters)
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelKMeansConsensus._parameter_constraints,
        "partition_weights": PARTITION_WEIGHTS,
    }

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

    def _geometry(self, rows: Rows, partition_weights: NDArray[np.float64]) -> UtilityGeometry:
        return UtilityGeometry(rows, "c", partition_weights)

    def _learned(
        self,
        geometry: UtilityGeometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
        tables: Tables,
    ) -> dict[str, Any]:
        return {"utility_": geometry.utility(counts, masses)}
