"""KCC: k-means on label rows whose distance belongs to a utility function."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import MethodInfo
from partita.consensus.constraints import CHECKPOINT, PARTITION_WEIGHTS, Interval, StrOptions
from partita.scale import Rows
from partita.solvers.label_kmeans import UTILITIES, Tables, UtilityGeometry, max_initial_groups

__all__ = ["KCC"]


class KCC(LabelKMeansConsensus):
    """K-means-based consensus clustering.

    The partition π that agrees best with the ensemble,

        max Σ_i w_i U(π, π_i),  U(π, π_i) = Σ_k p_k μ(P_k^(i)) - μ(P^(i)),

    where P^(i) and P_k^(i) are the proportions of partition i's clusters among all samples and
    among those of consensus cluster k, and p_k is that cluster's share. For every convex μ this is
    k-means on label rows with the matching distance of a row that has label c in partition i:

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
    n_clusters : int
    utility : {"c", "h", "cos", "lp"}
    normalized : bool
        Divide w_i by |μ(P^(i))|, so that partitions of many clusters and of few count alike.
    p : float
        Order of the norm for "lp", above 1.
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
    checkpoint : folder or Checkpoint, optional
        Where the state is written from time to time, so that the same call goes on from there
        after it was killed, and ends as if it had not been.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    objective_ : float
        Sum of the distances of all samples to their clusters.
    utility_ : float
        Σ_i w_i U(π, π_i), with w_i as divided by `normalized`. Objective and utility differ by
        what does not depend on π: objective_ + n utility_ is the same for every partition.
    history_ : array
        The objective after every iteration of the winning start.

    Notes
    -----
    Cost O(n' m K) per iteration, O(n' m + L K) memory; rows that bounds hold in place cost
    nothing. Missing labels take part in no distance and no proportion, and
    U(π, π_i) counts with the share of samples that partition i labels. With "h" a label that no
    member of a cluster has costs 52 bits (log2 of the smallest step from 1), so that the first
    assignment counts disagreements and small clusters predict new rows coarsely.

    Deviations from the paper: starts are merged from many small groups, and seeds are distinct rows
    (equal seeds leave a cluster empty at once); an emptied cluster takes the row that costs most
    where it is; a cluster none of whose members partition i labels has the overall proportions
    P^(i) there instead of a random label; the default runs until nothing moves instead of until the
    objective changes by less than 1e-5. The published program reports -(H(P) + Σ p_k H(P_k)) as the
    utility of "h", a sign error; its labels and objective are right, and `utility_` here is the
    definition.

    References
    ----------
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-means-based consensus clustering: a unified view.
    IEEE TKDE 27(1), 2015. https://doi.org/10.1109/TKDE.2014.2316512

    Examples
    --------
    >>> from partita import KCC
    >>> labels = [[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]]
    >>> KCC(n_clusters=2, utility="h", normalized=True, random_state=0).fit_predict(labels)
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
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=lambda s: (
            s.n_rows * (s.n_partitions + 160)
            + 64 * s.n_base_clusters * max_initial_groups(s.n_clusters)
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelKMeansConsensus._parameter_constraints,
        "utility": [StrOptions(set(UTILITIES))],
        "normalized": ["boolean"],
        "p": [Interval(Real, 1, None, closed="neither")],
        "partition_weights": PARTITION_WEIGHTS,
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

    def _geometry(self, rows: Rows, partition_weights: NDArray[np.float64]) -> UtilityGeometry:
        return UtilityGeometry(
            rows, self.utility, partition_weights, normalized=self.normalized, p=float(self.p)
        )

    def _learned(
        self,
        geometry: UtilityGeometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
        tables: Tables,
    ) -> dict[str, Any]:
        return {"utility_": geometry.utility(counts, masses)}
