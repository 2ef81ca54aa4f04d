"""RSEC: spectral clustering of a low-rank representation of the co-association matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._self_representation import SelfRepresentationConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.ensemble import Ensemble, SoftEnsemble
from partita.solvers.eigenvector_series import SMALL_ORDER
from partita.solvers.self_representation import fit_representation

__all__ = ["RSEC"]


class RSEC(SelfRepresentationConsensus):
    """Robust spectral ensemble clustering.

    The row of every sample in the co-association matrix S is represented by few others,
    S = S Z + E, while Z is clustered: the embedding H of the clusters strengthens the blocks of Z.

        min tr(Hᵀ L_Z H) + lambda1 ‖Z‖_* + lambda2 ‖E‖_2,1   subject to S = S Z + E

    with L_Z the normalized Laplacian of (Z + Zᵀ)/2 + H Hᵀ. The nuclear norm favors few clusters;
    whole columns of E hold the samples on which the partitions do not agree. Labels come from
    k-means on the rows of H, scaled to unit length.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lambda1 : float, default=0.1
        Weight of the nuclear norm. The paper finds 0.01 to 1 stable.
    lambda2 : float, default=0.01
        Weight of the errors.
    error_norm : {"l21", "l1"}, default="l21"
        Norm of the errors: "l21" is the sum of the lengths of the columns, as above; "l1" is the
        sum of all entries, as in `NRSEC`. With "l1" raise `lambda1` to 1, the default there: with
        0.1 and missing labels it can fail to find clear clusters.
    similarity : {"auto", "share", "signed"}, default="auto"
        What S counts, see the notes: "share" in [0, 1], "signed" in [-1, 1], or, as in the paper,
        "signed" if labels are missing and "share" otherwise.
    rho : float, default=1.1
        Factor of the penalty mu from one iteration to the next; must exceed 1.
    mu : float, optional
        Initial penalty of the augmented Lagrangian; 1.5/‖S‖₂ by default.
    scale_embedding : bool, default=True
        Whether H is scaled by D^(-1/2), as in the authors' program. False: its columns are
        orthonormal, as printed.
    assign_labels : {"embedding", "representation"}, default="embedding"
        How labels are assigned: by k-means on the rows of H, or by spectral clustering of Z.
    n_init : int, default=20
        Restarts of the final k-means; the smallest inertia wins.
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-07
        The iteration stops when no entry of S - S Z - E and of Z - J exceeds `tol`, where J is the
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
        ‖S - S Z - E‖_F / ‖S‖_F, the error that the paper plots.
    objective_ : float
        Value of the objective above in the last iteration: tr(Vᵀ L_Z V), which is `n_clusters`
        minus the leading eigenvalues of the normalized affinity, plus the penalties of the singular
        values of Z (those of its low-rank copy J) and of E. It is no measure of progress: the
        iteration solves for a saddle point, and `history_` shows how it converges.

    Notes
    -----
    Cost for n' distinct rows and S of rank p, at most n' and at most the number of base clusters:
    O(n' p² + n'² q) per iteration, where q <= 2 p is the rank of the affinity; 50 to 100
    iterations; about 32 n'² + 110 n' p bytes, and 12 n'² more up to n' = 1500. The solution is that
    of the full n x n problem. With n' = 1000 and p = 482, from 20 partitions, one of 105 iterations
    takes 0.17 s on a core that multiplies matrices at 60 GFlop/s: the decomposition behind the
    affinity, of order 1000, half of it, that of J, of order 600, and the eigenvectors of the
    affinity a sixth each. The affinity uses all singular values above 1e-4 of the largest, 480 at
    first and 116 at the end, and the spectrum has no gap there: vectors of the previous iteration
    would need four or more products, as long as a new decomposition. The eigenvectors of the
    affinity are computed from those of previous iterations once it changes little.

    The result depends more on the ensemble than on k-means: of 60 ensembles of 100 k-means
    partitions of iris, K in 3..12, 38 give the published accuracy of 0.9733, the others 0.75 to
    0.91. With orthonormal H (`scale_embedding=False`) 16 of 20 such ensembles give 0.9733 and the
    worst gives 0.84, with the scaled one 11 of 20 and 0.75.

    Missing labels: the signed S of section 5.4 of the paper counts 1 for a partition that joins two
    samples, -1 for one that separates them and 0 for one that does not label both, divided by m.
    For complete partitions the paper uses the share S, so that the first missing label turns S into
    about 2 S - 1. This jump changes results: on 20 partitions of the ecoli data the adjusted Rand
    index with the classes is 0.31 without missing labels and 0.45 with one. `similarity="signed"`
    and `similarity="share"` have no jump; in the latter a partition that does not label both
    samples counts one half. On iris and ecoli, complete or with up to half of the labels missing,
    the signed S gave as high an index or a higher one, except on iris with 20 % missing; `"auto"`
    follows the paper.

    Soft partitions: S is the expected co-association.

    Deviations from the printed paper, following the authors' program: mu starts at 1.5/‖S‖₂ (with
    the printed 1e-6, Z is negligible beside the term H Hᵀ/mu), and the affinity passes through
    `low_rank_affinity` before its eigenvectors are computed, without which degrees can be negative.
    H is scaled by D^(-1/2), where the paper has orthonormal eigenvectors. E in Eq. 15 lacks the
    factor Q_i. The matrix D, which is undefined before the first partition, is the identity.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Z. Ding, Y. Fu. Robust spectral ensemble clustering via rank
    minimization. ACM TKDD 13(1), 2019. https://doi.org/10.1145/3278606

    Examples
    --------
    >>> from partita import RSEC
    >>> RSEC(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rsec",
        name="Robust spectral ensemble clustering",
        family="learned matrix",
        cite="tao2019",
        missing="native",
        deterministic=False,
        soft=True,
        time="n'² L an iteration, L at most n'",
        memory="n'²",
        bytes_needed=lambda s: (
            s.n_rows * (32 * s.n_rows + 110 * min(s.n_rows, s.n_base_clusters))
            + 12 * min(s.n_rows, SMALL_ORDER) ** 2
        ),
    )

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        entries = 16 * size.n_rows**2 if self.error_norm == "l1" else 0
        return self.info.bytes_needed(size) + entries

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lambda1: float = 0.1,
        lambda2: float = 0.01,
        error_norm: str = "l21",
        similarity: str = "auto",
        rho: float = 1.1,
        mu: float | None = None,
        scale_embedding: bool = True,
        assign_labels: str = "embedding",
        n_init: int = 20,
        max_iter: int = 500,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.error_norm = error_norm
        self.similarity = similarity
        self.rho = rho
        self.mu = mu
        self.scale_embedding = scale_embedding
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
        errors = self._errors(similarity)  # Eq. 15
        result = fit_representation(
            similarity,
            self.n_clusters,
            self.lambda1,  # Eq. 11
            errors,
            **self._iteration_options,
        )
        objective = (  # Eq. 7
            result.spectral_cost
            + self.lambda1 * float(result.singular_values.sum())
            + self.lambda2 * errors.total(errors.sizes())
        )
        return self._solution(ensemble, result, [result.course], objective, rng)
