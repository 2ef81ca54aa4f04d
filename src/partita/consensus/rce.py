"""RCE: a low-rank consensus matrix, learned together with the errors of the partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import check_connective_matrices, check_n_clusters, random_generator
from partita._memory import require_memory
from partita._threads import blas_threads_for
from partita._warn import warn_user
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, N_INIT, POSITIVE, RANDOM_STATE, TOL
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import ConvergenceWarning, InvalidEnsembleError, NotSupportedError
from partita.matrices.agreement import agreement_counts, coobserved_counts, expand_pairs
from partita.matrices.soft import SoftConnections
from partita.solvers import discretize, spectral_embedding
from partita.solvers.evidence import (
    Evidence,
    Matrix,
    SoftMatrices,
    Votes,
    entry_errors,
    error_band,
    row_blocks,
)
from partita.solvers.inverse_root import InverseRoot
from partita.solvers.robust_consensus import (
    RankTerm,
    divergence,
    remove_errors,
    update_consensus,
)

__all__ = ["RCE"]

_UPDATES = 20  # largest number of updates of Ã per pass, as in the published program


class RCE(LearnedMatrixConsensus):
    """Robust clustering ensemble.

    Partitions contain errors. Each connective matrix A⁽ⁱ⁾ (1 where partition i joins a pair, 0
    where it separates it) is corrected by a sparse error E⁽ⁱ⁾, and a low-rank matrix of
    probabilities Ã is fitted to the corrected matrices,

        min Σ_i Σ_pq KL(Ã_pq, A⁽ⁱ⁾_pq - E⁽ⁱ⁾_pq) + λ₁ Σ_i ‖E⁽ⁱ⁾‖₁ + λ₂ ‖Ã‖_*     (2)

    alternating between E, Ã and a matrix S that represents the nuclear norm. Labels come from the
    spectral embedding of (Ã + Ãᵀ)/2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lambda1 : float, default=1.0
        Weight of the errors: the smaller, the more of a partition is treated as error. The paper
        searches 1e-4 to 1e4 and finds a wide range of similar results.
    lambda2 : float, default=1.0
        Weight of the nuclear norm.
    mu : float, default=0.001
        Small constant that keeps S invertible.
    max_iter : int, default=20
        Largest number of passes over E, Ã and S, with up to 20 updates of Ã each.
    tol : float, default=0.001
        The passes stop when one lowers the objective by less than this share of it. The updates of
        Ã within a pass stop by the same rule. With 0 all `max_iter` x 20 updates are run, as in the
        published program, and `converged_` is False.
    n_init : int, default=10
        Random initializations of the discretization; the best one wins.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of these initializations. An int gives the same result in every call.

    Attributes
    ----------
    objective_ : float
        The value of (2) with 2 tr((ÃÃᵀ + μI)^½) for the nuclear norm.
    history_ : array of shape (n_iter_,)
        The objective after each pass; it never increases.
    partition_errors_ : array of shape (n_partitions,)
        ‖E⁽ⁱ⁾‖₁: how much of each partition (or matrix) is treated as error.
    core_matrix_ : array of shape (n_distinct, n_distinct)
        (Ã + Ãᵀ)/2 over distinct rows. `consensus_matrix()` has a row per sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.

    Notes
    -----
    Cost for n' distinct rows: two n' x n' products per update of Ã, 4 n'³ operations, and one
    eigendecomposition per pass. Ã has full rank and is not sparse, and the products need the signed
    parts of S⁻¹, so that no factor of low rank replaces them. From 1000 rows on the updates after
    the first one of a pass multiply the change of Ã, in single precision, half of the time; the
    result differs by less than 1e-8. One core of 50 GFlop/s takes 0.7 s for a pass and its 4 or 5
    updates at n' = 1000 and 6 s at n' = 2000; 17 passes at n' = 5000 take about half an hour.
    Memory is six n' x n' arrays for any number of partitions (the paper needs O(m n²)): a pair has
    only two different errors, one for the partitions that join it and one for those that separate
    it.

    Missing labels: sums run over the partitions that label both samples. A pair that no partition
    labels stays at 0, as in the co-association matrix.

    Soft connective matrices, for example from fuzzy clusterings, are fused by `fit_matrices`. The
    errors E⁽ⁱ⁾ of one partition or matrix are returned by `error_matrix`.

    Soft partitions: the connective matrices are P⁽ⁱ⁾ P⁽ⁱ⁾ᵀ.

    Deviations from the paper. Those of the authors' own program, whose output is reproduced: pairs
    on which all partitions agree, and the diagonal, are not changed; the order is E, Ã, S, with S⁻¹
    = 0 in the first pass; 20 updates of Ã per pass; λ₂ is the weight of tr(ÃᵀS⁻¹Ã) + tr(S), twice
    the norm; Yu-Shi discretization. Ours: the early stop by `tol`, and the best of `n_init`
    discretizations.

    References
    ----------
    P. Zhou, L. Du, H. Wang, L. Shi, Y.-D. Shen. Learning a robust consensus matrix for clustering
    ensemble via Kullback-Leibler divergence minimization. IJCAI 2015, 4112-4118.

    Examples
    --------
    >>> from partita import RCE
    >>> RCE(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rce",
        name="Robust clustering ensemble",
        family="learned matrix",
        cite="zhou2015",
        missing="pairwise",
        deterministic=False,
        soft=True,
        time="n'³ per update",
        memory="n'²",
        bytes_needed=lambda s: 48 * s.n_rows**2 + 8192 * s.n_rows,  # the latter: blocks of rows
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "lambda1": POSITIVE,
        "lambda2": POSITIVE,
        "mu": POSITIVE,
        "max_iter": MAX_ITER,
        "tol": TOL,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    _error_weight: float
    _is_fitted_to_matrices: bool

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lambda1: float = 1.0,
        lambda2: float = 1.0,
        mu: float = 1e-3,
        max_iter: int = 20,
        tol: float = 1e-3,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.mu = mu
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def fit_matrices(self, matrices: Any) -> Self:
        """Fuse soft connective matrices instead of partitions.

        Parameters
        ----------
        matrices : array of shape (n_matrices, n_samples, n_samples), or a sequence of matrices
            Entry (p, q) of each is the probability that p and q belong together: symmetric, in
            [0, 1]. NaN is a missing entry: sums run over the matrices that have the entry, and a
            pair without an entry in any matrix stays at 0. The matrices are read once per pass and
            never copied as a whole, so that they may be memory maps.

        Returns
        -------
        self
            Fitted as by `fit`; every sample is a row of its own.
        """
        self._validate_params()
        stack = check_connective_matrices(matrices)
        n = len(stack[0])
        check_n_clusters(self.n_clusters, n)
        size = Size(n, len(stack), len(stack), self.n_clusters)
        require_memory(self.info.bytes_needed(size), f"RCE on {n} samples")
        samples = np.arange(n)
        if n == self.n_clusters:
            solution = Solution(samples, n_iter=0)
        else:
            evidence = SoftMatrices.of(stack)
            _check_samples(evidence)
            rng = random_generator(self.random_state)
            with blas_threads_for(n):
                solution = self._fuse(
                    evidence, rng, evidence.error_norms, is_fitted_to_matrices=True
                )
        self._set_result(replace(Ensemble.from_codes(samples[:, None]), inverse=samples), solution)
        return self

    def error_matrix(self, partition: Any) -> Matrix:
        """Return the errors E⁽ⁱ⁾ of one partition, with a row per sample, within the memory budget.

        The errors are those for the final consensus matrix, as in `partition_errors_`, which holds
        the sums of their absolute values. Entry (p, q) is positive where the partition joins p and
        q and the consensus does so less, negative where it separates them and the consensus does
        so less, and 0 where the partition does not label both.

        Parameters
        ----------
        partition : int, or array of shape (n_samples, n_samples)
            Number of the partition, after `fit`. After `fit_matrices`, which does not keep the
            matrices, the connective matrix itself.

        Returns
        -------
        array of shape (n_samples, n_samples)
        """
        check_is_fitted(self)
        if self.core_matrix_ is None:
            raise NotSupportedError("No errors: every distinct row became a cluster of its own.")
        n = len(self.core_matrix_)
        require_memory(8 * n * n, f"The {n} x {n} matrix of errors")
        if not self._is_fitted_to_matrices:
            return expand_pairs(self._errors_of_partition(partition), self._core)
        if np.ndim(partition) == 0:
            raise TypeError(
                "error_matrix needs the connective matrix itself after fit_matrices, which does "
                f"not keep the matrices, got {partition!r}."
            )
        (matrix,) = check_connective_matrices([partition], "partition")
        if len(matrix) != n:
            raise ValueError(f"partition must have shape ({n}, {n}), got {matrix.shape}.")
        errors = np.empty((n, n))
        for rows, low, _, high, _ in self._bands():
            errors[rows] = entry_errors(matrix[rows], low, high)
        return errors

    def _errors_of_partition(self, partition: Any) -> Matrix:
        """Return the errors over distinct rows."""
        core: Any = self._core
        m = core.n_partitions
        if not isinstance(partition, int | np.integer) or not 0 <= partition < m:
            raise ValueError(
                f"partition must be the number of a partition, 0 to {m - 1}, got {partition!r}."
            )
        if isinstance(core, SoftEnsemble):
            entries, errors = SoftConnections(core, int(partition)), np.empty((core.n_rows,) * 2)
            for rows, low, _, high, _ in self._bands():
                errors[rows] = entry_errors(entries[rows], low, high)
            return errors
        column = int(np.flatnonzero(core.partition_order == partition)[0])
        label, is_labeled = core.codes[:, column], core.observed[:, column]
        errors = np.empty((core.n_rows, core.n_rows))
        for rows, low, _, _, not_high in self._bands():
            errors[rows] = np.where(label[rows, None] == label, not_high, -low)
        errors *= is_labeled[:, None]
        errors *= is_labeled
        return errors

    def _bands(self) -> Iterator[tuple[slice, Matrix, Matrix, Matrix, Matrix]]:
        """Yield blocks of rows with the bands of cleaned entries for the fitted consensus."""
        assert self.core_matrix_ is not None
        for rows in row_blocks(len(self.core_matrix_)):
            yield rows, *error_band(2.0 * self.core_matrix_[rows], self._error_weight)

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        m = ensemble.n_partitions
        joined = agreement_counts(ensemble, np.min_scalar_type(m))
        observed = coobserved_counts(ensemble, joined.dtype) if ensemble.n_missing else None
        votes = Votes.of(joined, observed, m, ensemble.weights)
        return self._fuse(votes, rng, partial(_partition_errors, ensemble))

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        matrices = [SoftConnections(soft, i) for i in range(soft.n_partitions)]
        evidence = SoftMatrices.of(matrices, soft.weights)
        return self._fuse(evidence, rng, evidence.error_norms)

    def _fuse(
        self,
        evidence: Evidence,
        rng: np.random.Generator,
        error_norms: Callable[[Matrix, float], NDArray[np.float64]],
        *,
        is_fitted_to_matrices: bool = False,
    ) -> Solution:
        A, history, converged = self._learn(evidence)
        if self.tol > 0 and not converged:
            warn_user(
                f"RCE stopped after max_iter={self.max_iter} passes, the last of which lowered the "
                f"objective by more than tol={self.tol:g} of it. Raise max_iter or tol; tol=0 runs "
                "a fixed number of passes.",
                ConvergenceWarning,
            )
        W = A + A.T
        del A
        W *= 0.5
        weights = evidence.weights
        _, vectors = spectral_embedding(W, weights, self.n_clusters)
        # sort, so that the random initializations do not depend on the order of the samples
        order = np.argsort((W @ weights).astype(np.float32), kind="stable")
        labels = np.empty(len(W), np.int64)
        labels[order] = discretize(vectors[order], weights[order], rng, n_init=self.n_init)
        return Solution(
            labels,
            objective=history[-1],
            n_iter=len(history),
            converged=converged,
            history=np.asarray(history),
            matrix=W,
            learned={
                "partition_errors_": error_norms(W, self.lambda1),
                "_error_weight": float(self.lambda1),
                "_is_fitted_to_matrices": is_fitted_to_matrices,
            },
        )

    def _learn(self, evidence: Evidence) -> tuple[Matrix, list[float], bool]:
        """Run Algorithm 1; return Ã, the objective after each pass, and whether `tol` was met."""
        A = evidence.start()
        S: InverseRoot | None = None  # S⁻¹ = 0 in the first pass
        history: list[float] = []
        for t in range(self.max_iter):
            C, error_cost = remove_errors(evidence, A, self.lambda1)
            fixed = error_cost + self._rank_cost(S)
            before, term = np.inf, RankTerm(S, self.lambda2)
            for step in range(_UPDATES):
                energy = update_consensus(evidence, A, C, term)
                report_progress("RCE", t * _UPDATES + step + 1, self.max_iter * _UPDATES)
                if self._has_converged(before, fixed + energy):
                    break
                before = fixed + energy
            del S, term  # free memory for the decomposition
            fit = error_cost + divergence(evidence, A, C)
            del C
            S = InverseRoot.of(A, evidence.weights, self.mu)
            # tr(ÃᵀS⁻¹Ã) + tr(S) + μ tr(S⁻¹) is 2 tr(S) at the best S, eq. (6)
            history.append(fit + 2.0 * self.lambda2 * S.root_trace)
            if t > 0 and self._has_converged(history[-2], history[-1]):
                return A, history, True
        return A, history, False

    def _rank_cost(self, S: InverseRoot | None) -> float:
        """Return the terms of the objective with S alone: λ₂ (tr(S) + μ tr(S⁻¹))."""
        return 0.0 if S is None else self.lambda2 * (S.root_trace + self.mu * S.inverse_trace)

    def _has_converged(self, before: float, after: float) -> bool:
        return self.tol > 0 and before - after <= self.tol * abs(after)


def _check_samples(evidence: Evidence) -> None:
    """Raise if a sample has no entry in any matrix."""
    without = np.flatnonzero(~evidence.seen.any(axis=1))
    if len(without):
        raise InvalidEnsembleError(
            f"matrices have no entry, only NaN, for {len(without)} of {len(evidence.seen)} samples "
            f"(first: sample {without[0]}). Drop these samples."
        )


def _partition_errors(ensemble: Ensemble, W: Matrix, lambda1: float) -> NDArray[np.float64]:
    """Return ‖E⁽ⁱ⁾‖₁ in the order of the input.

    The error is 1 - high for the pairs that partition i joins and low for those it separates.
    """
    errors = np.zeros(ensemble.n_partitions)
    weights = ensemble.weights[:, None] * ensemble.observed
    for rows in row_blocks(len(W)):
        low, _, _, not_high = error_band(2.0 * W[rows], lambda1)
        for i, label in enumerate(ensemble.codes.T):
            error = np.where(label[rows, None] == label, not_high, low)
            errors[ensemble.partition_order[i]] += weights[rows, i] @ error @ weights[:, i]
    return errors
