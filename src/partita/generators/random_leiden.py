"""Make base partitions by Leiden communities of random nearest-neighbor graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from partita._packages import require_package
from partita._sklearn_compat import StrOptions
from partita.generators._base import MISSING, POSITIVE_INT, BaseGenerator, Labels
from partita.generators._features import Preparation, has_direction, warn_without_direction
from partita.generators._landmark_graph import nearest_landmarks
from partita.generators._ranges import check_range, draw_integer

__all__ = ["RandomLeiden"]


class RandomLeiden(BaseGenerator):
    """Leiden communities of nearest-neighbor graphs, with random neighbors and resolutions.

    Partition i joins every sample with its r nearest neighbors. The weight of an edge is the
    overlap of the two neighborhoods (Jaccard index, the sample itself included). The Leiden
    algorithm maximizes the modularity with resolution g, with

        r ~ uniform{5, ..., 30},    log g ~ uniform(log 0.3, log 3).

    The number of clusters follows from r and g; partitions differ in how fine they are.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    n_neighbors : (int, int), default=(5, 30)
        Range of r, both ends included.
    resolution : (float, float), default=(0.3, 3.0)
        Range of g. A higher resolution gives more clusters.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        "cosine" divides every row by its length first (the usual choice for text); a row of zeros
        has no direction and stays unlabeled (-1). "precomputed": X is the graph itself, a matrix of
        shape (n_samples, n_samples) with the weights of the edges, such as
        `adata.obsp["connectivities"]`; partitions then differ in resolution and seed only.
    n_jobs : int, optional
        Number of partitions made at the same time, each on one core. -1 uses all cores. By default
        `partita.get_config().n_threads`. The labels do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same integer gives the same labels.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        Labels of the base partitions.
    n_clusters_ : array of shape (n_partitions,)
        Number of clusters of each partition.

    Notes
    -----
    Needs the package leidenalg: `pip install 'partita[leiden]'`. There is no `transform`:
    communities do not label new samples.

    Time O(n² d) for the neighbors, which all partitions share, and about O(n r) per partition;
    memory O(n (d + r)). A graph that is passed needs no search for neighbors. Of its two weights
    between a pair of samples, the larger one counts.

    References
    ----------
    Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities.
    Scientific Reports 9, 2019. https://doi.org/10.1038/s41598-019-41695-z

    Examples
    --------
    >>> from partita.generators import RandomLeiden
    >>> RandomLeiden(n_partitions=10, resolution=(0.5, 2.0))
    RandomLeiden(n_partitions=10, resolution=(0.5, 2.0))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "metric": [StrOptions({"euclidean", "cosine", "precomputed"})],
        "n_partitions": [POSITIVE_INT],
        "n_neighbors": [tuple, list],
        "resolution": [tuple, list],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        n_neighbors: Sequence[int] = (5, 30),
        resolution: Sequence[float] = (0.3, 3.0),
        metric: str = "euclidean",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.n_neighbors = n_neighbors
        self.resolution = resolution
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _predicts(self) -> bool:
        return False

    def _count(self) -> int:
        return self.n_partitions

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        check_range("n_neighbors", self.n_neighbors, (5, 30))
        check_range("resolution", self.resolution, (0.3, 3.0))
        require_package("leidenalg", "Leiden partitions", "partita[leiden]")
        if self.metric == "precomputed":
            return _symmetric_graph(X)
        unit = self.metric == "cosine"
        prepared = Preparation.of(X, unit=unit).apply(X)
        self._usable = np.arange(X.shape[0])
        if unit:
            warn_without_direction(prepared)
            self._usable = np.flatnonzero(has_direction(prepared))
        rows = prepared[self._usable]
        n_neighbors = min(self.n_neighbors[1] + 1, rows.shape[0])
        self._neighbors = np.zeros((0, 1), np.int64)
        if n_neighbors > 0:
            self._neighbors = nearest_landmarks(rows, rows, n_neighbors)[0]
        return prepared

    def _partition(self, X: Any, index: int, rng: np.random.Generator) -> tuple[Labels, None]:
        r = draw_integer(self.n_neighbors, rng)
        low, high = np.log(self.resolution)
        g = float(np.exp(rng.uniform(low, high)))
        if self.metric == "precomputed":
            return _communities(X, g, int(rng.integers(2**31 - 1))), None
        labels = np.full(X.shape[0], MISSING, np.int32)
        neighbors = self._neighbors[:, : r + 1]
        if len(neighbors):
            seed = int(rng.integers(2**31 - 1))
            labels[self._usable] = _communities(_jaccard(neighbors), g, seed)
        return labels, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _symmetric_graph(X: Any) -> Any:
    """Return a graph as a symmetric sparse matrix of its weights."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            'With metric="precomputed", X must be a graph: a matrix (n_samples, n_samples) of the '
            f"weights of edges. Got shape {X.shape}; pass features with another metric."
        )
    graph = sp.csr_matrix(X)
    if graph.nnz and graph.data.min() < 0:
        raise ValueError(
            f"Weights of edges must not be negative, got {graph.data.min():g}. Pass similarities "
            "of neighbors, not distances or correlations."
        )
    return graph.maximum(graph.T)


def _communities(graph: Any, resolution: float, seed: int) -> Labels:
    """Return the Leiden communities of a symmetric sparse matrix of weights."""
    igraph = require_package("igraph", "Leiden partitions", "partita[leiden]")
    leiden = require_package("leidenalg", "Leiden partitions", "partita[leiden]")
    edges = sp.coo_matrix(sp.triu(graph, k=1))
    pairs = list(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    partition = leiden.find_partition(
        igraph.Graph(graph.shape[0], pairs),
        leiden.RBConfigurationVertexPartition,
        weights=edges.data.tolist(),
        seed=seed,
        resolution_parameter=resolution,
        n_iterations=-1,
    )
    return np.asarray(partition.membership, np.int32)


def _jaccard(neighbors: Any) -> Any:
    """Return the overlaps of neighborhoods, for samples of which one is a neighbor of the other."""
    n, size = neighbors.shape
    table = (np.ones(n * size), neighbors.ravel(), np.arange(0, n * size + 1, size))
    members = sp.csr_matrix(table, shape=(n, n))
    joined = members.maximum(members.T)
    common = (members @ members.T).multiply(joined).tocsr()
    common.data /= 2 * size - common.data
    return common
