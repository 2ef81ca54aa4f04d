"""EC-CMS: self-enhancement of a co-association matrix."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._input.checks import check_affinity
from partita._threads import run_blocks
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import MAX_ITER, N_CLUSTERS, POSITIVE, TOL, Interval, StrOptions
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import NotSupportedError
from partita.matrices import (
    coassociation,
    enhanced_coassociation,
    locally_weighted_coassociation,
    trajectory_similarity,
)
from partita.matrices.soft import soft_coassociation, soft_locally_weighted_coassociation
from partita.matrices.soft_similarities import soft_enhanced_coassociation
from partita.matrices.trajectories import soft_trajectory_similarity
from partita.matrices.user_affinity import is_constant_on_rows, reduce_pairs, split_rows
from partita.solvers.laplacian_inverse import LaplacianInverse
from partita.solvers.linkage import agglomerate
from partita.solvers.spectral import spectral_clustering

__all__ = ["ECCMS"]

_ROWS = 256  # rows per block of the element-wise step
_OPERATIONS = 5000  # elementary operations per entry of a matrix, some seventy iterations
_VANISHING = 1e-3  # a matrix below this share of ||A|| converges to 0


class _Enhanced(NamedTuple):
    """C between different samples (`values`), its diagonal (`own`), and the iteration."""

    values: NDArray[np.float64]
    own: NDArray[np.float64]
    objective: float
    history: NDArray[np.float64]
    converged: bool


class ECCMS(LearnedMatrixConsensus):
    """Ensemble clustering via co-association matrix self-enhancement (EC-CMS).

    Pairs that almost all partitions join are reliable: H keeps the co-association of pairs with
    CA_pq >= alpha and is 0 elsewhere, and Phi is its Laplacian. The affinity A of all pairs is
    dense but noisy. The enhanced matrix C equals A on the reliable pairs Omega, gives reliable
    pairs similar relations to all other samples, and treats the rest of A as C plus noise,

        min tr(Cᵀ Phi C) + lam/2 ||E||²  s.t.  A = C + E,  E = 0 on Omega,  C = Cᵀ,  0 <= C <= 1,

    solved by the alternating direction method of multipliers (equations 5 to 14).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.8
        Share of partitions, 0 to 1, that must join a pair for it to be reliable; 0 makes all pairs
        reliable, so that C becomes A.
    lam : float, default=0.4
        Weight of the noise; a large value leaves the affinity almost unchanged.
    affinity : {"lwca", "ca", "pts", "ecpcs", "blend"} or array of shape (n, n), default="lwca"
        The matrix A to enhance: locally weighted co-association (theta 0.4), co-association,
        probability trajectory similarity, enhanced co-association (20 steps), the mean of "lwca"
        and "ecpcs", or any symmetric matrix with a row per sample in the order of the fitted data,
        such as `locally_weighted_coassociation(partitions, theta=...)` or a kernel of the features.
        Values outside [0, 1] cannot be reached, because C lies within.
    keep_reliable : bool, default=True
        Whether C equals A on the reliable pairs. False drops E = 0 on Omega; reliable pairs then
        only have similar rows (Table VIII of the paper).
    assign_labels : {"average", "spectral"}, default="average"
        How labels are assigned: by average linkage of 1 - C, or by normalized spectral clustering
        with k-means from a fixed seed.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=0.01
        The iteration stops when the relative changes of C, E and F and the relative residuals of
        both constraints are below `tol`.
    gamma1, gamma2 : float, default=1.0
        Penalties of A = C + E and of C = F in the augmented Lagrangian. They change how the
        iteration approaches its limit, and so the matrix at which `tol` stops it (Table III of the
        paper), but not the limit.
    dtype : {"float64", "float32"}, default="float64"
        Type in which the matrices of the iteration are stored; they are computed in double
        precision. "float32" takes about 60 % of the memory.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
        C between different samples, over distinct rows. Not symmetric before the limit.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    history_ : array of shape (n_iter_, 5)
        ||X - X_old|| / ||X_old|| for X = C, E, F, then ||A - C - E|| / ||Y1|| and
        ||C - F|| / ||Y2||; infinite where the old matrix was zero.
    objective_ : float
        The objective above at the final C and E; NaN after a single iteration.
    tree_ : Tree
        Merges of distinct rows and their heights (`assign_labels="average"` only).

    Notes
    -----
    `consensus_matrix()` returns C with a row per sample, including its diagonal, not symmetrized.

    Cost O(n'² f) per iteration for n' distinct rows, where f is the mean number of entries in a row
    of the sparse factor of 2 Phi + (gamma1 + gamma2) I (5 to 20 for alpha = 0.8 and 20 partitions).
    The factor replaces a product with an inverse and works exactly, block by block, on the
    components of H. Memory: five n' x n' arrays. Solving on distinct rows is exact.

    Missing labels: CA and H are shares of the partitions that label both samples, and so is the
    locally weighted affinity. A pair that no partition labels has affinity 0.

    Weights: a sample of weight w stands for w samples with the same labels. Weights below 1 are
    allowed, but such a sample forms no pair with itself.

    An affinity array that is the same for all samples with equal labels is reduced to distinct rows
    like the others. If it is not, such samples keep a row each and may end in different clusters;
    the cost is then that of n rows.

    Soft partitions: both co-association matrices are the expected ones. An affinity passed as a
    matrix is refused.

    Deviations from the paper, as in its authors' program: Omega excludes the diagonal, the norms of
    the stopping rule are not squared, and there are at most 100 iterations. Deviations from both: a
    matrix whose limit is 0 (E if nothing is noise, Y2 if C = F is no constraint) ends the iteration
    once its changes are below tol/1000 of ||A||, where the program runs to its limit of iterations;
    linkage uses (C + Cᵀ) / 2, where the program reads one triangle of C and so depends on the order
    of the rows; samples with equal labels are one weighted row from the start.

    Choice of values without the truth: the defaults are those of the paper. Mean ARI on the ten
    pools of its authors (five draws of 20 partitions, at most 500 samples, weighted to the full
    number), and on 81 ensembles from 30 other data sets (at most 300 samples):

        alpha, lam                     pools   others
        0.8, 0.4                       0.479   0.402
        0.8, 0.02                      0.507   0.400
        0.7, 0.1                       0.513   0.390
        0.75, 0.1, affinity="blend"    0.488   0.403
        the best for each pool         0.527

    The smaller lam gains almost only on Ecoli (0.50 to 0.75); the smaller alpha gains on Caltech20
    and LS and loses on others.

    The Laplacian grows with the number of samples and lam does not, so that the same lam means more
    smoothing on larger data. With lam = 0.002 times the mean degree of H the mean ARI is 0.76 on
    Ecoli, as with values chosen on the truth, and on 15 other data sets it is 0.02 below that of
    the defaults. With the choice between this lam and 0.4 by the agreement of split halves of the
    partitions it is 0.70 on Ecoli, and 0.004 below on the 15 sets. So neither is an option.
    `python -m benchmarks.papers run 003-values-pools 003-values-sets` computes these figures.

    Low co-association as evidence, which the paper leaves to future work, is not an option: with
    C = 0 for all pairs with CA <= beta, the mean ARI on the same pools (at least four draws) is
    0.473, 0.466, 0.464 and 0.443 for beta = 0, 0.05, 0.1 and 0.2, and 0.478 without.

    References
    ----------
    Y. Jia, S. Tao, R. Wang, Y. Wang. Ensemble clustering via co-association matrix
    self-enhancement. IEEE Transactions on Neural Networks and Learning Systems, 2023.
    https://doi.org/10.1109/TNNLS.2023.3249207

    Examples
    --------
    >>> from partita import ECCMS
    >>> ECCMS(n_clusters=2).fit_predict([[0, 0, 0, 1, 1], [0, 0, 0, 1, 2], [5, 5, 7, 7, 7]])
    array([0, 0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="eccms",
        name="Ensemble clustering via co-association matrix self-enhancement",
        family="learned matrix",
        cite="jia2023",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n m² + n'² m, at most n'³ an iteration",
        memory="n'²",
        bytes_needed=lambda s: 64 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "lam": POSITIVE,
        "affinity": [StrOptions({"lwca", "ca", "pts", "ecpcs", "blend"}), "array-like"],
        "assign_labels": [StrOptions({"average", "spectral"})],
        "keep_reliable": ["boolean"],
        "max_iter": MAX_ITER,
        "tol": TOL,
        "gamma1": POSITIVE,
        "gamma2": POSITIVE,
        "dtype": [StrOptions({"float32", "float64"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.8,
        lam: float = 0.4,
        affinity: Any = "lwca",
        keep_reliable: bool = True,
        assign_labels: str = "average",
        max_iter: int = 100,
        tol: float = 1e-2,
        gamma1: float = 1.0,
        gamma2: float = 1.0,
        dtype: str = "float64",
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.lam = lam
        self.affinity = affinity
        self.keep_reliable = keep_reliable
        self.assign_labels = assign_labels
        self.max_iter = max_iter
        self.tol = tol
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.dtype = dtype

    def bytes_needed(self, size: Size) -> int:
        """Return the bytes of the dense arrays of a fit with these parameters.

        Parameters
        ----------
        size : Size
            Numbers of rows, partitions, base clusters and clusters.
        """
        return (64 if self.dtype == "float64" else 40) * size.n_rows**2

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        confidence = coassociation(ensemble, expand=False)
        return self._fuse(confidence, *self._affinity(ensemble), ensemble.weights, rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        A = self._soft_affinity(soft)
        return self._fuse(soft_coassociation(soft), A, np.ones(soft.n_rows), soft.weights, rng)

    def _fuse(
        self,
        confidence: NDArray[np.float64],
        A: NDArray[np.float64],
        own_A: NDArray[np.float64],
        r: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Solution:
        reliable = confidence >= self.alpha  # Omega
        confidence[~reliable] = 0.0  # (2)
        H = sp.csr_matrix(confidence)
        del confidence
        locked = reliable if self.keep_reliable else np.zeros_like(reliable)
        C = self._enhance(A, own_A, H, locked, r)
        if not C.converged:
            warn_not_converged(
                "ECCMS",
                self.max_iter,
                f"with a relative change of {C.history[-1].max():.2g}, above tol={self.tol:g}. "
                "Raise max_iter or tol.",
            )
        similarity = (C.values + C.values.T) / 2
        excess = C.own - C.values.diagonal()
        learned = {}
        if self.assign_labels == "average":
            np.subtract(1.0, similarity, out=similarity)
            tree = agglomerate(similarity, r, "average", overwrite=True)
            labels = tree.cut(self.n_clusters)
            learned["tree_"] = tree
        else:
            np.maximum(similarity, 0.0, out=similarity)
            similarity[np.diag_indices_from(similarity)] += excess / r
            labels = spectral_clustering(similarity, r, self.n_clusters, rng)
        return Solution(
            labels,
            objective=C.objective,
            n_iter=len(C.history),
            converged=C.converged,
            history=C.history,
            matrix=C.values,
            diagonal=excess,
            learned=learned,
        )

    # -- the affinity ------------------------------------------------------------------------

    def _affinity(self, core: Ensemble) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A between different samples, over distinct rows, and its diagonal."""
        if isinstance(self.affinity, str):
            matrices: dict[str, Callable[..., NDArray[np.float64]]] = {
                "lwca": locally_weighted_coassociation,
                "ca": coassociation,
                "ecpcs": enhanced_coassociation,
                "pts": trajectory_similarity,
            }
            A = _mean([matrices[name](core, expand=False) for name in self._names])
            return A, np.ones(core.n_rows)
        return reduce_pairs(np.asarray(self.affinity, np.float64), core)

    def _soft_affinity(self, soft: SoftEnsemble) -> NDArray[np.float64]:
        """Return A between different samples for memberships."""
        if not isinstance(self.affinity, str):
            raise NotSupportedError(
                "ECCMS takes no affinity matrix together with soft partitions. Pass the name of an "
                'affinity: "lwca", "ca", "pts", "ecpcs" or "blend".'
            )
        matrices: dict[str, Callable[..., NDArray[np.float64]]] = {
            "lwca": soft_locally_weighted_coassociation,
            "ca": soft_coassociation,
            "ecpcs": soft_enhanced_coassociation,
            "pts": soft_trajectory_similarity,
        }
        return _mean([matrices[name](soft) for name in self._names])

    @property
    def _names(self) -> tuple[str, ...]:
        """The matrices whose mean is the affinity, if it has a name."""
        return ("lwca", "ecpcs") if self.affinity == "blend" else (self.affinity,)

    def _reduce(self, ensemble: Ensemble) -> Ensemble:
        core = ensemble.compress()
        if isinstance(self.affinity, str):
            return core
        affinity = check_affinity(self.affinity, ensemble.n_samples)
        return core if is_constant_on_rows(affinity, core) else split_rows(affinity, ensemble)

    # -- Algorithm 1 -------------------------------------------------------------------------

    def _enhance(
        self,
        A: NDArray[np.float64],
        own_A: NDArray[np.float64],
        H: sp.csr_matrix,
        locked: NDArray[np.bool_],
        r: NDArray[np.float64],
    ) -> _Enhanced:
        """Run the alternating direction method of multipliers.

        U holds E, with Y1 = lam E, or Y1 where E is locked at 0. `own` holds the values of A, C, G,
        U and Q for a sample and itself, which are never locked.
        """
        M = LaplacianInverse(H, r, self.gamma1 + self.gamma2)
        penalties = float(self.lam), float(self.gamma1), float(self.gamma2)
        order = M.order
        locked = locked[np.ix_(order, order)]
        A, r = A[np.ix_(order, order)].astype(self.dtype, copy=False), r[order]
        # start: C = E = F = Y2 = 0 and Y1 = A
        U = np.where(locked, A, A / self.lam)
        C, Q, G = np.zeros_like(A), np.zeros_like(A), (1.0 + self.gamma1) * A
        own = np.zeros((5, len(r)))
        own[0] = own_A[order]
        own[2], own[3] = (1.0 + self.gamma1) * own[0], own[0] / self.lam
        history: list[NDArray[np.float64]] = []
        objective, size, converged = np.nan, 0.0, False
        while len(history) < self.max_iter and not converged:
            own_C = M.apply(G, own[2])  # (9), in place
            C, G = G, C
            own[2], own[1] = own[1], own_C
            sums = _element_wise_step(A, locked, r, penalties, C, G, U, Q, own)  # (11), (13), (14)
            change, old = _changes(sums, penalties, first=not history)
            if history:
                objective = float(sums[10] + self.lam / 2 * sums[11])
            else:
                size = float(old[3])  # Y1 starts as A
            converged = bool(np.all(change < self.tol * np.maximum(old, _VANISHING * size)))
            history.append(_ratio(change, old))
            report_progress("EC-CMS", len(history), self.max_iter)
        position = np.argsort(order)
        values = C[np.ix_(position, position)]
        return _Enhanced(values, own[1][position], objective, np.asarray(history), converged)


def _mean(matrices: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean of matrices, in the place of the first one."""
    total = matrices[0]
    for matrix in matrices[1:]:
        total += matrix
    if len(matrices) > 1:
        total /= len(matrices)
    return total


def _element_wise_step(
    A: NDArray[np.float64],
    locked: NDArray[np.bool_],
    r: NDArray[np.float64],
    penalties: tuple[float, float, float],
    C: NDArray[np.float64],
    G: NDArray[np.float64],
    U: NDArray[np.float64],
    Q: NDArray[np.float64],
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Do all of an iteration except the product in one pass; return weighted sums of squares."""
    n = len(r)
    kernel = _kernels.enhancement
    enhance_rows = kernel.enhance_rows.at(_OPERATIONS * n**2)
    parts = np.zeros((-(-n // _ROWS) + 1, kernel.N_SUMS))
    run_blocks(
        lambda start, stop: enhance_rows(
            A, locked, r, penalties, C, start, stop, (G, U, Q), parts[start // _ROWS]
        ),
        n,
        _ROWS,
    )
    kernel.enhance_diagonal(A, locked, r, penalties, C, (G, U, Q), own, parts[-1])
    return np.asarray(parts.sum(axis=0))


def _changes(
    sums: NDArray[np.float64], penalties: tuple[float, float, float], first: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return norms of the changes of C, E, F and of the residuals A - C - E and C - F.

    Also return the norms they are compared with: those of the old C, E, F, Y1 and Y2.
    """
    lam, gamma1, gamma2 = penalties
    c, c_old, f, f_old, gap, y2_old, free, free_old, locked, locked_old = sums[:10]
    e_old = 0.0 if first else free_old  # E starts at 0, while U already holds Y1 / lam
    y1, y1_old = lam**2 * free + locked, lam**2 * free_old + locked_old
    # Y1 and Y2 change by gamma1 and gamma2 times the residuals
    change = np.sqrt([c, free, f, y1 / gamma1**2, gap])
    return change, np.sqrt([c_old, e_old, f_old, y1_old, gamma2**2 * y2_old])


def _ratio(change: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return change / old; infinite where old is 0 and the change is not."""
    without_old = np.where(change > 0, np.inf, 0.0)
    return np.divide(change, old, out=without_old, where=old > 0)
