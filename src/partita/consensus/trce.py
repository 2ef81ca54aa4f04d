"""TRCE: a graph with K components, robust against bad partitions, links and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._threads import run_blocks
from partita._warn import warn_user
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, POSITIVE
from partita.ensemble import Ensemble
from partita.matrices import cluster_sizes, incidence
from partita.matrices.agreement import weighted_agreement
from partita.matrices.cluster_counts import group_coassociation
from partita.solvers.laplacian import LowSpectrum, low_spectrum
from partita.solvers.merge_split import merge_groups, split_groups
from partita.solvers.simplex_rows import divide_rows, project_rows
from partita.solvers.spectral import normalize_rows, spectral_embedding

__all__ = ["TRCE"]

_TOO_CONNECTED = 1e-9  # if the K smallest eigenvalues sum to more: fewer than K components
_TOO_SPLIT = 1e-11  # if the K + 1 smallest sum to less: more than K components
_PACE = 1.1  # growth of λ in an iteration
_EASY = 10  # in the first iteration one of so many samples has the weight 1
_NO_LOSS = 1e-12  # a divergence below this is rounding
_TINY = np.finfo(np.float64).eps
_SMALLEST = np.finfo(np.float64).tiny
_BLOCK = 64  # rows per block: its arrays stay in the cache


class TRCE(LearnedMatrixConsensus):
    """Tri-level robust clustering ensemble.

    A partition is a graph P⁽ᵏ⁾: a sample has the same link, 1/|c|, to all samples of its cluster
    c. TRCE learns a common graph B and a graph S near it with `n_clusters` connected components.
    Partitions, links and samples that disagree with the others lose their influence:

        Σ_k Σ_i w_i² KL(P⁽ᵏ⁾_i ‖ B_i) / α_k - λ Σ_i w_i + γ ‖S - B‖² + 2ρ tr(Fᵀ L_S F).

    Rows of B and S are on the simplex, and so is α; w is in [0, 1] and F orthonormal. Every
    iteration updates w, B, S, α and F in this order. λ grows, so that harder samples count later,
    and ρ grows until S has enough components.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=0.01
        Weight γ of the distance of S from B. With a large one ρ needs more iterations to part S.
        The paper searches 1e-5 to 1e5; the default had the best mean ARI of 0.001, 0.01, ..., 100
        on six pools of real partitions.
    max_iter : int, default=10
        Largest number of iterations, as in the authors' program.

    Attributes
    ----------
    n_components_ : int
        Connected components of S, where samples with equal labels stay together. If it differs
        from `n_clusters`, there is a warning, and components are merged or split.
    core_matrix_ : array of shape (n_distinct, n_distinct)
        S over distinct rows; its diagonal holds the links between different samples with equal
        labels. `consensus_matrix()` has a row per sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    sample_weights_ : array of shape (n_samples,)
        The final w, at most 1; low for samples on which the partitions disagree.
    alpha_ : array of shape (n_partitions,)
        Divergence of each partition from B, as a share of the total; a partition has weight 1/α.
    rho_ : float
        The final weight ρ of the connectedness.
    objective_ : float
        The final value of the objective above.
    history_ : array of shape (n_iter_,)
        The objective after each iteration. It may increase, since λ and ρ change and since B is
        updated as if S were B.
    converged_ : bool
        Whether S reached the requested rank within `max_iter` iterations.

    Notes
    -----
    Cost O(n'² m + n'³) per iteration and O(n'²) memory. Samples with equal labels are one row of
    weight r. Two of them can still have different entries in F, if K is so large that eigenvectors
    which part them are among the K smallest. The entry of a sample for itself then differs from
    that for its equals and is kept apart, which makes the reduction exact.

    Missing labels: a partition has no part in the terms of the samples that it does not label.

    Deviations from the paper and the authors' program:

    - The program computes the loss of a sample from the last partition only, since an index is not
      updated. Here all partitions count, as in the paper.
    - λ starts at twice the loss that a tenth of the samples do not exceed. Here these are samples
      with any loss. In the program, λ and most weights are 0 if every tenth sample has none.
    - The program returns as many clusters as S has components. Here, surplus components are merged
      by average linkage of their mean co-association. If there are too few, they are split by
      average linkage in the spectral embedding of S.
    - If the K-th smallest eigenvalue is multiple, F is not unique. Here all its eigenvectors count
      with the same fraction, so that the result does not depend on the order of rows.
    - The multiplier in the update of B is computed by Newton's method from a bound; the program's
      bracket fails from about 100 partitions.

    References
    ----------
    P. Zhou, L. Du, Y.-D. Shen, X. Li. Tri-level robust clustering ensemble with multiple graph
    learning. AAAI Conference on Artificial Intelligence 35(12), 2021.
    https://doi.org/10.1609/aaai.v35i12.17327

    Examples
    --------
    >>> from partita import TRCE
    >>> TRCE(n_clusters=2).fit_predict([[0, 0, 0, 1, 1, 1]] * 4 + [[0, 0, 1, 1, 1, 1]])
    array([0, 0, 0, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="trce",
        name="Tri-level robust clustering ensemble",
        family="learned matrix",
        cite="zhou2021b",
        missing="native",
        deterministic=True,
        time="n'² m + n'³ an iteration",
        memory="n'²",
        bytes_needed=lambda s: 40 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "gamma": POSITIVE,
        "max_iter": MAX_ITER,
    }

    def __init__(self, n_clusters: int = 8, *, gamma: float = 0.01, max_iter: int = 10) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.max_iter = max_iter

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        model = _Model(ensemble, self.n_clusters, self.gamma)
        converged = False
        while not converged and len(model.history) < self.max_iter:
            model.update_samples()
            model.update_graphs()
            model.update_partitions()
            has_rank = model.update_penalty()
            converged = has_rank and len(model.history) > 1
            report_progress("TRCE", len(model.history), self.max_iter)
        alpha = np.empty(ensemble.n_partitions)
        alpha[ensemble.partition_order] = model.alpha
        return Solution(
            self._labels(ensemble, model),
            objective=model.history[-1],
            n_iter=len(model.history),
            converged=converged,
            history=np.asarray(model.history),
            matrix=model.S,
            diagonal=model.S_itself - model.S.diagonal(),
            learned={
                "n_components_": model.spectrum.n_components,
                "sample_weights_": ensemble.expand(model.w, np.nan),
                "alpha_": alpha,
                "rho_": model.rho,
            },
        )

    def _labels(self, ensemble: Ensemble, model: _Model) -> NDArray[np.int64]:
        """Return the components of S, merged or split if there are not `n_clusters`."""
        n_components, component = model.spectrum.n_components, model.spectrum.component
        if n_components == self.n_clusters:
            return component
        too_many = n_components > self.n_clusters
        warn_user(
            f"The graph learned by TRCE has {n_components} connected components instead of "
            f"n_clusters={self.n_clusters}; they were {'merged' if too_many else 'split'}. A "
            f"{'larger' if too_many else 'smaller'} gamma (now {self.gamma:g}) or more iterations "
            f"(max_iter={self.max_iter}) may give n_clusters.",
        )
        if too_many:
            similarity = group_coassociation(ensemble, component, n_components)
            return merge_groups(component, similarity, ensemble.weights, self.n_clusters)
        _, vectors = spectral_embedding(model.S, ensemble.weights, self.n_clusters)
        return split_groups(component, normalize_rows(vectors), ensemble.weights, self.n_clusters)


class _Model:
    """The variables on distinct rows, and the steps of an iteration.

    A row of weight r stands for a sample and r - 1 others with the same labels. Matrices hold the
    entry that a sample of row a has for every sample of row b, on the diagonal for the others of
    its own row. The entry for the sample itself may differ and is in a vector.
    """

    def __init__(self, ensemble: Ensemble, n_clusters: int, gamma: float) -> None:
        n, m = ensemble.n_rows, ensemble.n_partitions
        self.ensemble = ensemble
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.r = ensemble.weights
        self.itself = np.minimum(self.r, 1.0)
        self.columns = incidence(ensemble).T.tocsr()
        self.sizes = cluster_sizes(ensemble)
        self.alpha = np.full(m, 1.0 / m)
        self.w = np.ones(n)
        self.lam = 0.0
        self.rho = 1.0
        self.history: list[float] = []
        mean = weighted_agreement(ensemble, 1.0 / self.sizes)
        mean /= ensemble.observed.sum(axis=1)[:, None]
        self.S = self.B = (mean + mean.T) / 2.0
        self.S_itself = self.B_itself = self.B.diagonal().copy()
        self.divergence = np.zeros((n, m))
        self._for_rows(self._measure)
        self.spectrum = self.F = self._low_spectrum()

    # -- samples and partitions --------------------------------------------------------------

    def update_samples(self) -> None:
        """Update the weights w of samples: 1 if 2 loss <= λ, less for larger losses."""
        loss = self.sample_losses()
        self.lam = _PACE * self.lam if self.history else 2.0 * self._easy_loss(loss)
        is_hard = 2.0 * loss > self.lam
        self.w = np.divide(self.lam, 2.0 * loss, out=np.ones(len(loss)), where=is_hard)

    def sample_losses(self) -> NDArray[np.float64]:
        """Return Σ_k KL(P⁽ᵏ⁾_i ‖ B_i) / α_k of every sample i."""
        return np.asarray(self.divergence @ (1.0 / self.alpha))

    def _easy_loss(self, loss: NDArray[np.float64]) -> float:
        """Return the loss that a tenth of the samples do not exceed; see the Notes of `TRCE`."""
        order = np.argsort(loss, kind="stable")
        order = order[loss[order] > 0]
        if not len(order):
            return 0.0
        reached = np.cumsum(self.r[order])
        return float(loss[order[np.searchsorted(reached, np.floor(reached[-1] / _EASY))]])

    def update_partitions(self) -> None:
        """Update α, the share of every partition in the total divergence from B."""
        root = np.sqrt((self.r * self.w**2) @ self.divergence)
        if root.sum() > 0:
            self.alpha = np.maximum(root / root.sum(), _TINY)

    # -- graphs ------------------------------------------------------------------------------

    def update_graphs(self) -> None:
        """Update B and S, and the divergences of the partitions from B."""
        strength = np.repeat(1.0 / self.alpha, np.diff(self.ensemble.offsets))
        self.B = weighted_agreement(self.ensemble, strength / self.sizes)
        self.B *= (self.w**2)[:, None]
        self.B_itself = self.B.diagonal().copy()
        self.S, self.S_itself = np.empty_like(self.B), np.empty_like(self.B_itself)
        self._for_rows(self._update_rows)
        self.S = self.S + self.S.T
        self.S *= 0.5

    def _update_rows(self, start: int, stop: int) -> None:
        rows, r = slice(start, stop), self._entry_weights(start, stop)
        penalty = self.rho * self._distances(start, stop)
        C = np.column_stack([self.B[rows], self.B_itself[rows]])
        B = divide_rows(C, penalty, r)
        S = project_rows(B - penalty / (2.0 * self.gamma), r)
        self.B[rows], self.B_itself[rows] = B[:, :-1], B[:, -1]
        self.S[rows], self.S_itself[rows] = S[:, :-1], S[:, -1]
        self._measure(start, stop)

    def _entry_weights(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return how many samples every entry of some rows stands for; the last is for itself."""
        r = np.tile(np.append(self.r, 0.0), (stop - start, 1))
        itself = self.itself[start:stop]
        r[np.arange(stop - start), np.arange(start, stop)] -= itself
        r[:, -1] = itself
        return r

    def _distances(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return ‖F_i - F_j‖² of some rows to all, and 0 for a sample to itself."""
        Y, lift = self.F.embedding, self.F.lift
        squares = np.sum(Y**2, axis=1)
        distance = np.zeros((stop - start, len(Y) + 1))
        between = distance[:, :-1]
        between += squares[start:stop, None] + squares
        between -= 2.0 * (Y[start:stop] @ Y.T)
        np.maximum(between, 0.0, out=between)
        between += lift[start:stop, None] + lift
        # The parts of r equal samples that sum to 0 have the inner product -1 / (r - 1) times their
        # squared length, the lift.
        lift, r = lift[start:stop], self.r[start:stop]
        apart = np.divide(2.0 * lift * r, r - 1.0, out=np.zeros(len(r)), where=lift > 0)
        between[np.arange(stop - start), np.arange(start, stop)] = apart
        return distance

    def _measure(self, start: int, stop: int) -> None:
        """Fill KL(P⁽ᵏ⁾_i ‖ B_i) of some rows: -ln|c| - Σ_{j in c} ln(B_ij) / |c| for i in c."""
        ensemble, rows, r = self.ensemble, slice(start, stop), self._entry_weights(start, stop)
        logs = np.log(np.maximum(np.column_stack([self.B[rows], self.B_itself[rows]]), _SMALLEST))
        logs *= r
        logs[np.arange(stop - start), np.arange(start, stop)] += logs[:, -1]
        sums = np.asarray(self.columns @ logs[:, :-1].T).T
        observed = ensemble.observed[rows]
        cluster = np.where(observed, ensemble.codes[rows], 0) + ensemble.offsets[:-1]
        size = self.sizes[cluster]
        divergence = -np.log(size) - np.take_along_axis(sums, cluster, axis=1) / size
        self.divergence[rows] = np.where(observed & (divergence > _NO_LOSS), divergence, 0.0)

    def _for_rows(self, update: Callable[[int, int], None]) -> None:
        run_blocks(update, len(self.r), _BLOCK)

    # -- components --------------------------------------------------------------------------

    def update_penalty(self) -> bool:
        """Update F, and ρ towards K components; return whether S has K."""
        self.spectrum = self._low_spectrum()
        self._record()
        if self.spectrum.sum_smallest > _TOO_CONNECTED:
            self.rho *= 2.0
        elif self.spectrum.sum_with_next < _TOO_SPLIT:
            self.rho /= 2.0
            return False  # F is not updated
        self.F = self.spectrum
        return self.spectrum.sum_smallest <= _TOO_CONNECTED

    def _low_spectrum(self) -> LowSpectrum:
        graph = sp.csr_matrix(np.triu(self.S, 1))
        equal = self.S.diagonal()
        return low_spectrum(graph, self.r, self.n_clusters, equal_edges=equal)

    def _record(self) -> None:
        """Append the objective."""
        r, w = self.r, self.w
        fit = float((r * w**2) @ self.divergence @ (1.0 / self.alpha) - self.lam * (r @ w))
        squares = (self.S - self.B) ** 2
        itself = (self.S_itself - self.B_itself) ** 2 - squares.diagonal()
        distance = float(r @ squares @ r + (r * self.itself) @ itself)
        self.history.append(
            fit + self.gamma * distance + 2.0 * self.rho * self.spectrum.sum_smallest
        )
