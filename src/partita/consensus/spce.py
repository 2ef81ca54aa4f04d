"""SPCE: completion of the co-association matrix, from easy pairs to hard ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._threads import run_blocks
from partita._warn import warn_user
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import N_CLUSTERS, Interval, StrOptions
from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import group_coassociation
from partita.matrices.pairs import JoinedPairs, joined_pairs
from partita.metrics import anmi, pairwise_agreement
from partita.solvers.laplacian import LowSpectrum, low_spectrum
from partita.solvers.merge_split import merge_groups, split_groups

__all__ = ["SPCE"]

# agreement r and largest number of iterations of every stage
_STAGES = ((0.9, 5), (0.8, 5), (0.7, 5), (0.6, 5), (0.5, 20))
_N_ITER = sum(n for _, n in _STAGES)
_TOO_CONNECTED = 1e-9  # if the K smallest eigenvalues sum to more: fewer than K components
_TOO_SPLIT = 1e-11  # if the K + 1 smallest sum to less: more than K components
# With 14 of 20 votes and a threshold of 0.3 a pair is exactly on the threshold. Rounding must not
# decide: on a tie the pair stays.
_TIE = 1e-14
_MARGIN = 1e-9  # of a bound that leaves out pairs which are certainly below the threshold
_TINY = np.finfo(np.float64).eps
# theta="auto": candidates from the largest to the smallest, and the share of the best agreement
# that is enough
_THETAS = (0.5, 0.4, 0.3, 0.2)
_ENOUGH = 0.9
# Below this share of the partitions' agreement with each other, the clusters do not represent them.
_COLLAPSED = 0.5
_DIGITS = 12  # after the decimal point; smaller differences of agreement are rounding
_TRACE = np.dtype(
    [(n, np.float64) for n in ("r", "rho", "sum_smallest", "sum_with_next", "total", "n_nonzero")]
)


class SPCE(LearnedMatrixConsensus):
    """Self-paced clustering ensemble.

    Pairs on which all partitions agree are kept as they are. The others are completed, easy pairs
    first, such that the matrix has `n_clusters` connected components:

        min Σ_i ‖(S - S⁽ⁱ⁾) ∘ W‖² / α_i - λ‖W‖₁ + γ‖S‖₀ + ρ tr(Yᵀ L_S Y),

    over S and W in [0, 1], α on the simplex and orthonormal Y. S⁽ⁱ⁾ is 1 where partition i joins a
    pair; W is the easiness of a pair, and λ, the age of the model, admits harder pairs as it grows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    theta : float in [0, 1] or "auto", default=0.3
        Sparsity: approximately the share of agreement below which a pair is separated, γ = (m
        theta)². The paper recommends 0.2 to 0.6; its tables use the best value according to the
        true classes. "auto" fits 0.2, 0.3, 0.4 and 0.5 and keeps the smallest value whose clusters
        agree with the partitions (`metrics.anmi`) at least 0.9 times as well as the best, at four
        times the cost.
    pacing : {"self", "fixed", "none"}, default="self"
        Learn W, keep its first value (SPCE-fixW of the paper), or set it to 1 (SPCE-W).

    Attributes
    ----------
    n_components_ : int
        Connected components of the learned matrix. If it differs from `n_clusters`, there is a
        warning, and components are merged or split.
    theta_ : float
        The value of theta of this fit.
    theta_scores_ : dict
        Agreement with the partitions for each value that `theta="auto"` compared; only then.
    core_matrix_ : array of shape (n_distinct, n_distinct)
        S over distinct rows. `consensus_matrix()` has a row per sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    core_easiness_ : array of shape (n_distinct, n_distinct)
        The final W.
    alpha_ : array of shape (n_partitions,)
        Disagreement of each partition with S, as a share of the total; a partition has weight 1/α.
    rho_ : float
        The final weight ρ of the connectedness.
    objective_ : float
        The final value of the objective above.
    history_ : array of shape (n_iter_,)
        The objective after each iteration. It jumps where λ or ρ changes.
    trace_ : record array of shape (n_iter_,)
        Per iteration: r and rho, the sums of the K and K + 1 smallest eigenvalues of L_S, and the
        sum and number of non-zero entries of S.
    converged_ : bool
        Whether S reached the requested rank in the last stage, before its 20 iterations.

    Notes
    -----
    Cost O(p m / 8 + q K) per iteration for p pairs of distinct rows that some partition joins, of
    which q have enough votes to stay. The K smallest eigenvectors of a component of s distinct rows
    cost a sparse Cholesky factor and some solutions with it, O(s³) if the component is dense, as it
    is before the first iteration. Memory: O(p + s²) instead of O(m n²) in the paper, plus the two
    matrices that are kept.

    A theta that is too small for the partitions leaves one giant component and a few samples apart,
    often with the right number of components. There is a warning if the clusters agree with the
    partitions less than half as well as these do with each other, by NMI.

    Where the paper leaves a choice open, this follows the authors' program: r falls from 0.9 to 0.5
    with at most 5 iterations each, 20 for the last, and at least 2; the rank is judged by sums of
    eigenvalues, 1e-9 and 1e-11; Y is not updated when ρ is halved. Deviations:

    - The program returns as many clusters as S has components. Here, surplus components are merged
      by average linkage of their mean co-association, and if there are too few, they are split by
      average linkage of the squared distances in the embedding Y. Tables of the paper count all
      components: on WarpAR 50 to 60 for ten classes, with an NMI of 0.43 that ten clusters of the
      same matrix do not have (0.15).
    - If the K-th smallest eigenvalue is multiple, Y is not unique, and the result of the program
      depends on the order of rows. Here all its eigenvectors count with the same fraction.
    - A pair exactly at the threshold of (17) is kept; in the program this depends on rounding.
    - A partition that S reproduces exactly keeps an α of rounding size instead of 0.
    - `theta="auto"` is not in the paper. A small theta lets ρ decide more pairs, which is the
      method's strength until the matrix collapses; agreement with the partitions shows that. On
      the pools and sets of "Values chosen without the truth" in docs/papers/003-ec-cms.md it has a
      larger mean ARI than 0.3, and a smaller one on some of them.
    - Missing labels: the sums of a pair run over the partitions that label both samples and are
      scaled to all; the pair is unanimous if these agree. The disagreement of a partition is scaled
      from the pairs that it labels to all pairs.

    References
    ----------
    P. Zhou, L. Du, X. Liu, Y.-D. Shen, M. Fan, X. Li. Self-paced clustering ensemble. IEEE
    Transactions on Neural Networks and Learning Systems 32(4), 2021.
    https://doi.org/10.1109/TNNLS.2020.2984814

    Examples
    --------
    >>> from partita import SPCE
    >>> SPCE(n_clusters=2).fit_predict([[0, 0, 0, 1, 1, 1]] * 4 + [[0, 0, 1, 1, 1, 1]])
    array([0, 0, 0, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="spce",
        name="Self-paced clustering ensemble",
        family="learned matrix",
        cite="zhou2021",
        missing="pairwise",
        deterministic=True,
        time="n'² (m + K) + n'³ an iteration",
        memory="n'²",
        bytes_needed=lambda s: (48 + s.n_partitions // 4) * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "theta": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "pacing": [StrOptions({"self", "fixed", "none"})],
    }

    def __init__(
        self, n_clusters: int = 8, *, theta: float | str = 0.3, pacing: str = "self"
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.pacing = pacing

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        second_model = 8 if self.theta == "auto" else 0  # S and W of half of the pairs
        return (48 + second_model + size.n_partitions // 4) * size.n_rows**2

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        pairs = joined_pairs(ensemble)
        rows_as_samples = replace(ensemble, inverse=None)
        thetas = _THETAS if isinstance(self.theta, str) else (float(self.theta),)
        scores: dict[float, float] = {}
        for theta in thetas:
            candidate = _Model(ensemble, pairs, self.n_clusters, theta)
            self._learn(candidate, len(scores) * _N_ITER, len(thetas) * _N_ITER)
            labels_of_candidate = self._labels(ensemble, candidate)
            scores[theta] = round(anmi(rows_as_samples, labels_of_candidate), _DIGITS)
            # A later best is itself enough, so that the last candidate that was enough still is.
            if scores[theta] >= _ENOUGH * max(scores.values()):
                model, labels = candidate, labels_of_candidate
        self._warn(ensemble, model, scores)
        alpha = np.empty(ensemble.n_partitions)
        alpha[ensemble.partition_order] = model.alpha
        learned = {
            "theta_": model.theta,
            "n_components_": model.spectrum.n_components,
            "core_easiness_": pairs.dense(model.W, diagonal=1.0, elsewhere=1.0),
            "alpha_": alpha,
            "rho_": model.rho,
            "trace_": np.array(model.trace, _TRACE),
        }
        if isinstance(self.theta, str):
            learned["theta_scores_"] = scores
        return Solution(
            labels,
            objective=model.history[-1],
            n_iter=len(model.history),
            converged=model.has_rank,
            history=np.asarray(model.history),
            matrix=pairs.dense(model.S, diagonal=1.0, elsewhere=0.0),
            learned=learned,
        )

    def _learn(self, model: _Model, n_done: int, n_iter: int) -> None:
        """Run Algorithm 1, and report iterations as part of `n_iter`, after `n_done` of them."""
        for stage, (r, max_iter) in enumerate(_STAGES):
            model.set_age(r)
            if self.pacing == "self" or (self.pacing == "fixed" and stage == 0):
                model.update_weights()
            for iteration in range(max_iter):
                model.update_matrix()
                model.update_penalty()
                report_progress("SPCE", n_done + len(model.history), n_iter)
                if model.has_rank and iteration > 0:
                    break

    def _labels(self, ensemble: Ensemble, model: _Model) -> NDArray[np.int64]:
        """Return the components of S, merged or split if there are not `n_clusters`."""
        n_components, component = model.spectrum.n_components, model.spectrum.component
        if n_components == self.n_clusters:
            return component
        if n_components > self.n_clusters:
            similarity = group_coassociation(ensemble, component, n_components)
            return merge_groups(component, similarity, ensemble.weights, self.n_clusters)
        Y = model.low_spectrum(within_rows=False).embedding
        return split_groups(component, Y, ensemble.weights, self.n_clusters)

    def _warn(self, ensemble: Ensemble, model: _Model, scores: dict[float, float]) -> None:
        """Warn if S does not have `n_clusters` components, or if the clusters are useless."""
        n_components, theta = model.spectrum.n_components, model.theta
        if n_components != self.n_clusters:
            too_many = n_components > self.n_clusters
            warn_user(
                f"The matrix learned by SPCE has {n_components} connected components instead of "
                f"n_clusters={self.n_clusters}; they were {'merged' if too_many else 'split'}. A "
                f"{'smaller' if too_many else 'larger'} theta (now {theta:g}) may give a number "
                "nearer to n_clusters.",
            )
        m = ensemble.n_partitions
        if m == 1 or self.n_clusters == 1:
            return
        mutual = float(pairwise_agreement(ensemble).sum() - m) / (m * (m - 1))
        if scores[theta] < _COLLAPSED * mutual:
            warn_user(
                f"The clusters of SPCE agree with the partitions with an average NMI of "
                f"{scores[theta]:.2f}, the partitions with each other with {mutual:.2f}: the "
                f"learned matrix has collapsed. Raise theta (now {theta:g})"
                + ("." if isinstance(self.theta, str) else ', or use theta="auto".')
            )


class _Model:
    """The variables of (10) on distinct rows, and the steps of Algorithm 1.

    S and W hold one value per pair that some partition joins. Elsewhere S is 0 and W is 1. Most
    values of S are 0 whatever Y is, because too few partitions join the pair (17). Distances in Y
    and costs are computed for the others only.
    """

    def __init__(
        self, ensemble: Ensemble, pairs: JoinedPairs, n_clusters: int, theta: float
    ) -> None:
        m = ensemble.n_partitions
        self.ensemble = ensemble
        self.pairs = pairs
        self.n_clusters = n_clusters
        self.theta = theta
        self.gamma = (m * theta) ** 2  # after (25)
        self.alpha = np.full(m, 1.0 / m)
        self.S = np.empty(len(self.pairs))
        self.W = np.ones(len(self.pairs))
        # share of all pairs of samples that each partition labels
        labeled = ensemble.weights @ ensemble.observed / ensemble.weights.sum()
        self.coverage = np.maximum(labeled, _TINY) ** 2
        self.has_weights = bool((ensemble.weights != 1.0).any())
        self.has_rank = False
        self.history: list[float] = []
        self.trace: list[tuple[float, ...]] = []
        self.axes, self.lift = np.zeros((0, ensemble.n_rows)), np.zeros(ensemble.n_rows)
        self._set_parting_costs()
        self._complete(rho=0.0, gamma=0.0)  # without penalties (17) is the co-association (2)
        self.rho = 1.0
        self.spectrum = self.low_spectrum()
        self._embed()

    def set_age(self, r: float) -> None:
        """Set the age λ by (23), at which a pair with a share r of agreement is just easy."""
        self.r = r
        self.age = 2.0 * ((r - 1) ** 2 * r + r**2 * (1 - r)) * self.ensemble.n_partitions**2

    def update_weights(self) -> None:
        """Update W by (13): min(λ / 2B, 1), where B = Σ_i (S - S⁽ⁱ⁾)² / α_i is a pair's loss."""

        def update(pairs: slice) -> None:
            joining, total, unanimous = self.pairs.votes.sums(1.0 / self.alpha, pairs)
            # S⁽ⁱ⁾ is 0 or 1, so that the loss follows from two sums
            S = self.S[pairs]
            loss = total * S**2 - (2.0 * S - 1.0) * joining
            is_hard = ~unanimous & (2.0 * loss > self.age)
            self.W[pairs] = np.divide(self.age, 2.0 * loss, out=np.ones(len(S)), where=is_hard)

        self._for_pairs(update)
        self._set_parting_costs()

    def update_matrix(self) -> None:
        """Update S by (17), the spectrum of its Laplacian for (18), and α by (21)."""
        distance = np.sqrt(self._complete(self.rho, self.gamma))
        total = float(distance.sum())
        if total > 0:
            self.alpha = np.maximum(distance / total, _TINY)
        self.spectrum = self.low_spectrum()
        self._record(total)

    def update_penalty(self) -> None:
        """Change ρ towards K components; set whether S has the requested rank."""
        too_connected = self.spectrum.sum_smallest > _TOO_CONNECTED
        too_split = not too_connected and self.spectrum.sum_with_next < _TOO_SPLIT
        self.has_rank = not (too_connected or too_split)
        if too_connected:
            self.rho *= 2.0
        elif too_split:
            self.rho /= 2.0
        if not too_split:  # otherwise the previous Y is kept
            self._embed()

    def low_spectrum(self, *, within_rows: bool = True) -> LowSpectrum:
        """Return the low spectrum of the Laplacian of S, for (18) and its rank."""
        weights = self.ensemble.weights
        return low_spectrum(self.graph, weights, self.n_clusters, within_rows=within_rows)

    def _embed(self) -> None:
        """Take the embedding Y from the spectrum, one axis per row."""
        self.axes = np.ascontiguousarray(self.spectrum.embedding.T)
        self.lift = self.spectrum.lift

    def _distances(self, a: NDArray[np.int64], b: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the squared distances of rows a and b in the embedding Y."""
        total = self.lift[a] + self.lift[b]
        for y in self.axes:
            total += np.square(y[a] - y[b])
        return np.asarray(total)

    def _set_parting_costs(self) -> None:
        """Compute what depends on W only: d_i for S = 0, and the sum of W for the objective."""
        costs = {}

        def update(pairs: slice) -> None:
            scale = self._scale(pairs, self.pairs.rows(pairs))
            costs[pairs.start] = self.pairs.votes.costs(np.zeros_like(scale), scale, pairs)

        self._for_pairs(update)
        self.parting_costs = _sum_in_order(costs, self.ensemble.n_partitions)
        r = self.ensemble.weights
        self.easiness = float(r.sum()) ** 2 - self.pairs.total(1.0 - self.W, r)

    def _scale(self, pairs: Any, rows: tuple[Any, Any]) -> NDArray[np.float64]:
        """Return W² times the number of pairs of samples; 0 if all partitions join the pair."""
        scale = np.square(self.W[pairs])
        if self.has_weights:
            scale *= self.ensemble.weights[rows[0]] * self.ensemble.weights[rows[1]]
        scale[self.pairs.votes.unanimous[pairs]] = 0.0
        return np.asarray(scale)

    def _complete(self, rho: float, gamma: float) -> NDArray[np.float64]:
        """Update S by (16) and (17), and its graph; return d_i = ‖(S - S⁽ⁱ⁾) ∘ W‖²."""
        strength, costs = 1.0 / self.alpha, {}
        votes = self.pairs.votes

        def update(pairs: slice) -> None:
            joining, total, unanimous = votes.sums(strength, pairs)
            # S can only be positive if it is for the distance 0
            bound = np.sqrt(gamma * total)
            bound *= 1.0 - _MARGIN
            positive = np.flatnonzero((joining * self.W[pairs] >= bound) | unanimous)
            some = positive + pairs.start
            a, b = self.pairs.rows(pairs)
            a, b = a[positive], b[positive]
            joining, total, W = joining[positive], total[positive], self.W[some]
            S = (joining - 0.5 * rho * (self._distances(a, b) / np.square(W))) / total
            least = np.sqrt(gamma / total) * (1.0 - _TIE) / W
            S[least > S] = 0.0
            np.minimum(S, 1.0, out=S)
            S[unanimous[positive]] = 1.0
            self.S[pairs] = 0.0
            self.S[some] = S
            # (S - S⁽ⁱ⁾)² is S² for a partition that parts the pair, S² + 1 - 2 S for one that joins
            parted = self._scale(some, (a, b)) * S
            costs[pairs.start] = votes.costs(parted * S, -2.0 * parted, some)

        self._for_pairs(update)
        self.graph = self.pairs.upper(self.S).copy()
        self.graph.eliminate_zeros()
        total = self.parting_costs + _sum_in_order(costs, self.ensemble.n_partitions)
        # rounding can make the difference of equal sums negative
        return np.asarray(2.0 * np.maximum(total, 0.0) / self.coverage)

    def _for_pairs(self, update: Callable[[slice], None]) -> None:
        """Call a function for all blocks of pairs, on the configured threads."""
        blocks = self.pairs.blocks()
        run_blocks(lambda i, _: update(blocks[i]), len(blocks), 1)

    def _record(self, total_distance: float) -> None:
        """Append the objective (10), with the optimal α of (20), and a row of the trace."""
        r, graph = self.ensemble.weights, self.graph
        equal = float(r @ r)  # pairs of equal samples: S = W = 1
        total = equal + 2.0 * float(r @ (graph @ r))
        edges = sp.csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr), graph.shape)
        n_nonzero = equal + 2.0 * float(r @ (edges @ r))
        low, with_next = self.spectrum.sum_smallest, self.spectrum.sum_with_next
        self.history.append(
            total_distance**2 - self.age * self.easiness + self.gamma * n_nonzero + self.rho * low
        )
        self.trace.append((self.r, self.rho, low, with_next, total, n_nonzero))


def _sum_in_order(parts: dict[int, NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Return the sum of vectors of length n, in the order of their keys."""
    return np.asarray(sum((parts[start] for start in sorted(parts)), np.zeros(n)))
