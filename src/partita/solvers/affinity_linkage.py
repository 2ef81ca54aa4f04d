"""Cluster any affinity matrix by linkage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_affinity, check_n_clusters, check_weights
from partita._numbering import number_by_appearance
from partita.solvers.linkage import LINKAGES, agglomerate

__all__ = ["agglomerate_affinity"]


def agglomerate_affinity(
    affinity: Any,
    n_clusters: int | None,
    *,
    linkage: str = "average",
    weights: Any = None,
) -> NDArray[np.int64]:
    """Cluster samples hierarchically by any matrix of similarities.

    `EAC` does this with the co-association matrix. This function takes any matrix: a kernel, a
    correlation, a consensus matrix that another method learned. Distances are the largest entry of
    the matrix minus its entries.

    Parameters
    ----------
    affinity : array-like of shape (n_samples, n_samples), symmetric
        Larger means more similar. The diagonal is the similarity of a sample to itself.
    n_clusters : int or None
        Number of clusters. None takes the partition with the longest lifetime: the widest range of
        heights without a merge.
    linkage : {"average", "single", "complete"}, default="average"
        Distance between two clusters: mean, smallest or largest distance of their samples.
    weights : array of shape (n_samples,), optional
        A sample of weight r counts as r equal samples. By default all weights are 1.

    Returns
    -------
    array of shape (n_samples,)
        Exactly `n_clusters` clusters, numbered by first appearance. O(n²) time and memory. Ties
        are broken by the affinities where these differ, otherwise by the order of the samples.

    References
    ----------
    A. Fred, A. Jain. Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6),
    2005. https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> from partita.solvers import agglomerate_affinity
    >>> agglomerate_affinity([[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]], n_clusters=2)
    array([0, 0, 1])
    """
    shape = np.shape(affinity)
    if len(shape) != 2 or shape[0] == 0:
        raise ValueError(f"affinity must be a square matrix of similarities, got shape {shape}.")
    n = shape[0]
    matrix = check_affinity(affinity, n)
    if linkage not in LINKAGES:
        raise ValueError(f"linkage must be one of {LINKAGES}, got {linkage!r}")
    r = check_weights(weights, n, "weights")
    if n_clusters is not None:
        check_n_clusters(n_clusters, n)

    order = _order(matrix, r)
    distances = matrix.max() - matrix[np.ix_(order, order)]
    distances = (distances + distances.T) / 2
    tree = agglomerate(distances, r[order], linkage, overwrite=True)
    if n_clusters is None:
        n_clusters = tree.longest_lived(n + int(np.any(r > 1)))
    labels = np.empty(n, np.int64)
    labels[order] = tree.cut(n_clusters)
    return number_by_appearance(labels)[0]


def _order(matrix: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order samples by their affinities; sorted sums do not depend on the order of columns."""
    profiles = np.sort(matrix * r, axis=1)
    return np.lexsort((np.square(profiles).sum(axis=1), profiles.sum(axis=1), r))
