"""`graph_consensus`: consensus of communities on the edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._numbering import number_by_appearance
from partita.ensemble import Ensemble, as_ensemble
from partita.solvers import connected_components

__all__ = ["GraphConsensus", "graph_consensus"]


@dataclass(frozen=True, eq=False, repr=False)
class GraphConsensus:
    """Edges weighted by the agreement of partitions. Made by `graph_consensus`.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        Community of each node: nodes that are connected by edges above the threshold.
    weights : sparse matrix of shape (n_samples, n_samples)
        New weight of each edge, symmetric. Any community detection can use it.
    edges : array of shape (n_edges, 2)
        The two nodes of each edge, the smaller first.
    agreement : array of shape (n_edges,)
        Share of the partitions that join the two nodes, of those that label both; NaN if no
        partition does.
    """

    labels: NDArray[np.int64]
    weights: Any
    edges: NDArray[np.int64]
    agreement: NDArray[np.float64]

    @property
    def n_clusters(self) -> int:
        """Number of communities."""
        return int(self.labels.max()) + 1

    def __repr__(self) -> str:
        return (
            f"GraphConsensus: {len(self.labels)} nodes and {len(self.edges)} edges in "
            f"{self.n_clusters} communities"
        )


def graph_consensus(
    partitions: Any, graph: Any, *, threshold: float = 0.5, min_weight: float = 0.05
) -> GraphConsensus:
    """Combine partitions of the nodes of a graph by the agreement on its edges.

    The weight of an edge in the 2-core of the graph is

        w = min_weight + (1 - min_weight) s

    with the share s of the partitions that join its nodes; other edges have `min_weight`. Only
    edges are looked at, never all pairs of nodes. The labels are the components that remain if all
    edges with s at most `threshold` are cut.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, one sample per node, in the order of the nodes.
    graph : sparse matrix, networkx Graph or igraph Graph
        The graph. Directions, weights and loops are not used.
    threshold : float, default=0.5
        Share of the partitions that must be exceeded for an edge to stay.
    min_weight : float, default=0.05
        Weight of an edge that no partition joins.

    Returns
    -------
    GraphConsensus
        Labels, and the graph with its new weights for an algorithm of your choice.

    Notes
    -----
    Cost O(edges × m) for m partitions. A missing label takes no part; an edge whose nodes no
    partition labels together is cut. Deviations from the paper: it finds the communities by Louvain
    on the new weights; cutting needs no further package and no resolution, and `weights` is there
    for Louvain or Leiden.

    References
    ----------
    V. Poulin, F. Théberge. Ensemble clustering for graphs: comparisons and applications. Applied
    Network Science 4, 2019. https://doi.org/10.1007/s41109-019-0162-z

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from partita.structure import graph_consensus
    >>> path = sp.diags([1.0, 1.0, 1.0], 1, shape=(4, 4))
    >>> graph_consensus([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]], path).labels
    array([0, 0, 1, 1])
    """
    for name, value in (("threshold", threshold), ("min_weight", min_weight)):
        if not 0 <= value < 1:
            raise ValueError(f"{name} must be a share from 0 to 1 (excluded), got {value!r}.")
    ensemble = as_ensemble(partitions)
    edges = _edges(graph, ensemble.n_samples)
    agreement = _agreement(ensemble, edges)
    n = ensemble.n_samples
    share = np.where(_in_core(edges, n), np.nan_to_num(agreement), 0.0)
    weight = min_weight + (1.0 - min_weight) * share
    half = sp.csr_matrix((weight, (edges[:, 0], edges[:, 1])), shape=(n, n))
    kept = edges[np.nan_to_num(agreement) > threshold]
    joined = sp.csr_matrix((np.ones(len(kept), bool), (kept[:, 0], kept[:, 1])), shape=(n, n))
    labels = number_by_appearance(connected_components(joined)[1].astype(np.int64))[0]
    return GraphConsensus(labels, half + half.T, edges, agreement)


def _edges(graph: Any, n_samples: int) -> NDArray[np.int64]:
    """Return the different edges without loops, the smaller node first."""
    if hasattr(graph, "get_edgelist"):  # igraph
        n, pairs = graph.vcount(), np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    elif hasattr(graph, "adjacency") and hasattr(graph, "nodes"):  # networkx
        number = {node: k for k, node in enumerate(graph.nodes)}
        n = len(number)
        pairs = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64)
        pairs = pairs.reshape(-1, 2)
    elif sp.issparse(graph):
        table = graph.tocoo()
        n, is_edge = table.shape[0], table.data != 0
        if table.shape[0] != table.shape[1]:
            raise ValueError(f"graph must be a square matrix, got shape {table.shape}.")
        pairs = np.column_stack([table.row[is_edge], table.col[is_edge]]).astype(np.int64)
    else:
        raise TypeError(
            "graph must be a SciPy sparse matrix, a networkx Graph or an igraph Graph, got "
            f"{type(graph).__name__}. Convert it, for instance with scipy.sparse.csr_array."
        )
    if n != n_samples:
        raise ValueError(
            f"graph has {n} nodes, the partitions have {n_samples} samples. Pass one sample per "
            "node, in the order of the nodes."
        )
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)


def _agreement(ensemble: Ensemble, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of the partitions that join each edge, of those that label both nodes."""
    rows = np.arange(ensemble.n_samples) if ensemble.inverse is None else ensemble.inverse
    first, second = rows[edges[:, 0]], rows[edges[:, 1]]
    joined, both = np.zeros((2, len(edges)))
    for column in ensemble.codes.T:
        is_labeled = (first >= 0) & (column[first] != ensemble.missing_code)
        is_labeled &= (second >= 0) & (column[second] != ensemble.missing_code)
        both += is_labeled
        joined += is_labeled & (column[first] == column[second])
    return np.divide(joined, both, out=np.full(len(edges), np.nan), where=both > 0)


def _in_core(edges: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Say which edges remain after nodes with one edge are removed again and again, in O(edges)."""
    both_ways = np.concatenate([edges, edges[:, ::-1]])
    degree = np.bincount(both_ways[:, 0], minlength=n).tolist()
    neighbors = np.zeros(n, np.int64)
    np.bitwise_xor.at(neighbors, both_ways[:, 0], both_ways[:, 1])
    # of a node with one edge, the exclusive or of its neighbors is its neighbor
    combined = neighbors.tolist()
    leaves = [node for node, number in enumerate(degree) if number == 1]
    while leaves:
        leaf = leaves.pop()
        if degree[leaf] != 1:
            continue
        neighbor = combined[leaf]
        degree[leaf] = 0
        degree[neighbor] -= 1
        combined[neighbor] ^= leaf
        if degree[neighbor] == 1:
            leaves.append(neighbor)
    is_inside = np.array(degree) > 0
    return np.asarray(is_inside[edges].all(axis=1))
