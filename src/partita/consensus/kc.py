"""KC: k-means on the rows of the co-association matrix, which is not formed."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import MethodInfo
from partita.ensemble import LabelLayout, SoftEnsemble
from partita.matrices import cluster_overlaps, incidence
from partita.matrices.agreement import weighted_agreement
from partita.matrices.cluster_counts import quadratic_forms
from partita.matrices.soft import soft_overlaps
from partita.scale import EnsembleRows, n_labeled
from partita.solvers.label_kmeans import RowTerms, Tables, max_initial_groups

__all__ = ["KC"]


class KC(LabelKMeansConsensus):
    """K-means on the consensus similarity.

    A sample is described by its co-association with all samples, and these descriptions, the rows
    of CA = B W Bᵀ / Σ_i w_i, are clustered by k-means. Here W = diag(w) has the weight of the
    partition of each base cluster. The squared distance follows from the clusters of two samples,

        ‖CA_x - CA_y‖² = (b(x) - b(y)) W N W (b(x) - b(y))ᵀ / (Σ_i w_i)²,  N = Bᵀ B,

    where N counts the samples that any two base clusters share. The distance of a row to a center
    is m look-ups, and the n x n matrix is never formed.

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
        Sum of squared distances of the rows of CA to their centers.
    partition_weights_ : array of shape (n_partitions,)
        Weights of the partitions in the fit.
    history_ : array
        The objective after every iteration of the best restart.

    Notes
    -----
    Cost O(n' m²) once and O(n' m K + L² K) per iteration, O(n' m + L²) memory. If there are fewer
    distinct rows than base clusters, the rows replace N.

    Missing labels count as disagreement: CA_xy is the share, by weight, of all m partitions that
    label both samples and join them.

    Soft partitions: CA = P W Pᵀ / Σ_i w_i with memberships P. K-means starts at random centers:
    `init` and `tol` are not used, and there is no `predict`.

    The papers that compare with this method give no details. Initialization by merging, restarts
    and the refilling of empty clusters are ours.

    References
    ----------
    T. Li, C. Ding. Weighted consensus clustering. SIAM International Conference on Data Mining
    (SDM), 2008.

    Examples
    --------
    >>> from partita import KC
    >>> KC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="kc",
        name="K-means on the consensus similarity",
        family="k-means",
        cite="li2008",
        missing="disagree",
        deterministic=False,
        soft=True,
        time="n' m² + (n' m + L²) K per iteration",
        memory="n' m + min(n', L)²",
        bytes_needed=lambda s: (
            s.n_rows * (40 * s.n_partitions + 160)
            + 24 * min(s.n_rows, s.n_base_clusters) ** 2
            + 64 * s.n_base_clusters * max_initial_groups(s.n_clusters)
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = LabelKMeansConsensus._parameter_constraints

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
        self, rows: EnsembleRows, partition_weights: NDArray[np.float64], work: float
    ) -> _CoassociationGeometry:
        return _CoassociationGeometry(rows, partition_weights, work)

    def _soft_points(
        self, soft: SoftEnsemble, column_weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # with N = V Λ Vᵀ, the vectors b W V Λ^½ have the inner products of rows of co-association
        values, vectors = eigh(soft_overlaps(soft))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        total = column_weights[soft.offsets[:-1]].sum()
        return (soft.memberships * column_weights) @ root / total, soft.weights

    def _new_row_terms(
        self, layout: LabelLayout, codes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        observed = np.count_nonzero(codes != layout.missing_code, axis=1)
        return np.zeros(len(codes)), 1.0 / observed


class _CoassociationGeometry:
    """Rows b(x) in the metric of M = W N W / (Σ_i w_i)²; a center is the mean c of members' b(x).

    f(x, k) = b M bᵀ - 2 b M c_kᵀ + c_k M c_kᵀ. The last term depends on the group only. It is
    divided equally among the m_x partitions that label a row, and so is the weight of the row. The
    mass of a group, summed over all partitions, is then its weight.
    """

    def __init__(
        self, rows: EnsembleRows, partition_weights: NDArray[np.float64], work: float
    ) -> None:
        self.work = work
        ensemble = rows.ensemble
        self.m, self.missing_code = ensemble.n_partitions, ensemble.missing_code
        self.weights = ensemble.weights
        self.divisor = float(partition_weights.sum()) ** 2
        cluster_weights = np.repeat(partition_weights, ensemble.n_clusters)
        n_labels = n_labeled(ensemble.codes, ensemble.missing_code)
        self.through_clusters = ensemble.n_base_clusters <= ensemble.n_rows
        if self.through_clusters:
            self.overlaps = cluster_overlaps(ensemble)
            self.overlaps *= cluster_weights[:, None]
            self.overlaps *= cluster_weights
            squares = quadratic_forms(ensemble, self.overlaps)
        else:  # N C as Bᵀ diag(r) B C, and b N bᵀ as the weighted sum of squared agreements
            self.incidence = incidence(ensemble, cluster_weights)
            agreements = weighted_agreement(ensemble, cluster_weights)
            squares = np.square(agreements, out=agreements) @ ensemble.weights
        constant = squares / self.divisor
        self.terms = RowTerms(constant, 1.0 / n_labels, 1.0 / n_labels, n_labels)
        self.total = float(ensemble.weights @ constant)

    def row_terms(self, labels: NDArray[Any]) -> RowTerms:
        return self.terms  # the rows are always those of the ensemble

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        return 1.0 / n_labeled(labels, self.missing_code)

    def _overlaps_times(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return W N W times the centers."""
        if self.through_clusters:
            return self.overlaps @ centers
        B = self.incidence
        return np.asarray(B.T @ (self.weights[:, None] * (B @ centers)))

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        centers = counts / masses.sum(axis=0)
        products = self._overlaps_times(centers) / self.divisor
        length = np.sum(centers * products, axis=0)
        return Tables(lookup=-2.0 * products, slope=np.tile(length, (self.m, 1)))

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        weight = masses.sum(axis=0)
        lengths = -0.5 * np.sum(counts / weight * tables.lookup, axis=0)
        return self.total - float(weight @ lengths)

    def inner_products(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        centers = counts / masses.sum(axis=0)
        return np.asarray(centers.T @ self._overlaps_times(centers))
