"""Voting: clusters are relabeled to each other by optimal assignment, then partitions vote."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partita._contingency import ContingencyTable, nmi_of
from partita._numbering import order_of_appearance
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, N_INIT
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import incidence
from partita.matrices.soft import soft_overlaps
from partita.metrics import pairwise_agreement

__all__ = ["Voting"]

_DIGITS = 12  # after the decimal point; smaller differences are rounding


class Voting(BaseConsensus):
    """Voting after relabeling.

    Cluster names of different partitions have no common meaning. A map g_i of the clusters of
    partition i to the consensus clusters 1..K gives them one, and each partition then votes. The
    maps and the shares of votes U (a row per sample, sum 1) minimize the mean dissimilarity

        min 1/(n m) Σ_i Σ_x ‖e(g_i(x)) - U(x)‖²,  e(k) the k-th unit vector,

    by two steps in turn: U(x) is the mean vote of the partitions, and g_i is the best assignment of
    clusters by their overlaps with U (Hungarian method). The consensus cluster of a sample is the
    one with the most votes.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K. At most the largest number of clusters in a partition can be reached.
    n_init : int, default=10
        Number of references: partitions whose clusters are the first consensus clusters. The
        partitions with the highest mean agreement (NMI) with all others are taken, those with at
        least K clusters first. Of the results with the most clusters, the one with the highest
        average NMI with the partitions wins.
    max_iter : int, default=100
        Largest number of iterations for one reference.
    soft : bool, default=True
        Whether to keep the shares of votes as `membership_`; False saves 8 n K bytes.

    Attributes
    ----------
    objective_ : float
        The mean dissimilarity above; 0 if all partitions agree.
    history_ : array of shape (n_iter_,)
        The objective after each iteration, for the best reference; it never increases.
    membership_ : array of shape (n_samples, n_clusters)
        U: the share of a sample's votes for each consensus cluster. Rows sum to 1; column k belongs
        to cluster k of `labels_`. NaN for samples without any label. Only if `soft`.
    reference_ : int
        Column of the reference of the best result, -1 if every distinct row is a cluster.

    Notes
    -----
    Cost O(n' m K) per iteration and one assignment per partition, O(n' m²) for the agreement of
    partitions; O(n' (m + K) + L K) memory.

    Missing labels: a partition votes on the samples it labels. U(x) is the mean over the votes for
    x, and sums run over the labels that are present.

    Partitions with another number of clusters than K: with fewer, each of their clusters gets a
    consensus cluster of its own and the others get no vote. With more, every consensus cluster gets
    at least one of them, and the rest go to the consensus cluster with which they share most votes.
    Both are solved exactly as one assignment problem. A reference with more than K clusters starts
    with its K largest.

    References are compared by average NMI, because the objective favors merged clusters if some
    partitions have fewer than K clusters: on 30 partitions with 2 to 10 clusters and 20 % noise
    (`make_partitions(300, 30, 4, noise=0.2, k_min=2, k_max=10)`, seeds 0 to 2) the smallest
    objective has an ARI of .66, .88 and .86, the highest average NMI 1.

    Soft partitions: partitions divide their vote on a sample by its memberships, and ‖e(g_i(x)) -
    U(x)‖² is the mean over its clusters.

    Deviations from the papers: the votes are repeated until the maps settle (Dudoit and Fridlyand
    relabel once), and the reference is chosen by agreement, so that the order of the partitions
    does not matter (Dimitriadou et al. add partitions one by one).

    References
    ----------
    E. Dimitriadou, A. Weingessel, K. Hornik. A combination scheme for fuzzy clustering.
    International Journal of Pattern Recognition and Artificial Intelligence 16(7), 2002.
    https://doi.org/10.1142/S0218001402002052

    S. Dudoit, J. Fridlyand. Bagging to improve the accuracy of a clustering procedure.
    Bioinformatics 19(9), 2003. https://doi.org/10.1093/bioinformatics/btg038

    Examples
    --------
    >>> from partita import Voting
    >>> method = Voting(n_clusters=2).fit([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    >>> method.labels_
    array([0, 0, 1, 1])
    >>> method.membership_[2].round(2)
    array([0.33, 0.67])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="voting",
        name="Voting after relabeling",
        family="voting",
        cite="dimitriadou2002",
        missing="native",
        deterministic=True,
        soft=True,
        time="n' m K per iteration + n' m²",
        memory="n' (m + K) + L K",
        bytes_needed=lambda s: (
            s.n_rows * (32 * s.n_partitions + 32 * s.n_clusters)
            + 24 * s.n_base_clusters * s.n_clusters
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "soft": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        soft: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.soft = soft

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        agreement = pairwise_agreement(ensemble).mean(axis=1)[ensemble.partition_order]
        return self._elect(ensemble, agreement, ensemble.partition_order)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        return self._elect(soft, _soft_agreement(soft), np.arange(soft.n_partitions))

    def _elect(
        self,
        ensemble: Ensemble | SoftEnsemble,
        agreement: NDArray[np.float64],
        partition_order: NDArray[np.int64],
    ) -> Solution:
        ballot = _Ballot(ensemble, self.n_clusters)
        references = _references(ballot.offsets, agreement, self.n_clusters)[: self.n_init]
        results = []
        for t, reference in enumerate(references):
            report_progress("Voting", t, len(references))
            results.append(self._vote(ballot, ballot.clusters_of(reference)))
        report_progress("Voting", len(references), len(references))
        scores = [_score(ballot, ballot.votes(result.maps)) for result in results]
        first = max(range(len(scores)), key=lambda t: scores[t])
        best, votes = results[first], ballot.votes(results[first].maps)
        if not best.converged:
            warn_not_converged("Voting", self.max_iter, "while the maps changed. Raise max_iter.")
        labels = np.argmax(votes, axis=1)
        learned: dict[str, Any] = {"reference_": int(partition_order[references[first]])}
        if self.soft:
            learned["membership_"] = _membership(ensemble, labels, ballot.shares(votes))
        return Solution(
            labels,
            objective=best.history[-1],
            n_iter=len(best.history),
            converged=best.converged,
            history=np.asarray(best.history),
            learned=learned,
        )

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        labels = np.arange(core.n_rows)
        learned: dict[str, Any] = {"reference_": -1}
        if self.soft:
            votes = np.eye(core.n_rows, self.n_clusters)
            learned["membership_"] = _membership(core, labels, votes)
        return Solution(labels, objective=0.0, n_iter=0, history=np.zeros(0), learned=learned)

    def _vote(self, ballot: _Ballot, shares: NDArray[np.float64]) -> _Result:
        """Alternate between maps and votes, from shares of votes that the reference defines."""
        history: list[float] = []
        maps = ballot.maps(shares)
        while True:
            votes = ballot.votes(maps)
            history.append(ballot.dissimilarity(votes))
            previous, maps = maps, ballot.maps(ballot.shares(votes))
            gain = history[-2] - history[-1] if len(history) > 1 else np.inf
            if np.array_equal(maps, previous) or round(gain, _DIGITS) <= 0.0:
                return _Result(previous, history, converged=True)
            if len(history) == self.max_iter:
                return _Result(previous, history, converged=False)


@dataclass(frozen=True)
class _Result:
    """Consensus cluster of every base cluster, and the objective after every iteration."""

    maps: NDArray[np.int64]
    history: list[float]
    converged: bool


class _Ballot:
    """Maps of base clusters to consensus clusters, and the votes that follow from them."""

    def __init__(self, ensemble: Ensemble | SoftEnsemble, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self.weights = ensemble.weights
        self.offsets = ensemble.offsets
        if isinstance(ensemble, SoftEnsemble):
            self.incidence = sp.csr_matrix(ensemble.memberships)
        else:
            self.incidence = incidence(ensemble)
        self.n_labels = ensemble.observed.sum(axis=1).astype(np.float64)
        self.weighted = self.incidence.T.tocsr()
        self.weighted.data = self.weighted.data * self.weights[self.weighted.indices]
        self.sizes = np.asarray(self.weighted.sum(axis=1)).ravel()

    def clusters_of(self, i: int) -> NDArray[np.float64]:
        """Return the shares of votes if only the largest K clusters of partition i voted."""
        first, last = self.offsets[i], self.offsets[i + 1]
        largest = np.argsort(-self.sizes[first:last], kind="stable")[: self.n_clusters]
        columns = np.arange(len(largest))
        shape = (len(self.sizes), self.n_clusters)
        names = sp.csr_matrix((np.ones(len(largest)), (first + largest, columns)), shape=shape)
        return np.asarray((self.incidence @ names).toarray())

    def maps(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the consensus cluster of every base cluster.

        A cluster that chooses freely takes its largest overlap. The constraint that K clusters (or
        all, if there are fewer) take different ones costs the gaps to that, and the assignment
        minimizes their sum.
        """
        overlaps = np.asarray(self.weighted @ shares)
        choice = np.argmax(overlaps, axis=1)
        gaps = overlaps.max(axis=1, keepdims=True) - overlaps
        for first, last in pairwise(self.offsets):
            clusters, names = linear_sum_assignment(gaps[first:last])
            choice[first + clusters] = names
        return choice

    def votes(self, maps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how many partitions vote for each consensus cluster, a row per row."""
        names = np.zeros((len(maps), self.n_clusters))
        names[np.arange(len(maps)), maps] = 1.0
        return np.asarray(self.incidence @ names)

    def shares(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        return votes / self.n_labels[:, None]

    def dissimilarity(self, votes: NDArray[np.float64]) -> float:
        """Return the objective: Σ_x r(x) (m(x) - ‖votes(x)‖² / m(x)) / Σ_x r(x) m(x)."""
        distance = self.n_labels - np.square(votes).sum(axis=1) / self.n_labels
        return float(self.weights @ distance / (self.weights @ self.n_labels))


def _references(
    offsets: NDArray[np.int64], agreement: NDArray[np.float64], n_clusters: int
) -> NDArray[np.int64]:
    """Order the partitions as references: enough clusters, then mean agreement with all others."""
    enough = np.minimum(np.diff(offsets), n_clusters)
    return np.lexsort((-agreement.round(_DIGITS), -enough))


def _soft_agreement(soft: SoftEnsemble) -> NDArray[np.float64]:
    """Return the mean NMI of every soft partition with all, from joint probabilities of labels."""
    overlaps, clusters = soft_overlaps(soft), [slice(*ends) for ends in pairwise(soft.offsets)]
    agreement = np.eye(len(clusters))
    for i, own in enumerate(clusters):
        for j, other in enumerate(clusters[:i]):
            table = ContingencyTable.from_dense(overlaps[own, other])
            agreement[i, j] = agreement[j, i] = nmi_of(table, undivided=0.0)
    return np.asarray(agreement.mean(axis=1))


def _score(ballot: _Ballot, votes: NDArray[np.float64]) -> tuple[int, float]:
    """Return the number of clusters and their average NMI with the partitions; more is better."""
    labels = np.argmax(votes, axis=1)
    overlaps = np.asarray(ballot.weighted @ np.eye(votes.shape[1])[labels])
    total = score = 0.0
    for first, last in pairwise(ballot.offsets):
        table = ContingencyTable.from_dense(overlaps[first:last])
        score += table.total * nmi_of(table, undivided=0.0)
        total += table.total
    return len(np.unique(labels)), round(score / total, _DIGITS)


def _membership(
    ensemble: Ensemble | SoftEnsemble,
    labels: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a row per sample, with the columns in the order of `labels_`."""
    order = order_of_appearance(ensemble.expand(labels), shares.shape[1])
    return ensemble.expand(shares[:, order], np.nan)
