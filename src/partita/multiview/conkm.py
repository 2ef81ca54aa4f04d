"""ConKM: k-means on the concatenated features of all views."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.multiview._baseline import MultiViewBaseline, ViewsSolution
from partita.multiview._concatenation import concatenate
from partita.multiview._views import Views
from partita.solvers.kmeans import kmeans_model

__all__ = ["ConKM"]


class ConKM(MultiViewBaseline):
    """K-means on concatenated views.

    The simplest way to use several views: the features of all views, side by side, are clustered by
    k-means,

        min Σ_x Σ_v ‖x_v - m_v,k(x)‖².

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    scale : {"none", "sum", "frobenius", "rows"}, default="rows"
        Scale of every view before the concatenation. It decides everything, since a view with
        larger numbers has more influence on the distances. "none": the features as they are.
        "sum": divided by the sum of their absolute values. "frobenius": divided by the root of
        the sum of their squares. "rows": every row divided by its length.
    n_init : int, default=20
        Restarts of k-means; the smallest objective wins.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initialization. An int gives the same result in every call.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    objective_ : float
        Sum of squared distances to the centers, of the scaled features.
    n_iter_ : int
        Number of iterations of the best restart.

    Notes
    -----
    Cost O(n d K) per iteration for d features in all views, or O(nnz K) if all views are sparse.
    Sparse views stay sparse, unless another view is dense. Partial views, with missing rows, are
    refused. The paper that compares with this method does not say how it scales the views.

    References
    ----------
    H. Liu, J. Wu, T. Liu, D. Tao, Y. Fu. Spectral ensemble clustering via weighted k-means:
    theoretical and practical evidence. IEEE TKDE 29(5), 2017.
    https://doi.org/10.1109/TKDE.2017.2650229

    Examples
    --------
    >>> from partita.multiview import ConKM
    >>> views = [[[0.0, 1], [0, 2], [1, 0], [2, 0]], [[5.0, 1], [5, 1], [1, 5], [1, 5]]]
    >>> ConKM(n_clusters=2, random_state=0).fit_predict(views)
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale: str = "rows",
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.n_init = n_init
        self.random_state = random_state

    def _solve(self, views: Views, rng: np.random.Generator) -> ViewsSolution:
        X = concatenate(views.matrices)
        weights = np.ones(views.n_samples)
        model = kmeans_model(X, weights, self.n_clusters, rng, n_init=self.n_init)
        return ViewsSolution(
            model.labels_.astype(np.int64), objective=model.inertia_, n_iter=model.n_iter_
        )
