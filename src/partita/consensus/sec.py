"""SEC: spectral clustering of the co-association matrix as weighted k-means of label rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_shares
from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import MethodInfo
from partita.consensus.constraints import CHECKPOINT, PARTITION_WEIGHTS
from partita.ensemble import Ensemble, LabelLayout
from partita.scale import Chunk, Rows, Totals, n_labeled, row_sums
from partita.solvers.label_kmeans import (
    GroupStatistics,
    RowFormat,
    RowTerms,
    Tables,
    max_initial_groups,
    move_rows,
    overall_statistics,
    row_terms_of,
)

__all__ = ["SEC"]


class SEC(LabelKMeansConsensus):
    """Spectral ensemble clustering.

    Normalized-cut spectral clustering of the co-association matrix S = B Bᵀ is weighted k-means on
    the rows b(x) of the incidence matrix (Theorem 1): with w(x) = Σ_i |cluster of x in i|,

        min Σ_x f(x),  f(x) = min_k w(x) ‖b(x)/w(x) - m_k‖²,  m_k = Σ_{C_k} b(x) / Σ_{C_k} w(x).

    Only m look-ups per sample are needed, no matrix: the engine for very large and incomplete
    ensembles.

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
        Weights μ_i of the partitions (Remark 4).
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
        Σ_x f(x).
    utility_ : float
        Σ_i μ_i U(π, π_i) of Theorem 2 (Theorem 6 for incomplete partitions). The two objectives
        differ by a constant: objective_ = Σ_x Σ_i μ_i / w(x) - n utility_.
    history_ : array
        The objective after every iteration of the winning start; it never rises (Theorem 7).
    sample_weights_ : array of shape (n_samples,)
        w(x).

    Notes
    -----
    Cost O(n' m K) per iteration at most (rows that bounds hold in place cost nothing), O(n' m + L
    K) memory. Deviations from the paper: merged starts and restarts; an emptied cluster takes
    the row that costs most where it is. Incomplete partitions follow the definition of Σ_x f(x) in
    Theorem 6, whose printed utility has n_k+^(i) in the statement and n_k+ in the proof: here
    utility_ = (1/n) Σ_i Σ_k w_Ck^(i) ‖m_k,i‖². A cluster none of whose members partition i labels
    has the partition's overall center there.

    References
    ----------
    H. Liu, J. Wu, T. Liu, D. Tao, Y. Fu. Spectral ensemble clustering via weighted k-means:
    theoretical and practical evidence. IEEE TKDE 29(5), 2017.
    https://doi.org/10.1109/TKDE.2017.2650229

    Examples
    --------
    >>> from partita import SEC
    >>> SEC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sec",
        name="Spectral ensemble clustering",
        family="k-means",
        cite="liu2017",
        missing="native",
        deterministic=False,
        out_of_core=True,
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=lambda s: (
            s.n_rows * (s.n_partitions + 64)
            + 40 * s.n_base_clusters * max_initial_groups(s.n_clusters)
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelKMeansConsensus._parameter_constraints,
        "partition_weights": PARTITION_WEIGHTS,
        "checkpoint": CHECKPOINT,
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
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.partition_weights = partition_weights
        self.init = init
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _geometry(self, rows: Rows, partition_weights: NDArray[np.float64]) -> _WeightedRows:
        return _WeightedRows(rows, partition_weights)

    def _learned(
        self,
        geometry: _WeightedRows,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
        tables: Tables,
    ) -> dict[str, Any]:
        return {"utility_": geometry.utility(masses, tables)}

    def _learned_of_rows(self, core: Ensemble, terms: RowTerms) -> dict[str, Any]:
        return {"sample_weights_": core.expand(terms.scale, np.nan)}

    def _new_row_terms(
        self, layout: LabelLayout, codes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Constant and scale of new rows: w from the training clusters' sizes."""
        weights = row_sums(codes, layout.missing_code, layout.offsets, self._sizes)
        return np.zeros(len(codes)), weights


class _WeightedRows:
    """Rows b(x)/w(x) of weight w(x) and centers n_k^(i) / w_Ck^(i), partition by partition."""

    def __init__(self, rows: Rows, mu: NDArray[np.float64]) -> None:
        self.mu = mu
        self.offsets, self.missing_code, self.complete = (
            rows.offsets,
            rows.missing_code,
            rows.complete,
        )
        self.cluster_mu = np.repeat(mu, np.diff(rows.offsets))
        self.sizes, _ = overall_statistics(rows)
        sums, found = np.zeros(3), GroupStatistics.empty(rows, 1)
        rows.accumulate(self._add_up, (sums, *found.arrays), keep_state=True)
        self.total, self.n, mass = sums
        masses = np.full(rows.n_partitions, mass) if rows.complete else found.masses[:, 0]
        # center of all the rows that a partition labels
        self.overall = self.sizes / np.repeat(masses, np.diff(rows.offsets))

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """w(x)."""
        return row_sums(labels, self.missing_code, self.offsets, self.sizes)

    def row_terms(self, labels: NDArray[Any]) -> RowTerms:
        weights = self.row_mass(labels)
        observed: Any = self.mu.sum()
        if not self.complete:
            observed = row_sums(labels, self.missing_code, self.offsets, self.cluster_mu)
        # Σ_i μ_i ‖b(x)_i‖² / w(x), which is nothing for a row without labels
        constant = observed / np.where(weights > 0, weights, 1.0)
        return RowTerms(constant, weights, weights, n_labeled(labels, self.missing_code))

    def _add_up(self, chunk: Chunk, totals: Totals) -> None:
        """Σ_x of the constants, weights and masses, and of masses by partition if they differ."""
        terms = row_terms_of(self, chunk)
        of_rows = (terms.constant, terms.n_labeled > 0, terms.mass)
        totals[0][:] += [float((chunk.weights * values).sum()) for values in of_rows]
        if not self.complete:
            row_format = RowFormat(len(self.mu), self.missing_code, self.offsets, self.complete)
            one_group = np.zeros(len(chunk.codes), np.int32)
            move_rows(row_format, chunk, terms.mass, one_group - 1, one_group, totals[1:])

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        # f = w ‖b/w - m‖² = Σ_i μ_i ( 1/w - 2 m_k,i[label] + w ‖m_k,i‖² )
        tables = Tables(np.empty(counts.shape), np.empty(masses.shape))
        kernel = _kernels.label_kmeans.ratio_tables
        run_shares(
            lambda first, last: kernel(
                counts, masses, self.overall, self.mu, self.offsets, first, last, tables.lookup,
                tables.slope,
            ),
            len(masses),
            counts.size,
        )  # fmt: skip
        return tables

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        # what the centers take off the constants: Σ_i μ_i Σ_k w_Ck^(i) ‖m_k,i‖²
        return self.total - float((masses * tables.slope).sum())

    def inner_products(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        sizes = np.diff(self.offsets)
        held = np.repeat(masses, sizes, axis=0)
        centers = np.where(held > 0, counts / np.where(held > 0, held, 1.0), self.overall[:, None])
        centers *= np.sqrt(self.cluster_mu)[:, None]
        return np.asarray(centers.T @ centers)

    def utility(self, masses: NDArray[np.float64], tables: Tables) -> float:
        return float((masses * tables.slope).sum()) / self.n
