"""Clusters grouped into meta-clusters, and rows that go where most of their clusters are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.solvers.graph_cut._refinement import Cut
from partita.solvers.graph_cut.graphs import cut_graph

__all__ = ["MetaClusters", "meta_clusters"]

_UNIT = 2.0**-30  # similarities are rounded to multiples of it, so that ties are ties


@dataclass(frozen=True)
class MetaClusters:
    """Labels of the rows, how the columns were cut, and the share of each meta-cluster's columns
    that hold a row, shape (n, n_groups)."""

    labels: NDArray[np.int64]
    groups: Cut
    association: NDArray[np.float64]


def meta_clusters(
    incidence: Any,
    similarity: NDArray[np.float64],
    sizes: NDArray[np.float64],
    n_groups: int,
    rng: np.random.Generator,
    **options: Any,
) -> MetaClusters:
    """Cut the graph of columns into balanced groups and let every row vote.

    Parameters
    ----------
    incidence : sparse matrix of shape (n, p), 0/1
        Rows and the columns (clusters) that hold them.
    similarity : array of shape (p, p)
        Similarity of the columns.
    sizes : array of shape (p,)
        Weights of the columns, which the groups share evenly.
    n_groups : int
    rng, **options
        As in `cut_graph`.
    """
    graph = np.rint(similarity / _UNIT) * _UNIT
    groups = cut_graph(graph, sizes, n_groups, rng, **options)
    member = np.zeros((len(sizes), int(groups.labels.max()) + 1))
    member[np.arange(len(sizes)), groups.labels] = 1.0
    association = np.asarray(incidence @ member) / member.sum(axis=0)
    return MetaClusters(np.argmax(association, axis=1), groups, association)
