"""SEC: spectral clustering of the co-association matrix as weighted k-means of label rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._validation import check_weights
from partita.consensus._base import MethodInfo
from partita.consensus._label_kmeans import PredictsRows
from partita.ensemble import Ensemble
from partita.matrices import cluster_sizes, row_sums
from partita.solvers.label_kmeans import Tables, group_statistics

__all__ = ["SEC"]


class SEC(PredictsRows):
    """Spectral ensemble clustering.

    Normalised-cut spectral clustering of the co-association matrix S = B Bᵀ is weighted k-means on
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
    init : {"k-means++", "random"} or array of shape (n_clusters,)
        Seeds: drawn by distance, drawn by weight, or the numbers of samples.
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
    Cost O(n' m K) per iteration at most (rows that the triangle inequality holds in place cost
    nothing), O(n' m + L K) memory. Deviations from the paper: k-means++ starts and restarts; an
    emptied cluster takes the row that costs most where it is. Incomplete partitions follow the
    definition of Σ_x f(x) in Theorem 6, whose printed utility has n_k+^(i) in the statement and
    n_k+ in the proof: here utility_ = (1/n) Σ_i Σ_k w_Ck^(i) ‖m_k,i‖². A cluster none of whose
    members partition i labels has the partition's overall centre there.

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
        time="n' m K per iteration",
        memory="n' m + L K",
        bytes_needed=lambda s: (
            s.n_rows * (s.n_partitions + 64) + 40 * s.n_all_clusters * s.n_clusters
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PredictsRows._parameter_constraints,
        "partition_weights": ["array-like", None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        partition_weights: Any = None,
        init: Any = "k-means++",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.partition_weights = partition_weights
        self.init = init
        self.random_state = random_state

    def _geometry(self, ensemble: Ensemble) -> _WeightedRows:
        mu = check_weights(self.partition_weights, ensemble.n_partitions, "partition_weights")
        return _WeightedRows(ensemble, mu[ensemble.partition_order])

    def _learned(
        self, geometry: _WeightedRows, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> dict[str, Any]:
        return {
            "utility_": geometry.utility(counts, masses),
            "sample_weights_": geometry.sample_weights,
        }

    def _row_parts(
        self, codebook: Ensemble, labels: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Constant and scale of new rows: w from the training clusters' sizes."""
        return np.zeros(len(labels)), row_sums(codebook, self._sizes, labels)


class _WeightedRows:
    """Rows b(x)/w(x) of weight w(x) and centres n_k^(i) / w_Ck^(i), partition by partition."""

    metric = True

    def __init__(self, ensemble: Ensemble, mu: NDArray[np.float64]) -> None:
        self.mu = mu
        self.offsets = ensemble.offsets
        self.cluster_mu = self._per_cluster(mu)[:, None]
        self.sizes = cluster_sizes(ensemble)
        self.scale = row_sums(ensemble, self.sizes)  # w(x)
        self.sample_weights = ensemble.expand(self.scale, np.nan)
        self.mass = self.scale
        complete = ensemble.n_missing == 0
        observed = mu.sum() if complete else row_sums(ensemble, self.cluster_mu[:, 0])
        self.constant = observed / self.scale  # Σ_i μ_i ‖b(x)_i‖² / w(x)
        self.total = float(ensemble.weights @ self.constant)
        self.n = float(ensemble.weights.sum())
        # centre of all the rows that a partition labels
        masses = np.full(ensemble.n_partitions, ensemble.weights @ self.mass)
        if not complete:
            everything = np.zeros(ensemble.n_rows, np.int64)
            masses = group_statistics(ensemble, self, everything, 1)[1][:, 0]
        self.overall = self.sizes / self._per_cluster(masses)

    def _per_cluster(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values per partition, repeated for each of its clusters."""
        return np.repeat(values, np.diff(self.offsets), axis=0)

    def _centres(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        mass = self._per_cluster(masses)
        return np.where(mass > 0, counts / np.where(mass > 0, mass, 1.0), self.overall[:, None])

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        # f = w ‖b/w - m‖² = Σ_i μ_i ( 1/w - 2 m_k,i[label] + w ‖m_k,i‖² )
        centres = self._centres(counts, masses)
        squares = np.add.reduceat(centres**2, self.offsets[:-1], axis=0)
        return Tables(
            lookup=-2.0 * self.cluster_mu * centres,
            slope=self.mu[:, None] * squares,
        )

    def drift(self, old: Tables, new: Tables) -> NDArray[np.float64]:
        # look-ups are -2 μ m: ‖Δm‖² = Σ μ (Δlookup / 2μ)²
        return np.sqrt((((new.lookup - old.lookup) ** 2) / (4.0 * self.cluster_mu)).sum(axis=0))

    def _captured(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        """Σ_i μ_i Σ_k w_Ck^(i) ‖m_k,i‖²: what the centres take off the constant."""
        squares = np.add.reduceat(counts**2, self.offsets[:-1], axis=0)
        filled = masses > 0
        return float(self.mu @ (squares / np.where(filled, masses, 1.0) * filled).sum(axis=1))

    def objective(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        return self.total - self._captured(counts, masses)

    def utility(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        return self._captured(counts, masses) / self.n
