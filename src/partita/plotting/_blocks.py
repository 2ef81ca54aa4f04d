"""Block means of the ordered co-association matrix: a small image of any number of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.label_vector import code_labels
from partita.ensemble import Ensemble, as_ensemble
from partita.exceptions import InvalidEnsembleError
from partita.matrices.cluster_counts import group_overlaps

__all__ = ["BlockMeans", "block_means"]

_DENSE_CELLS = 1 << 22  # a table of blocks and base clusters with more cells is kept sparse
_ROWS = 1 << 16  # rows per block of the look-up


@dataclass(frozen=True)
class BlockMeans:
    """Mean co-association between blocks of samples, ordered by cluster and confidence.

    Attributes
    ----------
    image : array of shape (n_blocks, n_blocks)
        Share of the labeled pairs that the partitions join, for each pair of blocks.
    clusters : array of shape (n_clusters,)
        Label of each cluster, largest cluster first.
    sizes : array of shape (n_clusters,)
        Number of samples in each cluster.
    confidence : array of shape (n_clusters,)
        Mean co-association within each cluster.
    bounds : array of shape (n_clusters + 1,)
        First block of each cluster, and the end of the last.
    n_unlabeled : int
        Number of samples without a label, which are left out.
    """

    image: NDArray[np.float64]
    clusters: NDArray[Any]
    sizes: NDArray[np.int64]
    confidence: NDArray[np.float64]
    bounds: NDArray[np.float64]
    n_unlabeled: int


def block_means(partitions: Any, labels: Any, *, resolution: int = 480) -> BlockMeans:
    """Average the co-association matrix over blocks of similar samples.

    Samples are ordered by consensus cluster, the largest first, and inside a cluster by their mean
    co-association with it. Each cluster is cut into blocks of equal weight. The mean over the
    pairs of blocks I and J is Σ_i f_Iᵢᵀ f_Jᵢ / m, where f_Iᵢ holds the shares of block I in the
    clusters of partition i, so that no pair of samples is visited.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. If labels are missing, a pair counts in the partitions that label both
        samples.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus. -1, None and NaN are samples without a label, which are left out.
    resolution : int, default=480
        Number of rows of the image; with fewer samples, one row per sample.

    Returns
    -------
    BlockMeans
        Cost O(n m + m K_i resolution²) time, O(n + resolution²) memory beside the labels.

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
    core = as_ensemble(partitions).compress()
    codes, names = code_labels(labels, core.n_samples, sample_ids=core.sample_ids)
    inverse = np.arange(core.n_rows) if core.inverse is None else core.inverse
    shown = (codes >= 0) & (inverse >= 0)
    if not shown.any():
        raise InvalidEnsembleError("No sample has a label: there is nothing to draw.")
    sizes = np.bincount(codes[shown], minlength=len(names))
    largest_first = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.zeros(len(names), np.int64)
    rank[largest_first] = np.arange(len(largest_first))

    units, cluster = _units(core, inverse, shown, rank[codes[shown]])
    confidence = _confidence(units, cluster, len(largest_first))
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


def _units(
    core: Ensemble,
    inverse: NDArray[np.int64],
    shown: NDArray[np.bool_],
    cluster: NDArray[np.int64],
) -> tuple[Ensemble, NDArray[np.int64]]:
    """Join samples with the same row and the same cluster; return the rows and their clusters."""
    n_clusters = int(cluster.max()) + 1
    cells, counts = np.unique(inverse[shown] * n_clusters + cluster, return_counts=True)
    row = cells // n_clusters
    # `compress` adds up the weights of equal samples: give each of them the same share
    per_sample = core.weights / np.bincount(inverse[inverse >= 0], minlength=core.n_rows)
    units = replace(core, codes=core.codes[row], weights=counts * per_sample[row], inverse=None)
    return units, cells % n_clusters


def _confidence(
    units: Ensemble, cluster: NDArray[np.int64], n_clusters: int
) -> NDArray[np.float64]:
    """Return the mean co-association of each row with its cluster, over the labeled pairs."""
    joined = group_overlaps(units, cluster, n_clusters)
    labeled = np.add.reduceat(joined, units.offsets[:-1], axis=0)
    columns = np.arange(units.n_partitions)
    confidence = np.empty(units.n_rows)
    for start in range(0, units.n_rows, _ROWS):
        part = slice(start, start + _ROWS)
        observed, own = units.observed[part], cluster[part, None]
        codes = np.where(observed, units.codes[part] + units.offsets[:-1], 0)
        agreeing = np.where(observed, joined[codes, own], 0.0).sum(axis=1)
        confidence[part] = agreeing / np.where(observed, labeled[columns, own], 0.0).sum(axis=1)
    return confidence


def _edges(
    weights: NDArray[np.float64], sizes: NDArray[np.int64], resolution: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the edges of the blocks as cumulated weight, and of the clusters in blocks.

    Each cluster has its own blocks, at most one per sample, unless there are more clusters than
    rows in the image.
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
    """Cut the units at the edges of the blocks; return unit, block and weight of each piece."""
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
    """Return the share of the labeled pairs that are joined, for each pair of blocks."""
    agreeing = np.zeros((n_blocks, n_blocks))
    labeled = np.zeros((n_blocks, units.n_partitions))
    for i, n_clusters in enumerate(units.n_clusters):
        codes = units.codes[row, i]
        observed = codes != units.missing_code
        entries = (share[observed], (block[observed], codes[observed]))
        table = sp.coo_matrix(entries, shape=(n_blocks, int(n_clusters))).tocsr()
        labeled[:, i] = np.asarray(table.sum(axis=1)).ravel()
        dense = table.toarray() if n_blocks * n_clusters <= _DENSE_CELLS else table
        agreeing += dense @ dense.T
    pairs = labeled @ labeled.T
    return np.divide(agreeing, pairs, out=np.zeros_like(agreeing), where=pairs > 0)
