"""RMSC: a low-rank transition matrix behind the random walks of all views."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.consensus.constraints import MAX_ITER, POSITIVE, Interval
from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._gaussian import gaussian_kernel
from partita.multiview._views import Views
from partita.solvers.shared_transitions import fit_transitions, walk_embedding
from partita.solvers.spectral import normalize_rows

__all__ = ["RMSC"]

_LAM = 0.005  # smallest value that the authors try


class RMSC(MultiViewBaseline):
    """Robust multi-view spectral clustering of features.

    Every view has a Gaussian kernel W_v, whose bandwidth is the median distance, and a random walk
    with the transition matrix T_v = D_v^-1 W_v. It is that of one shared walk, which has low rank,
    plus sparse errors,

        min ‖P‖_* + λ Σ_v ‖E_v‖₁  subject to  T_v = P + E_v,  P >= 0,  P 1 = 1.

    Labels come from spectral clustering of the shared walk: with its stationary distribution π and
    Π = diag(π), from the K leading eigenvectors of (Π^½ P Π^-½ + Π^-½ Pᵀ Π^½)/2. Their rows,
    divided by their length, are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    lam : float or None, default=None
        λ, the weight of the errors. The method's authors try 0.005 to 1. None means the larger of
        0.005 and 2 K/(V n) for V views of n samples.
    scale : {"none", "sum", "frobenius", "rows"}, default="none"
        Scale of every view. The bandwidth makes the kernel independent of the unit of the view, so
        that "none", "sum" and "frobenius" give the same labels. "rows" divides every row by its
        length: distances are then those of directions, which suits texts.
    mu : float, default=0.001
        Initial penalty of the augmented Lagrangian.
    growth : float, default=1.9
        Factor of the penalty from one iteration to the next. A smaller one comes nearer to the
        smallest objective, in more iterations.
    n_init : int, default=20
        Restarts of k-means on the embedding.
    max_iter : int, default=300
        Largest number of iterations.
    tol : float, default=1e-06
        The iteration stops when, in all rows of P + E_v - T_v and of P - Q, the absolute entries
        sum to less than `tol`. Q is the low-rank copy of P.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        Value of the objective above at P.
    history_ : array
        Largest sum of absolute residuals in a row after every iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the iteration reached `tol`.
    embedding_ : array of shape (n_samples, n_clusters)
        The rows that k-means clustered.
    view_errors_ : array of shape (n_views,)
        ‖T_v - P‖₁: how far each view is from the shared walk.
    bandwidths_ : array of shape (n_views,)
        Bandwidth of the kernel of every view.
    lam_ : float
        The weight of the errors that was used.

    Notes
    -----
    Cost O(V n² + n³) per iteration; about 30 iterations. Memory: two n x n arrays per view and
    about eight more, compared with the memory budget before.

    Partial views: entries of T_v for samples that the view does not have are unknown, and E_v is
    free there. A walk in the view leaves it with the share of the samples that it does not have, so
    that the known entries of a row of T_v sum to the share of those that it has.

    Deviations from the published program: `lam` is larger in small problems, E_v starts at 0
    instead of at random, the iteration also waits for P - Q, and π is the distribution of a walk
    from a random sample, which is unique even if P falls into separate parts.

    References
    ----------
    R. Xia, Y. Pan, L. Du, J. Yin. Robust multi-view spectral clustering via low-rank and sparse
    decomposition. AAAI 2014, 2149-2155. https://doi.org/10.1609/aaai.v28i1.8950

    Examples
    --------
    >>> from partita.multiview import RMSC
    >>> views = [[[0.0, 1], [0, 2], [9, 0], [8, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> RMSC(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    _accepts_partial: ClassVar[bool] = True
    _stop: ClassVar[str] = "while residuals still exceeded tol={tol:g}. Raise max_iter or growth."
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewBaseline._parameter_constraints,
        "lam": [*POSITIVE, None],
        "mu": POSITIVE,
        "growth": [Interval(Real, 1, None, closed="neither")],
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | None = None,
        scale: str = "none",
        mu: float = 1e-3,
        growth: float = 1.9,
        n_init: int = 20,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.scale = scale
        self.mu = mu
        self.growth = growth
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        n, n_views = views.n_samples, views.n_views
        require_memory(
            8 * n * n * (2 * n_views + 8),
            f"RMSC on {n} samples and {n_views} views",
            lambda _: "MultiViewClustering, ConKM and ColNMF need no n x n matrix.",
        )
        kernels, bandwidths = zip(*(gaussian_kernel(X) for X in views.matrices), strict=True)
        walks = [_transitions(views, v, kernel) for v, kernel in enumerate(kernels)]
        del kernels
        lam = max(_LAM, 2.0 * self.n_clusters / (n_views * n)) if self.lam is None else self.lam
        weights = np.ones(n)
        walk = fit_transitions(
            walks,
            weights,
            lam=lam,
            mu=self.mu,
            growth=self.growth,
            max_iter=self.max_iter,
            tol=self.tol,
            task="RMSC",
        )
        rows = normalize_rows(walk_embedding(walk.matrix, weights, self.n_clusters))
        labels, _ = self._kmeans(rows, rng)
        return ViewsSolution(
            labels,
            objective=walk.nuclear_norm + lam * float(walk.errors.sum()),
            embedding=rows,
            n_iter=len(walk.history),
            converged=walk.converged,
            history=walk.history.tolist(),
            learned={
                "view_errors_": walk.errors,
                "bandwidths_": np.array(bandwidths),
                "lam_": lam,
            },
        )


def _transitions(views: Views, view: int, kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return T_v over all samples, from the kernel of those in the view; the kernel is reused."""
    n, n_present = views.n_samples, len(kernel)
    kernel *= n_present / n / kernel.sum(axis=1, keepdims=True)
    if n_present == n:
        return kernel
    is_present = views.present[:, view]
    walk = np.full((n, n), np.nan)
    walk[np.ix_(is_present, is_present)] = kernel
    return walk
