"""NRSEC: RSEC with concave penalties, which shrink large singular values and errors less."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_user
from partita.consensus._self_representation import SelfRepresentationConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import POSITIVE_INT, TOL, Interval
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import ConvergenceWarning
from partita.solvers.eigenvector_series import SMALL_ORDER
from partita.solvers.range_basis import SimilarityBasis
from partita.solvers.self_representation import Representation, fit_representation

__all__ = ["NRSEC"]


class NRSEC(SelfRepresentationConsensus):
    """Non-convex robust spectral ensemble clustering.

    The model of `RSEC` with penalties that are bounded: a large singular value, which belongs to a
    large cluster, is not penalized for its size, and small clusters are not lost beside it.

        min tr(Hᵀ L_Z H) + lambda1 Σ φ(σ_i(Z)) + lambda2 Σ φ(|E_ij|)   subject to S = S Z + E,
        φ(t) = t - t²/(2 gamma) for t <= gamma, and gamma/2 above

    with gamma1 for the singular values and gamma2 for the errors. Each outer step replaces φ by its
    tangent at the previous solution. This weights the singular values by (1 - σ_i/gamma1)_+ and the
    errors by (1 - |E_ij|/gamma2)_+.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lambda1 : float, default=1.0
        Weight of the penalty on singular values.
    lambda2 : float, default=0.01
        Weight of the penalty on errors. The paper finds 1e-4 to 0.01 stable.
    gamma1 : float, default=2.0
        Singular value above which its penalty is constant; must exceed 1. It affects the solution
        from the second outer step on, and always the value of `objective_`.
    gamma2 : float, default=2.0
        Size of an error above which its penalty is constant; must exceed 1. Otherwise as `gamma1`.
    error_norm : {"l21", "l1"}, default="l1"
        Norm of the errors: "l1" penalizes every entry, as above; "l21" penalizes the length of
        every column, φ(‖E_j‖), as in `RSEC`.
    similarity : {"auto", "share", "signed"}, default="auto"
        What S counts, see the notes: "share" in [0, 1], "signed" in [-1, 1], or, as in the paper,
        "signed" if labels are missing and "share" otherwise.
    rho : float, default=1.3
        Factor of the penalty mu from one iteration to the next; must exceed 1.
    mu : float, optional
        Initial penalty of the augmented Lagrangian; 1.5/‖S‖₂ by default.
    scale_embedding : bool, default=True
        Whether H is scaled by D^(-1/2), as in the authors' program. False: its columns are
        orthonormal, as printed.
    n_outer : int, default=1
        Largest number of outer steps. The paper takes one, from zero, where all weights are 1.
    outer_tol : float, default=0.0
        The outer steps have converged when one changes no weight by more than this. With 0 all
        `n_outer` steps are run.
    assign_labels : {"embedding", "representation"}, default="embedding"
        How labels are assigned: by k-means on the rows of H, or by spectral clustering of Z.
    n_init : int, default=20
        Restarts of the final k-means; the smallest inertia wins.
    max_iter : int, default=500
        Largest number of iterations of one outer step.
    tol : float, default=1e-07
        An outer step stops when no entry of S - S Z - E and of Z - J exceeds `tol`, where J is the
        low-rank copy of Z.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        Z over distinct rows, which need not be symmetric. `consensus_matrix()` has a row per
        sample.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    embedding_ : array of shape (n_samples, n_clusters)
        H = D^(-1/2) V with the eigenvectors V of the normalized affinity and its degrees D, or V
        if not `scale_embedding`. Its rows are scaled to unit length before k-means.
    history_ : array of shape (n_iter_,)
        ‖S - S Z - E‖_F / ‖S‖_F, the error that the paper plots, for all outer steps in a row.
    objective_ : float
        Value of the objective above in the last iteration: tr(Vᵀ L_Z V), which is `n_clusters`
        minus the leading eigenvalues of the normalized affinity, plus the penalties of the singular
        values of Z (those of its low-rank copy J) and of E. It is no measure of progress: the
        iteration solves for a saddle point, and `history_` shows how it converges.
    n_outer_ : int
        Number of outer steps.

    Notes
    -----
    Cost for n' distinct rows and S of rank p, at most n' and at most the number of base clusters:
    O(n' p² + n'² q) per iteration, where q <= 2 p is the rank of the affinity; about 60 iterations
    per outer step; about 48 n'² + 110 n' p bytes, and 12 n'² more up to n' = 1500. The solution is
    that of the full n x n problem. `RSEC` has the parts of an iteration; errors by entry add two
    products of 2 n'² p operations.

    The result depends more on the ensemble than on k-means: of 60 ensembles of 100 k-means
    partitions of iris, K in 3..12, 32 give the published accuracy of 0.9733, the others 0.75 to
    0.97. With orthonormal H (`scale_embedding=False`) 13 of 20 such ensembles give 0.9733 and the
    worst gives 0.84, with the scaled one 11 of 20 and 0.75.

    More outer steps do not improve these results: on 8 of the ensembles they converge after 5 or 6
    (`outer_tol=0.001`), with a mean accuracy of 0.91 instead of 0.94 after one step. With column
    errors they mostly do not converge within 30 steps.

    Missing labels: the signed S of section 5.4 of the paper counts 1 for a partition that joins two
    samples, -1 for one that separates them and 0 for one that does not label both, divided by m.
    For complete partitions the paper uses the share S, so that the first missing label turns S into
    about 2 S - 1. This jump changes results: on 20 partitions of the ecoli data the adjusted Rand
    index with the classes is 0.30 without missing labels and 0.44 with one. `similarity="signed"`
    and `similarity="share"` have no jump; in the latter a partition that does not label both
    samples counts one half. On iris and ecoli, complete or with up to half of the labels missing,
    the signed S gave as high an index or a higher one, except on iris with 20 % missing; `"auto"`
    follows the paper.

    Soft partitions: S is the expected co-association.

    Deviations from the printed paper, following the authors' program: the affinity passes through
    `low_rank_affinity` before its eigenvectors are computed. The weights of the errors in Algorithm
    2 lack the division by gamma2, and Eq. 19 has u/r for u/gamma. H is scaled by D^(-1/2), where
    the paper has orthonormal eigenvectors. The matrix D, which is undefined before the first
    partition, is the identity.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Z. Ding, Y. Fu. Robust spectral ensemble clustering via rank
    minimization. ACM TKDD 13(1), 2019. https://doi.org/10.1145/3278606

    Examples
    --------
    >>> from partita import NRSEC
    >>> NRSEC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="nrsec",
        name="Non-convex robust spectral ensemble clustering",
        family="learned matrix",
        cite="tao2019",
        missing="native",
        deterministic=False,
        soft=True,
        time="n'² L an iteration, L at most n'",
        memory="n'²",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_rows + 110 * min(s.n_rows, s.n_base_clusters))
            + 12 * min(s.n_rows, SMALL_ORDER) ** 2
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelfRepresentationConsensus._parameter_constraints,
        "gamma1": [Interval(Real, 1, None, closed="neither")],
        "gamma2": [Interval(Real, 1, None, closed="neither")],
        "n_outer": POSITIVE_INT,
        "outer_tol": TOL,
    }

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        last_step = 32 * size.n_rows**2 if self.n_outer > 1 else 0
        return self.info.bytes_needed(size) + last_step

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lambda1: float = 1.0,
        lambda2: float = 0.01,
        gamma1: float = 2.0,
        gamma2: float = 2.0,
        error_norm: str = "l1",
        similarity: str = "auto",
        rho: float = 1.3,
        mu: float | None = None,
        scale_embedding: bool = True,
        n_outer: int = 1,
        outer_tol: float = 0.0,
        assign_labels: str = "embedding",
        n_init: int = 20,
        max_iter: int = 500,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.error_norm = error_norm
        self.similarity = similarity
        self.rho = rho
        self.mu = mu
        self.scale_embedding = scale_embedding
        self.n_outer = n_outer
        self.outer_tol = outer_tol
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        return self._fuse(ensemble, rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        return self._fuse(soft, rng)

    def _fuse(self, ensemble: Ensemble | SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = self._similarity(ensemble)
        result = self._step(similarity, None, _Tangents())
        steps, tangents, change = [result.course], _Tangents(), np.inf
        while True:
            is_last = len(steps) == self.n_outer
            if not (is_last and self.outer_tol == 0):
                previous, tangents = tangents, self._tangents(result)
                change = tangents.change_from(previous)
            if is_last or change <= self.outer_tol:
                break
            result = self._step(similarity, result, tangents)
            steps.append(result.course)
        converged = self.outer_tol == 0 or change <= self.outer_tol
        if not converged:
            warn_user(
                f"NRSEC stopped after n_outer={self.n_outer} outer steps, the last of which "
                f"changed a weight by {change:.1e}, more than outer_tol={self.outer_tol:g}. Raise "
                "one of them; outer_tol=0 runs a fixed number of steps.",
                ConvergenceWarning,
            )
        solution = self._solution(
            ensemble, result, steps, self._objective(result), rng, converged=converged
        )
        return replace(solution, learned={**solution.learned, "n_outer_": len(steps)})

    def _step(
        self, similarity: SimilarityBasis, last: Representation | None, tangents: _Tangents
    ) -> Representation:
        """Solve the convex problem of Eq. 22, from `last`: one outer step."""
        ranks, errors = tangents
        rank_weight: float | NDArray[np.float64] = self.lambda1
        if ranks is not None:
            rank_weight = np.full(len(similarity.root), self.lambda1)
            rank_weight[: len(ranks)] *= ranks
        return fit_representation(
            similarity,
            self.n_clusters,
            rank_weight,  # Eq. 24
            self._errors(similarity, errors),  # Eq. 25
            start=last,
            **self._iteration_options,
        )

    def _tangents(self, result: Representation) -> _Tangents:
        """Return the slopes of φ at a solution."""
        errors = result.errors.sizes()
        errors /= -self.gamma2
        errors += 1.0
        np.maximum(errors, 0.0, out=errors)
        return _Tangents(np.maximum(1.0 - result.singular_values / self.gamma1, 0.0), errors)

    def _objective(self, result: Representation) -> float:
        """Return the value of Eq. 20."""
        errors = result.errors
        return float(
            result.spectral_cost
            + self.lambda1 * _penalty(result.singular_values, self.gamma1).sum()
            + self.lambda2 * errors.total(_penalty(errors.sizes(), self.gamma2))
        )


class _Tangents(NamedTuple):
    """Slopes of φ, the weights of an outer step; None is 1, the slope at zero.

    Attributes
    ----------
    ranks : array or None
        Λ, for the singular values above 0 in descending order; 1 for the others.
    errors : array or None
        W, in the form of `Errors.sizes`.
    """

    ranks: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None

    def change_from(self, previous: _Tangents) -> float:
        """Return the largest change of a weight."""
        assert self.ranks is not None
        assert self.errors is not None
        ranks = np.ones(
            (2, max(len(self.ranks), 0 if previous.ranks is None else len(previous.ranks)))
        )
        ranks[0, : len(self.ranks)] = self.ranks
        if previous.ranks is not None:
            ranks[1, : len(previous.ranks)] = previous.ranks
        errors = np.abs(self.errors - (1.0 if previous.errors is None else previous.errors))
        return float(max(np.abs(ranks[0] - ranks[1]).max(initial=0.0), errors.max()))


def _penalty(t: NDArray[Any], gamma: float) -> NDArray[np.float64]:
    """Return φ(t) of Eq. 18 with λ = 1."""
    return np.asarray(np.where(t < gamma, t - t**2 / (2 * gamma), gamma / 2))
