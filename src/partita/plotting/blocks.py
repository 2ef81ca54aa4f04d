"""The ordered co-association matrix as block means: a small image of any number of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.ensemble import Ensemble, as_ensemble
from partita.exceptions import InvalidEnsembleError
from partita.matrices.cluster_counts import group_overlaps

__all__ = ["BlockMeans", "block_means"]

_DENSE = 1 << 22  # entries of a table of blocks and clusters above which it is kept sparse
_ROWS = 1 << 16  # rows looked up at a time


@dataclass(frozen=True)
class BlockMeans:
    """Mean co-association between groups of samples, ordered by cluster and confidence.

    Attributes
    ----------
    image : array of shape (n_blocks, n_blocks)
        Share of the labeled pairs that the partitions join, between two blocks of samples.
    clusters : array of shape (n_shown,)
        Consensus label of each cluster, largest cluster first.
    sizes : array of shape (n_shown,)
        Number of samples in each cluster.
    confidence : array of shape (n_shown,)
        Mean co-association within each cluster.
    bounds : array of shape (n_shown + 1,)
        Where each cluster starts and the last ends, in blocks.
    n_unlabeled : int
        Samples without a consensus label, which are left out.
    """

    image: NDArray[np.float64]
    clusters: NDArray[np.int64]
    sizes: NDArray[np.int64]
    confidence: NDArray[np.float64]
    bounds: NDArray[np.float64]
    n_unlabeled: int


def block_means(X: Any, labels: Any, *, resolution: int = 480) -> BlockMeans:
    """Average the co-association matrix over blocks of similar samples.

    Samples are ordered by consensus cluster, the largest first, and inside a cluster by their mean
    co-association with it; every cluster is cut into blocks of equal weight. The mean over the
    pairs of blocks I and J is Σ_i f_Iᵢᵀ f_Jᵢ / m, where f_Iᵢ holds the shares of block I in the
    clusters of partition i, so that no pair of samples is ever visited.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_partitions), data frame, list, or Ensemble
        The base partitions. Where labels are missing, pairs that a partition does not label do not
        count.
    labels : array of shape (n_samples,)
        The consensus, whole numbers; negative ones are left out.
    resolution : int
        Rows of the image: one per sample where there are fewer samples.

    Returns
    -------
    BlockMeans
        O(n m + m K_i resolution²) time, O(n + resolution²) memory beside the label table.

    Examples
    --------
    >>> from partita.plotting import block_means
    >>> means = block_means([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1], resolution=2)
    >>> means.image
    array([[1.  , 0.25],
           [0.25, 0.75]])
    """
    if resolution < 1:
        raise ValueError(f"resolution must be at least 1, got {resolution!r}")
    core, consensus = as_ensemble(X).compress(), _check_consensus(labels)
    if len(consensus) != core.n_samples:
        raise InvalidEnsembleError(
            f"labels must have one entry per sample, {core.n_samples}, got {len(consensus)}."
        )
    inverse = np.arange(core.n_rows) if core.inverse is None else core.inverse
    shown = (consensus >= 0) & (inverse >= 0)
    if not shown.any():
        raise InvalidEnsembleError("No sample has a consensus label: there is nothing to draw.")
    names, cluster = np.unique(consensus[shown], return_inverse=True)
    sizes = np.bincount(cluster)
    largest_first = np.argsort(-sizes, kind="stable")
    rank = np.argsort(largest_first)

    units, cluster = _units(core, inverse, shown, rank[cluster])
    confidence = _confidence(units, cluster, len(names))
    weights = np.bincount(cluster, units.weights).astype(np.float64)
    order = np.lexsort((-confidence, cluster))
    edges, bounds = _edges(weights, sizes[largest_first], resolution)
    unit, block, share = _pieces(units.weights[order], edges)
    return BlockMeans(
        image=_image(units, order[unit], block, share, len(edges) - 1),
        clusters=names[largest_first],
        sizes=sizes[largest_first],
        confidence=np.bincount(cluster, units.weights * confidence) / weights,
        bounds=bounds,
        n_unlabeled=int(np.count_nonzero(~shown)),
    )


def _check_consensus(labels: Any) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidEnsembleError(
            "labels must be a vector of whole numbers such as `labels_`, got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    return array.astype(np.int64)


def _units(
    core: Ensemble,
    inverse: NDArray[np.int64],
    shown: NDArray[np.bool_],
    cluster: NDArray[np.int64],
) -> tuple[Ensemble, NDArray[np.int64]]:
    """Samples with the same label row and consensus label as one row each; its consensus label."""
    n_clusters = int(cluster.max()) + 1
    keys, counts = np.unique(inverse[shown] * n_clusters + cluster, return_counts=True)
    row = keys // n_clusters
    # the reduction has added up the samples' weights: share them out evenly
    per_sample = core.weights / np.bincount(inverse[inverse >= 0], minlength=core.n_rows)
    units = replace(core, codes=core.codes[row], weights=counts * per_sample[row], inverse=None)
    return units, keys % n_clusters


def _confidence(
    units: Ensemble, cluster: NDArray[np.int64], n_clusters: int
) -> NDArray[np.float64]:
    """Mean co-association of each row with its cluster, over the pairs that are labeled."""
    joined = group_overlaps(units, cluster, n_clusters)
    labeled = np.add.reduceat(joined, units.offsets[:-1], axis=0)
    partitions = np.arange(units.n_partitions)
    confidence = np.empty(units.n_rows)
    for start in range(0, units.n_rows, _ROWS):
        part = slice(start, start + _ROWS)
        there, own = units.observed[part], cluster[part, None]
        codes = np.where(there, units.codes[part] + units.offsets[:-1], 0)
        agreeing = np.where(there, joined[codes, own], 0.0).sum(axis=1)
        confidence[part] = agreeing / np.where(there, labeled[partitions, own], 0.0).sum(axis=1)
    return confidence


def _edges(
    weights: NDArray[np.float64], sizes: NDArray[np.int64], resolution: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of the blocks in cumulated weight, and of the clusters in blocks.

    Every cluster has blocks of its own, at most one per sample, unless there are more clusters
    than rows in the image.
    """
    total = np.concatenate([[0.0], np.cumsum(weights)])
    if len(weights) > resolution:
        return np.linspace(0, total[-1], resolution + 1), total / total[-1] * resolution
    n_blocks = np.clip(np.rint(resolution * weights / total[-1]).astype(np.int64), 1, sizes)
    pieces = [
        np.linspace(start, stop, count, endpoint=False)
        for start, stop, count in zip(total[:-1], total[1:], n_blocks, strict=True)
    ]
    bounds = np.concatenate([[0], np.cumsum(n_blocks)]).astype(np.float64)
    return np.concatenate([*pieces, total[-1:]]), bounds


