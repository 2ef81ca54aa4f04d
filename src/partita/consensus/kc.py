"""KC: k-means on the rows of the co-association matrix, without the matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import MethodInfo
from partita.ensemble import LabelLayout
from partita.matrices import agreement_counts, cluster_overlaps, incidence
from partita.matrices.cluster_counts import quadratic_forms
from partita.scale import EnsembleRows, n_labeled
from partita.solvers.label_kmeans import RowTerms, Tables, max_initial_groups

__all__ = ["KC"]


class KC(LabelKMeansConsensus):
    """K-means on the consensus similarity.

    A sample is described by how often it is together with every other sample, and these
    descriptions, the rows of CA = B Bᵀ / m, are clustered by k-means. Samples meet through the
    clusters they share, so that the distance of two of them is

        ‖CA_x - CA_y‖² = (b(x) - b(y)) N (b(x) - b(y))ᵀ / m²,  N = Bᵀ B,

    N counting the samples any two clusters share: the distances of all rows to a center are m
    look-ups each, and the n x n matrix is never formed.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, of which the one with the smallest objective wins.
    max_iter : int
    tol : float
        Stop when the objective falls by less than this share of itself; 0 runs until no sample
        moves.
    init : {"merge", "k-means++", "random"} or array of shape (n_clusters,)
        What a start begins with. "merge": four times as many groups, grown from random seeds in a
        few iterations and merged two by two where that loses least; every second start is a
        "k-means++" one. The others are one sample per cluster: drawn by distance, drawn by weight,
        or given by number.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    objective_ : float
        Sum of squared distances of the rows of CA to their centers.
    history_ : array
        The objective after every iteration of the winning start.

    Notes
    -----
    Cost O(n' m²) once and O(n' m K + L² K) per iteration, O(n' m + L²) memory; where there are
    fewer distinct rows than base clusters, these take the place of N. Missing labels count as
    disagreement: a pair is together in as many of all m partitions as label and join both. The
    papers that compare with this method give no details; merged starts, restarts and the
    refilling of empty clusters are ours.

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
        init: Any = "merge",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state

    def _geometry(
        self, rows: EnsembleRows, partition_weights: NDArray[np.float64]
    ) -> _CoassociationRows:
        return _CoassociationRows(rows)

    def _new_row_terms(
        self, layout: LabelLayout, codes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        observed = np.count_nonzero(codes != layout.missing_code, axis=1)
        return np.zeros(len(codes)), 1.0 / observed


class _CoassociationRows:
    """Rows b(x) in the metric of N / m²; a center is the mean c of its members' b(x).

    f(x, k) = ( b N bᵀ - 2 b N c_kᵀ + c_k N c_kᵀ ) / m². The last term belongs to the group alone:
    a row takes 1/m_x of it from each of the m_x partitions that label it, and brings as much of
    its weight into each of them, so that a group's mass over all partitions is its weight.
    """

    def __init__(self, rows: EnsembleRows) -> None:
        ensemble = rows.ensemble
        self.m, self.missing_code = ensemble.n_partitions, ensemble.missing_code
        self.weights = ensemble.weights
        n_labels = n_labeled(ensemble.codes, ensemble.missing_code)
        self.through_clusters = ensemble.n_base_clusters <= ensemble.n_rows
        if self.through_clusters:
            self.overlaps = cluster_overlaps(ensemble)
            squares = quadratic_forms(ensemble, self.overlaps)
        else:  # N C as Bᵀ diag(r) B C, and b N bᵀ as the weighted sum of squared agreements
            self.incidence = incidence(ensemble)
            agreements = agreement_counts(ensemble, np.uint32)
            squares = np.square(agreements, out=agreements) @ ensemble.weights
        constant = squares / self.m**2
        self.terms = RowTerms(constant, 1.0 / n_labels, 1.0 / n_labels, n_labels)
        self.total = float(ensemble.weights @ constant)

    def row_terms(self, labels: NDArray[Any]) -> RowTerms:
        return self.terms  # of the ensemble's own rows: there are no others in memory

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        return 1.0 / n_labeled(labels, self.missing_code)

    def _overlaps_times(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.through_clusters:
            return self.overlaps @ centers
        B = self.incidence
        return np.asarray(B.T @ (self.weights[:, None] * (B @ centers)))

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        centers = counts / masses.sum(axis=0)
        products = self._overlaps_times(centers) / self.m**2
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
