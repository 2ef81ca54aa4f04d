"""Group base clusters into meta-clusters, and let rows vote for one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.solvers.graph_cut._balanced import Cut
from partita.solvers.graph_cut.graphs import cut_graph

__all__ = ["MetaClusters", "find_meta_clusters"]

_UNIT = 2.0**-30  # similarities are rounded to multiples of it, so that ties are exact


@dataclass(frozen=True)
class MetaClusters:
    """Meta-clusters and the rows assigned to them.

    Attributes
    ----------
    labels : array of shape (n,)
        Meta-cluster of each row.
    groups : Cut
        Meta-cluster of each column (base cluster).
    association : array of shape (n, n_groups)
        Share of the columns of each meta-cluster that contain a row.
    """

    labels: NDArray[np.int64]
    groups: Cut
    association: NDArray[np.float64]


def find_meta_clusters(
    incidence: Any,
    similarity: NDArray[np.float64],
    sizes: NDArray[np.float64],
    n_groups: int,
    rng: np.random.Generator,
    **options: Any,
) -> MetaClusters:
    """Cut the graph of columns into balanced groups; each row joins the group it is most in.

    Parameters
    ----------
    incidence : array or sparse matrix of shape (n, p)
        Rows and the columns (base clusters) that contain them, 0/1 or degrees of membership.
    similarity : array of shape (p, p)
        Similarity of the columns.
    sizes : array of shape (p,)
        Weights of the columns, which are balanced between the groups.
    n_groups : int
        Number of meta-clusters.
    rng, **options
        As in `cut_graph`.
    """
    graph = np.rint(similarity / _UNIT) * _UNIT
    groups = cut_graph(graph, sizes, n_groups, rng, **options)
    membership = np.zeros((len(sizes), int(groups.labels.max()) + 1))
    membership[np.arange(len(sizes)), groups.labels] = 1.0
    association = np.asarray(incidence @ membership) / membership.sum(axis=0)
    return MetaClusters(np.argmax(association, axis=1), groups, association)
