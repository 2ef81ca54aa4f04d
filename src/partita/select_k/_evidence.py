"""What tells clusters of features from the pieces that a generator makes of any data.

A generator cuts data without clusters into much the same pieces again and again, so that agreement
of its partitions is weak evidence. Each kind of generator has a second quality, the one that it
optimizes: the variance within clusters for k-means, the edges between clusters for a generator that
cuts a graph of neighbors. The clusters of such a generator may have any shape, also one around the
other, and much variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.select_k._neighbors import distinct_points, evenly_chosen, nearest

__all__ = ["Evidence", "isolation", "tightness"]

_LEAST_SHARE = 1e-6  # of the variance; less counts as this
_N_NEIGHBORS = 5
_COMPARED_SAMPLES = 2_000  # whose neighbors are looked at

Points = Any  # array, or canonical CSR matrix
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A quality of clusters of features.

    Attributes
    ----------
    name : str
        Name of its curve.
    of : callable
        Returns the quality of labels; more is better.
    """

    name: str
    of: Callable[[Labels], float]

    @classmethod
    def of_features(cls, X: Points, *, is_graph: bool) -> Evidence:
        """Return the evidence for clusters of features, by the kind of their generator."""
        return cls.isolation(X) if is_graph else cls.tightness(X)

    @classmethod
    def tightness(cls, X: Points) -> Evidence:
        """Return the evidence for partitions by k-means."""
        return cls("tightness", lambda labels: tightness(X, labels))

    @classmethod
    def isolation(cls, X: Points) -> Evidence:
        """Return the evidence for partitions that cut a graph of neighbors.

        Equal points count once: they are their own nearest neighbors, in noise as well.
        """
        points, first = distinct_points(X)
        chosen = evenly_chosen(len(first), _COMPARED_SAMPLES)
        _, neighbors = nearest(points, chosen, min(_N_NEIGHBORS + 1, len(first)))
        return cls("isolation", lambda labels: isolation(chosen, neighbors, labels[first]))


def tightness(X: Points, labels: Labels) -> float:
    """Return minus the logarithm of the share of the variance that is left within clusters."""
    labeled = np.flatnonzero(labels >= 0)
    points, own = X[labeled], labels[labeled]
    counts = np.bincount(own)
    if sp.issparse(points):
        total, between = _sparse_sums(points, own, counts)
    else:
        points = points - points.mean(axis=0)
        sums = np.zeros((len(counts), X.shape[1]))
        np.add.at(sums, own, points)
        total = float(np.sum(points**2))
        between = float(np.sum(sums**2 / np.maximum(counts, 1)[:, None]))
    if total <= 0.0:
        return 0.0
    return -float(np.log(max(1.0 - between / total, _LEAST_SHARE)))


def _sparse_sums(
    points: sp.csr_matrix, labels: Labels, counts: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the sum of squares of sparse points, and that between clusters, about their mean."""
    n = len(labels)
    members = sp.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(len(counts), n))
    sums = members @ points
    of_mean = float(np.sum(np.square(points.sum(axis=0)))) / n
    squares = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    between = float(np.sum(squares / np.maximum(counts, 1))) - of_mean
    return float(np.sum(np.square(points.data))) - of_mean, between


def isolation(rows: NDArray[np.int64], neighbors: NDArray[np.int64], labels: Labels) -> float:
    """Return minus the logarithm of the share of neighbors in another cluster, against chance.

    The share is divided by the one that random labels with these sizes of clusters have: few
    samples that are cut off, which any data have, are no evidence. One edge more than there are
    counts as cut, so that the logarithm exists.

    Parameters
    ----------
    rows : array of shape (n_rows,)
        Samples whose neighbors are looked at.
    neighbors : array of shape (n_rows, n_neighbors)
        Their nearest neighbors, themselves included.
    labels : array of shape (n_samples,)
        Clusters, -1 without one.
    """
    own, others = labels[rows][:, None], labels[neighbors]
    is_edge = (own >= 0) & (others >= 0) & (neighbors != rows[:, None])
    n_edges, n_cut = np.count_nonzero(is_edge), np.count_nonzero(is_edge & (own != others))
    sizes = np.bincount(labels[labels >= 0]).astype(np.float64)
    shares = sizes / max(float(sizes.sum()), 1.0)
    expected = n_edges * (1.0 - float(np.sum(shares**2)))
    return float(np.log((expected + 1) / (n_cut + 1)))
