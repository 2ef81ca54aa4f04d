"""SPCE: complete the co-association matrix from easy pairs to hard ones."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita._warn import warn_user
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS, Interval, StrOptions
from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import group_overlaps
from partita.matrices.pairs import BLOCK, joined_pairs
from partita.solvers.laplacian import LowSpectrum, low_spectrum
from partita.solvers.merge_split import merge_groups, split_groups

__all__ = ["SPCE"]

_STAGES = ((0.9, 5), (0.8, 5), (0.7, 5), (0.6, 5), (0.5, 20))  # agreement r, most iterations
_N_ITER = sum(rounds for _, rounds in _STAGES)
_TOO_CONNECTED = 1e-9  # the K smallest eigenvalues sum to more: fewer than K components
_TOO_SPLIT = 1e-11  # the K + 1 smallest sum to less: more than K components
_TINY = np.finfo(np.float64).eps
_TRACE = np.dtype(
    [(n, np.float64) for n in ("r", "rho", "sum_smallest", "sum_with_next", "total", "n_nonzero")]
)


class SPCE(LearnedMatrixConsensus):
    """Self-paced clustering ensemble.

    Pairs on which all partitions agree are taken as they are; the others are filled in, easy pairs
    first, so that the matrix falls into `n_clusters` connected components:

        min Σ_i ‖(S - S⁽ⁱ⁾) ∘ W‖² / α_i - λ‖W‖₁ + γ‖S‖₀ + ρ tr(Yᵀ L_S Y),

    over S and W in [0, 1], α on the simplex and orthonormal Y. S⁽ⁱ⁾ is 1 where partition i joins a
    pair; W says how easy a pair is, and λ, the age of the model, lets in ever harder ones.

    Parameters
    ----------
    n_clusters : int
    theta : float in [0, 1]
        Sparsity: about the share of agreement below which a pair is parted, γ = (m theta)². The
        paper advises 0.2 to 0.6; its tables pick the value that suits the true classes best.
    pacing : {"self", "fixed", "none"}
        Learn W, keep its first value (the paper's SPCE-fixW), or set it to 1 (SPCE-W).

    Attributes
    ----------
    n_components_ : int
        Connected components of the learned matrix. Where it is not `n_clusters`, a warning says
        so and the components are merged or split.
    core_matrix_ : array of shape (n_distinct, n_distinct)
        S; `consensus_matrix()` has a row per sample.
    core_easiness_ : array of shape (n_distinct, n_distinct)
        W as it was last.
    alpha_ : array of shape (n_partitions,)
        Disagreement of each partition with S, as a share of all; it counts as 1/α.
    rho_ : float
        The last penalty on connectedness.
    history_ : array of shape (n_iter_,)
        The objective above after each iteration. It jumps where λ or ρ changes.
    trace_ : record array of shape (n_iter_,)
        Per iteration r and rho, the sums of the K and K + 1 smallest eigenvalues of L_S, and the
        sum and number of non-zero entries of S.
    converged_ : bool
        Whether the last stage ended because S had the rank wanted, before its 20 iterations.

    Notes
    -----
    Cost O(p (m + K) + Σ s³) an iteration for p pairs of distinct rows that some partition joins and
    components of s distinct rows; O(p + s²) memory instead of the paper's O(m n²), besides the two
    matrices kept.

    Where the print leaves it open this follows the authors' program: r falls from 0.9 to 0.5 with
    at most 5 iterations each, 20 for the last, and at least 2; the rank is judged by sums of
    eigenvalues, 1e-9 and 1e-11; Y stays what it was when ρ is halved. Deviations:

    - The program returns as many clusters as S has components. Here components too many are merged
      by average linkage of their mean co-association, and components too few split by average
      linkage of the squared distances in the embedding Y.
    - Where the K-th smallest eigenvalue is multiple, Y is not unique and the program's result
      depends on the order of rows. Here all its eigenvectors count with the same fraction.
    - A pair exactly on the threshold of (17) stays, where the program leaves it to rounding.
    - A partition that S reproduces exactly keeps an α of rounding size instead of 0.
    - Missing labels: a pair's sums run over the partitions that label both samples and are scaled
      to all; it is unanimous if these agree. A partition's disagreement is scaled from the pairs it
      labels to all pairs.

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
        bytes_needed=lambda s: 48 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "theta": [Interval(Real, 0, 1, closed="both")],
        "pacing": [StrOptions({"self", "fixed", "none"})],
    }

    def __init__(self, n_clusters: int = 8, *, theta: float = 0.3, pacing: str = "self") -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.pacing = pacing

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        model = _Model(ensemble, self.n_clusters, self.theta)
        for stage, (r, rounds) in enumerate(_STAGES):
            model.grow_older(r)
            if self.pacing == "self" or (self.pacing == "fixed" and stage == 0):
                model.update_weights()
            for iteration in range(rounds):
                model.update_matrix()
                has_rank = model.update_penalty()
                report_progress("SPCE", len(model.history), _N_ITER)
                if has_rank and iteration > 0:
                    break
        pairs, alpha = model.pairs, np.empty(ensemble.n_partitions)
        alpha[ensemble.partition_order] = model.alpha
        return Solution(
            self._labels(ensemble, model),
            objective=model.history[-1],
            n_iter=len(model.history),
            converged=has_rank,
            history=np.asarray(model.history),
            matrix=pairs.dense(model.S, diagonal=1.0, elsewhere=0.0),
            learned={
                "n_components_": model.spectrum.n_components,
                "core_easiness_": pairs.dense(model.W, diagonal=1.0, elsewhere=1.0),
                "alpha_": alpha,
                "rho_": model.rho,
                "trace_": np.array(model.trace, _TRACE),
            },
        )

    def _labels(self, ensemble: Ensemble, model: _Model) -> NDArray[np.int64]:
        """The components of S; merged or split where they are not n_clusters."""
        found, component = model.spectrum.n_components, model.spectrum.component
        if found == self.n_clusters:
            return component
        many = found > self.n_clusters
        warn_user(
            f"The matrix learned by SPCE has {found} connected components instead of "
            f"n_clusters={self.n_clusters}; they were {'merged' if many else 'split'}. A "
            f"{'smaller' if many else 'larger'} theta (now {self.theta}) may lead nearer.",
        )
        if many:
            similarity = _mean_coassociation(ensemble, component, found)
            return merge_groups(component, similarity, ensemble.weights, self.n_clusters)
        Y = model.low_spectrum(within_rows=False).embedding
        return split_groups(component, Y, ensemble.weights, self.n_clusters)