def _pieces(
    weights: NDArray[np.float64], edges: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Cut units laid end to end at the blocks' edges: unit, block and weight of every piece."""
    ends = np.cumsum(weights)
    ends *= edges[-1] / ends[-1]
    cuts = np.unique(np.concatenate([[0.0], ends, edges]))
    middle = (cuts[:-1] + cuts[1:]) / 2
    unit = np.searchsorted(ends, middle)
    block = np.searchsorted(edges, middle) - 1
    return unit, block, np.diff(cuts)


def _image(
    units: Ensemble,
    row: NDArray[np.int64],
    block: NDArray[np.int64],
    share: NDArray[np.float64],
    n_blocks: int,
) -> NDArray[np.float64]:
    agreeing = np.zeros((n_blocks, n_blocks))
    labeled = np.zeros((n_blocks, units.n_partitions))
    for i, n_clusters in enumerate(units.n_clusters):
        codes = units.codes[row, i]
        there = codes != units.missing_code
        entries = (share[there], (block[there], codes[there]))
        table = sp.coo_matrix(entries, shape=(n_blocks, int(n_clusters))).tocsr()
        labeled[:, i] = np.asarray(table.sum(axis=1)).ravel()
        dense = table.toarray() if n_blocks * n_clusters <= _DENSE else table
        agreeing += dense @ dense.T
    pairs = labeled @ labeled.T
    return np.divide(agreeing, pairs, out=np.zeros_like(agreeing), where=pairs > 0)
