"""BCE: a Bayesian mixed-membership model of base labels, fitted by variational EM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln, psi, zeta

from partita._numbering import order_of_appearance
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE,
    RANDOM_STATE,
    StrOptions,
)
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices.cluster_counts import group_overlaps
from partita.solvers.label_kmeans import single_run

__all__ = ["BCE"]

_SMOOTHING = 1e-6  # of counts, so that no probability is 0
_ALPHA_START, _BLUR = 0.1, 0.1  # initial α; count of every label, as a share of the cluster's size
_ROW_TOL = 1e-2  # the E-step of a row ends when γ changes by less than this share
_ROW_ITER = 20  # largest number of updates of a row in one E-step
_NEWTON_TOL = 1e-8  # the update of α ends when no entry changes by more than this share
_NEWTON_ITER = 100
_ROUNDING = 1e-13  # by which the computed bound may decrease
_ALPHA_MIN, _ALPHA_MAX = 1e-6, 1e6  # keeps digamma functions and their sums accurate
_ENTRIES = 1 << 17  # probabilities per block of rows, which stay in the cache


class BCE(BaseConsensus):
    """Bayesian cluster ensemble.

    A mixed-membership model of the labels. Sample x has shares θ_x of the consensus clusters 1..K,
    drawn from a Dirichlet distribution. For every partition j it draws a cluster z from θ_x, and
    then its label from the distribution of labels that this cluster has in the partition:

        θ_x ~ Dirichlet(α),  z_xj ~ θ_x,  label_xj ~ β_j[·, z_xj].

    Variational EM maximizes a lower bound of the likelihood over α, β and, for every sample, a
    Dirichlet distribution with parameters γ_x and label-wise memberships φ. The consensus cluster
    of a sample is the largest entry of γ_x.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. Some can vanish during the fit, with a warning.
    n_init : int, default=10
        Restarts; the largest bound wins. The bound has many local maxima.
    max_iter : int, default=1000
        Largest number of iterations of one restart.
    tol : float, default=1e-05
        A restart ends when an iteration raises the bound by less than this share of it.
    init : {"k-means", "random"}, default="k-means"
        Initial β: the labels in the clusters of a k-means consensus, or uniform random numbers as
        in the paper, which reach smaller bounds and lose more clusters.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initialization. An int gives the same result in every call.

    Attributes
    ----------
    membership_ : array of shape (n_samples, n_clusters)
        Expected shares γ_x / Σγ_x. Rows sum to 1; column k belongs to cluster k of `labels_`, and
        clusters without a sample come last. NaN for samples without any label.
    alpha_ : array of shape (n_clusters,)
        Parameters of the Dirichlet distribution: the smaller, the clearer are the memberships.
        Not set if every distinct row is a cluster.
    objective_ : float
        The bound of the log-likelihood, plus the term that stands for smoothing.
    history_ : array of shape (n_iter_,)
        The bound after the E-step of every iteration of the best restart. It never decreases.

    Notes
    -----
    Cost O(n' m K) for an update of all memberships, and O(n' K + L K) memory for n' distinct rows
    and L base clusters. Sums over samples become weighted sums over distinct rows, which is exact.

    A missing label is not drawn: it has no term in the bound. No label is imputed.

    Deviations from the paper and the authors' program:

    - The E-step continues from the γ of the iteration before, at most 20 updates each, instead of
      starting anew. With that no iteration decreases the bound.
    - Expected counts get 1e-6 added, as in the program. The term 1e-6 Σ ln β, for which this is
      optimal, is part of the bound here.
    - Restarts, an initialization by k-means, and a stop by the bound instead of by the change of β.
    - α stays between 1e-6 and 1e6.

    References
    ----------
    H. Wang, H. Shan, A. Banerjee. Bayesian cluster ensembles. Statistical Analysis and Data Mining
    4(1), 2011. https://doi.org/10.1002/sam.10098

    Examples
    --------
    >>> from partita import BCE
    >>> method = BCE(n_clusters=2, random_state=0)
    >>> method.fit_predict([[0, 0, 0, 1, 1, 1]] * 4 + [[0, 0, 1, 1, 1, 1]])
    array([0, 0, 0, 1, 1, 1])
    >>> method.membership_.shape
    (6, 2)
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="bce",
        name="Bayesian cluster ensemble",
        family="probabilistic",
        cite="wang2011",
        missing="native",
        deterministic=False,
        time="n' m K per iteration",
        memory="n' K + L K",
        bytes_needed=lambda s: (
            s.n_rows * (24 * s.n_clusters + 2 * s.n_partitions)
            + 40 * s.n_base_clusters * s.n_clusters
            + 40 * min(s.n_rows * s.n_partitions * s.n_clusters, _ENTRIES)
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
        "init": [StrOptions({"k-means", "random"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 1e-5,
        init: str = "k-means",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        problem = _Problem(ensemble)
        best: _Fit | None = None
        for restart, child in enumerate(rng.spawn(self.n_init)):
            report_progress("BCE", restart, self.n_init)
            start = problem.cluster if self.init == "k-means" else problem.draw
            fit = self._maximize(problem, *start(self.n_clusters, child))
            if best is None or fit.history[-1] > best.history[-1]:
                best = fit
        report_progress("BCE", self.n_init, self.n_init)
        assert best is not None
        if not best.converged:
            warn_not_converged(
                "BCE",
                self.max_iter,
                f"while the bound still grew by more than a share of tol={self.tol:g}. Raise one "
                "of them.",
            )
        labels = np.argmax(best.gamma, axis=1)
        order = order_of_appearance(ensemble.expand(labels), self.n_clusters)
        share = best.gamma[:, order]
        share /= share.sum(axis=1, keepdims=True)
        return Solution(
            labels,
            objective=best.history[-1],
            n_iter=len(best.history),
            converged=best.converged,
            history=np.asarray(best.history),
            learned={"membership_": ensemble.expand(share, np.nan), "alpha_": best.alpha[order]},
        )

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        labels = np.arange(core.n_rows)
        order = order_of_appearance(core.expand(labels), self.n_clusters)
        share = np.eye(core.n_rows, self.n_clusters)[:, order]
        return Solution(labels, n_iter=0, learned={"membership_": core.expand(share, np.nan)})

    def _maximize(
        self, problem: _Problem, alpha: NDArray[np.float64], beta: NDArray[np.float64]
    ) -> _Fit:
        """Alternate between the E-step and the M-step, from α and β."""
        gamma = alpha + problem.n_labels[:, None] / len(alpha)
        history: list[float] = []
        converged = False
        while True:
            bound, counts = problem.expect(alpha, beta, gamma)
            converged = bool(history) and bound - history[-1] <= self.tol * abs(bound)
            history.append(bound)
            if converged or len(history) == self.max_iter:
                return _Fit(alpha, beta, gamma, history, converged)
            beta = problem.distributions(counts)
            alpha = problem.concentrate(alpha, gamma)


@dataclass(frozen=True)
class _Fit:
    """Parameters α and β, variational parameters γ, and the bound after every E-step."""

    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    gamma: NDArray[np.float64]
    history: list[float] = field(default_factory=list)
    converged: bool = False


class _Problem:
    """The steps of variational EM on weighted rows.

    β has a row per base cluster and a column per consensus cluster. Its columns sum to 1 within the
    clusters of every partition.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.r = ensemble.weights
        self.n = float(self.r.sum())
        self.n_labels = ensemble.observed.sum(axis=1).astype(np.float64)
        self.smoothing = _SMOOTHING * min(self.n, 1.0)
        self._all: _Columns | None = None

    def draw(
        self, n_clusters: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return random α and β."""
        alpha = rng.uniform(_SMOOTHING, 1.0, n_clusters)
        beta = rng.uniform(_SMOOTHING, 1.0, (self.ensemble.n_base_clusters, n_clusters))
        return alpha, self._normalize(beta)

    def cluster(
        self, n_clusters: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return α, and β from the labels in the clusters of a k-means consensus."""
        groups = single_run(self.ensemble, n_clusters, rng).astype(np.int64)
        overlaps = group_overlaps(self.ensemble, groups, n_clusters)
        sizes = np.bincount(groups, self.r, n_clusters)
        beta = overlaps + _BLUR * np.maximum(sizes, self.smoothing)
        return np.full(n_clusters, _ALPHA_START), self._normalize(beta)

    def _normalize(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        starts = self.ensemble.offsets[:-1]
        sums = np.add.reduceat(table, starts, axis=0)
        return np.asarray(table / np.repeat(sums, np.diff(self.ensemble.offsets), axis=0))

    def distributions(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the β that maximizes the bound: smoothed shares of expected counts."""
        return self._normalize(counts + self.smoothing)

    # -- E-step ------------------------------------------------------------------------------

    def expect(
        self,
        alpha: NDArray[np.float64],
        beta: NDArray[np.float64],
        gamma: NDArray[np.float64],
    ) -> tuple[float, NDArray[np.float64]]:
        """Update γ in place; return the bound and Σ_x r φ for every base and consensus cluster."""
        prior = self.n * float(gammaln(alpha.sum()) - gammaln(alpha).sum())
        bound = prior + self.smoothing * float(np.log(beta).sum())
        counts = np.zeros_like(beta)
        for rows, columns in self._columns(len(alpha)):
            block = _Block(columns, beta)
            gamma[rows], terms = block.update(alpha, gamma[rows])
            bound += float(self.r[rows] @ terms)
            counts += block.sums(self.r[rows])
        counts *= beta
        return bound, counts

    def _columns(self, n_clusters: int) -> Iterator[tuple[slice, _Columns]]:
        """Yield blocks of rows, and their labels; those of a single block are kept."""
        n = self.ensemble.n_rows
        step = max(1, _ENTRIES // (n_clusters * self.ensemble.n_partitions))
        if step >= n:
            if self._all is None:
                self._all = _Columns(self.ensemble, slice(0, n))
            yield slice(0, n), self._all
            return
        for start in range(0, n, step):
            rows = slice(start, start + step)
            yield rows, _Columns(self.ensemble, rows)

    # -- M-step for α ------------------------------------------------------------------------

    def concentrate(
        self, alpha: NDArray[np.float64], gamma: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the α that maximizes the bound, by Newton's method from the present one."""
        if len(alpha) == 1:  # the bound does not depend on it
            return alpha
        logs = self.r @ (psi(gamma) - psi(gamma.sum(axis=1))[:, None]) / self.n

        def bound(a: NDArray[np.float64]) -> float:
            logs_of_gamma = gammaln(np.append(a, a.sum()))
            return float(logs_of_gamma[-1] - logs_of_gamma[:-1].sum() + a @ logs)

        value = bound(alpha)
        for _ in range(_NEWTON_ITER):
            with_sum = np.append(alpha, alpha.sum())
            slopes, curvatures = psi(with_sum), zeta(2.0, with_sum)  # zeta(2, x) is ψ'(x)
            gradient = slopes[-1] - slopes[:-1] + logs
            inverse = -1.0 / curvatures[:-1]
            mean = (gradient @ inverse) / (1.0 / curvatures[-1] + inverse.sum())
            step = (gradient - mean) * inverse
            step[(alpha <= _ALPHA_MIN) & (step > 0)] = 0.0
            step[(alpha >= _ALPHA_MAX) & (step < 0)] = 0.0
            ends = (np.abs(step) <= _NEWTON_TOL * alpha).all()
            low, length = np.maximum(alpha / 8.0, _ALPHA_MIN), 1.0
            while True:
                target = np.minimum(np.maximum(alpha - length * step, low), _ALPHA_MAX)
                raised = bound(target)
                if raised >= value - _ROUNDING * max(1.0, abs(value)):
                    break
                length /= 2.0
            alpha, value = target, raised
            if ends:
                break
        return alpha


class _Columns:
    """The labels of some rows as base clusters.

    Attributes
    ----------
    column : array of shape (m, n_rows)
        Base cluster of every label. A missing label gets the first cluster of its partition.
    missing : array of shape (m, n_rows) or None
        Which labels are missing; None if none is.
    """

    def __init__(self, ensemble: Ensemble, rows: slice) -> None:
        observed = ensemble.observed[rows]
        column = np.where(observed, ensemble.codes[rows], 0) + ensemble.offsets[:-1]
        self.column = np.ascontiguousarray(column.T)
        self.missing = None if observed.all() else np.ascontiguousarray(~observed.T)
        n, m = column.shape
        entries = (np.ones(n * m), column.reshape(-1), np.arange(n + 1) * m)
        self._labels = sp.csc_matrix(entries, (ensemble.n_base_clusters, n))

    def sums(
        self, factors: NDArray[np.float64], vectors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the sum over the labels of every base cluster of their factor times the vector.

        `factors` has a number per label, shape (m, n_rows), `vectors` a column per row.
        """
        self._labels.data = factors.T.reshape(-1)
        return np.asarray(self._labels @ vectors.T)


class _Block:
    """The E-step of some rows.

    φ_kj of a row with label q in partition j is w_k β_j[q, k] / Z_j, where w_k = exp(ψ(γ_k) -
    ψ(Σγ)) and Z_j sums over k. Nothing but w and Z is therefore kept of φ. In arrays the rows are
    the last axis.
    """

    def __init__(self, columns: _Columns, beta: NDArray[np.float64]) -> None:
        self.columns = columns
        self.probability = np.ascontiguousarray(beta.T)[:, columns.column]
        if columns.missing is not None:
            self.probability[:, columns.missing] = 0.0
        self.w = np.empty((beta.shape[1], columns.column.shape[1]))
        self.inverse = np.empty(columns.column.shape)

    def update(
        self, alpha: NDArray[np.float64], gamma: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return γ and the terms of the rows in the bound, each row iterated to its tolerance."""
        result, terms = np.empty_like(gamma), np.empty(len(gamma))
        g, p, missing = gamma.T, self.probability, self.columns.missing
        active = np.arange(len(gamma))
        for iteration in range(_ROW_ITER):
            total = g.sum(axis=0)
            logs = psi(g) - psi(total)
            logs -= logs.max(axis=0)  # cancels in φ
            w = np.exp(logs)
            Z = np.einsum("kjb,kb->jb", p, w)
            if missing is not None:
                Z[missing] = 1.0
            inverse = 1.0 / Z
            if missing is not None:
                inverse[missing] = 0.0
            shares = w * np.einsum("kjb,jb->kb", p, inverse)
            new = alpha[:, None] + shares
            change = np.abs(new - g).sum(axis=0)
            ends = change <= _ROW_TOL * total
            if iteration == _ROW_ITER - 1 or ends.all():
                ends = slice(None)
            elif not ends.any():
                g = new
                continue
            rows, final = active[ends], new[:, ends]
            result[rows] = final.T
            self.w[:, rows], self.inverse[:, rows] = w[:, ends], inverse[:, ends]
            terms[rows] = gammaln(final).sum(axis=0) - gammaln(final.sum(axis=0))
            terms[rows] += np.log(Z[:, ends]).sum(axis=0) - (shares * logs)[:, ends].sum(axis=0)
            if isinstance(ends, slice):
                break
            stays = ~ends
            active, g, p = active[stays], new[:, stays], p[:, :, stays]
            missing = None if missing is None else missing[:, stays]
        return result, terms

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_x r φ / β for every base cluster and consensus cluster."""
        return self.columns.sums(weights * self.inverse, self.w)