class _Model:
    """The unknowns of (10) on distinct rows, and the steps of Algorithm 1.

    S and W hold one value per pair that some partition joins; elsewhere S is 0 and W is 1.
    """

    def __init__(self, ensemble: Ensemble, n_clusters: int, theta: float) -> None:
        n, m = ensemble.n_rows, ensemble.n_partitions
        self.ensemble = ensemble
        self.pairs = joined_pairs(ensemble)
        self.n_clusters = n_clusters
        self.gamma = (m * theta) ** 2  # after (25)
        self.alpha = np.full(m, 1.0 / m)
        self.S = np.empty(len(self.pairs))
        self.W = np.ones(len(self.pairs))
        self.Y, self.lift = np.empty((n, 0)), np.zeros(n)
        # the share of all pairs of samples that each partition labels
        labeled = ensemble.weights @ ensemble.observed / ensemble.weights.sum()
        self.coverage = np.maximum(labeled, _TINY) ** 2
        self.history: list[float] = []
        self.trace: list[tuple[float, ...]] = []
        self._complete(rho=0.0, gamma=0.0)  # without penalties (17) is the co-association (2)
        self.rho = 1.0
        self.spectrum = self.low_spectrum()
        self.Y, self.lift = self.spectrum.embedding, self.spectrum.lift

    def grow_older(self, r: float) -> None:
        """(23): the age λ at which a pair with a share r of agreement is just easy."""
        self.r = r
        self.age = 2.0 * ((r - 1) ** 2 * r + r**2 * (1 - r)) * self.ensemble.n_partitions**2

    def update_weights(self) -> None:
        """W by (13)."""
        kernel, pattern, votes = _kernels.pairs.pace, self.pairs.pattern, self._votes()
        run_blocks(
            lambda start, stop: kernel(*votes, self.age, *pattern, self.S, start, stop, self.W),
            self.pairs.n_rows,
            BLOCK,
        )

    def update_matrix(self) -> None:
        """S by (17), the spectrum of its Laplacian for (18), α by (21)."""
        distance = np.sqrt(self._complete(self.rho, self.gamma))
        total = float(distance.sum())
        if total > 0:
            self.alpha = np.maximum(distance / total, _TINY)
        self.spectrum = self.low_spectrum()
        self._record(total)

    def update_penalty(self) -> bool:
        """Move ρ towards K components; whether S has the rank wanted already."""
        if self.spectrum.sum_smallest > _TOO_CONNECTED:
            self.rho *= 2.0
        elif self.spectrum.sum_with_next < _TOO_SPLIT:
            self.rho /= 2.0
            return False  # and Y stays what it was
        self.Y, self.lift = self.spectrum.embedding, self.spectrum.lift
        return self.spectrum.sum_smallest <= _TOO_CONNECTED

    def low_spectrum(self, *, within_rows: bool = True) -> LowSpectrum:
        """(18) and the rank of the Laplacian of S."""
        graph = self.pairs.upper(self.S).copy()
        graph.eliminate_zeros()
        weights = self.ensemble.weights
        return low_spectrum(graph, weights, self.n_clusters, within_rows=within_rows)

    def _votes(self) -> tuple[NDArray[Any], int, NDArray[np.float64]]:
        """The partitions, and how much each counts."""
        return self.ensemble.codes, self.ensemble.missing_code, 1.0 / self.alpha

    def _complete(self, rho: float, gamma: float) -> NDArray[np.float64]:
        """S by (16) and (17); returns d_i = ‖(S - S⁽ⁱ⁾) ∘ W‖²."""
        kernel, pattern, votes = _kernels.pairs.complete, self.pairs.pattern, self._votes()
        weights, pull = self.ensemble.weights, (self.Y, self.lift, rho, gamma)
        d = np.empty(self.ensemble.codes.shape)
        run_blocks(
            lambda start, stop: kernel(
                *votes, *pull, weights, *pattern, self.W, start, stop, self.S, d
            ),
            self.pairs.n_rows,
            BLOCK,
        )
        return np.asarray(2.0 * d.sum(axis=0) / self.coverage)

    def _record(self, total_distance: float) -> None:
        """The objective (10), with α at its optimum (20), and what the ranks were judged by."""
        r, pairs = self.ensemble.weights, self.pairs
        equal = float(r @ r)  # pairs of equal samples: S = W = 1
        easiness = float(r.sum()) ** 2 - pairs.total(1.0 - self.W, r)
        n_nonzero = equal + pairs.total((self.S > 0).astype(np.float64), r)
        low, with_next = self.spectrum.sum_smallest, self.spectrum.sum_with_next
        self.history.append(
            total_distance**2 - self.age * easiness + self.gamma * n_nonzero + self.rho * low
        )
        total = equal + pairs.total(self.S, r)
        self.trace.append((self.r, self.rho, low, with_next, total, n_nonzero))


def _mean_coassociation(
    ensemble: Ensemble, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """The share of partitions that join two samples, averaged over pairs of groups."""
    inside = np.zeros((ensemble.n_rows, n_groups))
    inside[np.arange(ensemble.n_rows), groups] = ensemble.weights
    labeled = ensemble.observed.T.astype(np.float64) @ inside
    clusters = group_overlaps(ensemble, groups, n_groups)
    return np.asarray(clusters.T @ clusters / np.maximum(labeled.T @ labeled, _TINY))
