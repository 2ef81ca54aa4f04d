"""Find the connected components of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as _components
from scipy.sparse.linalg import LinearOperator

__all__ = ["bipartite_components", "component_vectors", "connected_components"]


def connected_components(graph: Any, *, symmetric: bool = False) -> tuple[int, NDArray[np.int64]]:
    """Return the number of components and the component of every node.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Any non-zero entry is an edge, whatever its direction.
    symmetric : bool, default=False
        Whether the graph is symmetric. Then no copy is made of an array.
    """
    if symmetric and isinstance(graph, np.ndarray):
        return _dense_components(graph)
    matrix = graph if sp.issparse(graph) else sp.csr_matrix(graph)
    count, labels = _components(matrix, directed=False)
    return int(count), labels.astype(np.int64)


def _dense_components(graph: NDArray[np.float64]) -> tuple[int, NDArray[np.int64]]:
    """Walk over the nodes from neighbor to neighbor: at most O(n²) time, O(n) memory.

    The walk ends with the last node that is found, after one row of a graph without zeros.
    """
    labels = np.full(len(graph), -1)
    count, n_left = 0, len(graph)
    for node in range(len(graph)):
        if labels[node] >= 0:
            continue
        labels[node] = count
        n_left -= 1
        pending = [node]
        while pending and n_left:
            neighbors = np.flatnonzero((graph[pending.pop()] != 0) & (labels < 0))
            labels[neighbors] = count
            n_left -= len(neighbors)
            pending.extend(neighbors.tolist())
        count += 1
    return count, labels


def bipartite_components(graph: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the component of every row and of every column of a bipartite graph.

    Parameters
    ----------
    graph : array, sparse matrix or `LabelGraph` of shape (n, p)
        Edges between rows and columns.
    """
    if isinstance(graph, LinearOperator):
        rows, columns = graph.components()
        return rows, columns
    edges = sp.csr_matrix(graph)
    labels = connected_components(sp.block_array([[None, edges], [edges.T, None]]))[1]
    return labels[: edges.shape[0]], labels[edges.shape[0] :]


def component_vectors(
    components: NDArray[np.int64], degrees: NDArray[np.float64], most: int
) -> NDArray[np.float64]:
    """Return the eigenvectors of eigenvalue 1 of a normalized graph, one per component.

    The eigenvector D^½ 1 of a connected graph is its only one, with non-negative edges. The largest
    components, by the sum of their degrees, come first; nodes without edges have none.

    Parameters
    ----------
    components : array of shape (n,)
        Component of every node.
    degrees : array of shape (n,)
        Degrees D.
    most : int
        Largest number of eigenvectors.

    Returns
    -------
    vectors : array of shape (n, n_vectors)
        Orthonormal.
    """
    totals = np.bincount(components, degrees)
    order = np.argsort(-totals, kind="stable")[: min(most, np.count_nonzero(totals))]
    place = np.full(len(totals), -1)
    place[order] = np.arange(len(order))
    nodes = np.flatnonzero((degrees > 0) & (place[components] >= 0))
    vectors = np.zeros((len(components), len(order)))
    vectors[nodes, place[components[nodes]]] = np.sqrt(degrees[nodes] / totals[components[nodes]])
    return vectors
