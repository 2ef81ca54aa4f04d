"""CRSC: spectral clustering of views whose embeddings are drawn towards each other."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.consensus.constraints import MAX_ITER, POSITIVE, TOL, StrOptions
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._gaussian import gaussian_kernel
from partita.multiview._views import Views
from partita.solvers.coregularization import coregularize_centroid, coregularize_pairs
from partita.solvers.spectral import normalize_rows

__all__ = ["CRSC"]


class CRSC(MultiViewBaseline):
    """Co-regularized multi-view spectral clustering.

    Every view has a Gaussian kernel W_v, whose bandwidth is the median distance, the normalized
    affinity L_v = D^-½ W_v D^-½ and an embedding U_v of K orthonormal columns. Embeddings of
    different views should span similar spaces,

        pairwise:  max Σ_v tr(U_vᵀ L_v U_v) + λ Σ_{v<w} ‖U_vᵀ U_w‖²,
        centroid:  max Σ_v tr(U_vᵀ L_v U_v) + λ Σ_v ‖U_vᵀ U*‖²,

    by leading eigenvectors, of L_v + λ Σ_{w != v} U_w U_wᵀ or of L_v + λ U* U*ᵀ in turn with
    Σ_v U_v U_vᵀ. The rows of the result, divided by their length, are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K, and of the columns of every embedding.
    coupling : {"pairwise", "centroid"}, default="pairwise"
        Whether embeddings are drawn towards each other or towards a common one.
    lam : float, default=0.5
        λ, the strength of the coupling.
    embedding : {"all", "first"}, default="all"
        Rows to cluster for the pairwise coupling: those of all U_v side by side, or of U_1 for the
        most informative view first. The centroid coupling clusters the rows of U*.
    scale : {"none", "sum", "frobenius", "rows"}, default="none"
        Scale of every view. The bandwidth makes the kernel independent of the unit of the view, so
        that "none", "sum" and "frobenius" give the same labels. "rows" divides every row by its
        length: distances are then those of directions, which suits texts.
    n_init : int, default=20
        Restarts of k-means on the embedding.
    max_iter : int, default=30
        Largest number of iterations.
    tol : float, default=1e-4
        The iteration stops when the objective increases by at most this share of it.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        The objective above; larger is better.
    history_ : array
        The objective after every iteration; it never decreases.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the iteration reached `tol`.
    embedding_ : array of shape (n_samples, p)
        The rows that k-means clustered.
    bandwidths_ : array of shape (n_views,)
        Bandwidth of the kernel of every view.

    Notes
    -----
    Cost O(n² d) for the kernels and O(n³) per eigendecomposition, or O(n² K) per step of a Krylov
    method beyond 1500 samples where that converges; 8 n² bytes per view, compared with the memory
    budget before. Sparse views are used as they are. Partial views, with missing rows, are refused.

    Deviations from the authors' program: it makes five iterations, and for the concatenation of all
    embeddings it clusters the first K columns only. If more than half of all distances are 0, the
    bandwidth is the mean of the others.

    References
    ----------
    A. Kumar, P. Rai, H. Daumé III. Co-regularized multi-view spectral clustering. NIPS 2011.

    Examples
    --------
    >>> from partita.multiview import CRSC
    >>> views = [[[0.0, 1], [0, 2], [9, 0], [8, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> CRSC(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "coupling": [StrOptions({"pairwise", "centroid"})],
        "lam": POSITIVE,
        "embedding": [StrOptions({"all", "first"})],
        "max_iter": MAX_ITER,
        "tol": TOL,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        coupling: str = "pairwise",
        lam: float = 0.5,
        embedding: str = "all",
        scale: str = "none",
        n_init: int = 20,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.coupling = coupling
        self.lam = lam
        self.embedding = embedding
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        n = views.n_samples
        require_memory(
            8 * n * n * (views.n_views + 3),
            f"CRSC on {n} samples and {views.n_views} views",
            lambda _: "MultiViewClustering, ConKM and ColNMF need no n x n matrix.",
        )
        affinities, bandwidths = zip(*(_affinity(X) for X in views.matrices), strict=True)
        if self.coupling == "pairwise":
            fit = coregularize_pairs(
                affinities, self.n_clusters, self.lam, max_iter=self.max_iter, tol=self.tol
            )
        else:
            weights = np.full(views.n_views, self.lam)
            fit = coregularize_centroid(
                affinities, self.n_clusters, weights, max_iter=self.max_iter, tol=self.tol
            )
        n_used = len(fit.embeddings) if self.embedding == "all" else 1
        rows = normalize_rows(np.hstack(fit.embeddings[:n_used]))
        labels, _ = self._kmeans(rows, rng)
        return ViewsSolution(
            labels,
            objective=fit.history[-1],
            embedding=rows,
            n_iter=len(fit.history),
            converged=fit.converged,
            history=fit.history,
            learned={"bandwidths_": np.array(bandwidths)},
        )


def _affinity(X: Any) -> tuple[NDArray[np.float64], float]:
    """Return D^-½ W D^-½ of the Gaussian kernel W, and its bandwidth."""
    kernel, sigma = gaussian_kernel(X)
    root = np.sqrt(kernel.sum(axis=1))
    kernel /= root
    kernel /= root[:, None]
    return kernel, sigma
