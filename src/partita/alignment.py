"""Cluster names that last: match the clusters of one result to those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partita._input.coding import encode
from partita._input.containers import label_columns
from partita.matrices import contingency

__all__ = ["Alignment", "ClusterTree", "align_labels", "cluster_tree"]

_SHARE = 0.2  # a part of a cluster this large is worth reporting as a split or a merge


@dataclass(frozen=True)
class Alignment:
    """One result in the names of another. Made by `align_labels`.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The clusters under their reference names; new clusters get numbers the reference does not
        use, -1 stays -1.
    names : mapping
        New name of every cluster.
    agreement : float
        Share of the samples labeled by both whose cluster kept its name.
    splits : mapping
        Reference clusters that went to several clusters, with the share that each took.
    merges : mapping
        Clusters (by new name) that came from several reference clusters, with their shares.
    """

    labels: NDArray[np.int64]
    names: Mapping[Any, int]
    agreement: float
    splits: Mapping[int, Mapping[int, float]]
    merges: Mapping[int, Mapping[int, float]]


def align_labels(reference: Any, labels: Any) -> Alignment:
    """Rename clusters so that they overlap most with the reference's clusters of the same name.

    The names maximize the number of samples whose cluster keeps its name (Hungarian method), so
    that re-runs and neighboring numbers of clusters can be told and colored alike.

    Parameters
    ----------
    reference : array-like of shape (n_samples,), whole numbers
        -1, None and NaN are samples without a cluster, here and in `labels`.
    labels : array-like of shape (n_samples,)

    Returns
    -------
    Alignment
        Parts smaller than a fifth of a cluster are not reported as splits or merges.

    Examples
    --------
    >>> from partita import align_labels
    >>> align_labels([0, 0, 0, 1, 1], ["b", "b", "b", "a", "c"]).labels
    array([0, 0, 0, 1, 2])
    """
    table = contingency(reference, labels)
    _, old_names = _codes(reference, "reference")
    codes, new_names = _codes(labels, "labels")
    if not all(_is_whole(name) for name in old_names.tolist()):
        raise ValueError(
            f"reference must hold whole numbers as names, got {old_names[:5].tolist()}. Number its "
            "clusters first."
        )
    rows, columns = linear_sum_assignment(-table)
    new = np.full(len(new_names), -1, np.int64)
    matched = table[rows, columns] > 0
    new[columns[matched]] = old_names[rows[matched]].astype(np.int64)
    used = {int(name) for name in old_names}
    free = (number for number in range(len(used) + len(new_names)) if number not in used)
    for k in np.flatnonzero(new < 0):
        new[k] = next(free)
    kept = table[rows, columns][matched].sum()
    return Alignment(
        labels=np.where(codes < 0, -1, new[np.maximum(codes, 0)]),
        names={name: int(new[k]) for k, name in enumerate(new_names.tolist())},
        agreement=float(kept / table.sum()) if table.sum() else 0.0,
        splits=_parts(table, old_names.astype(np.int64), new),
        merges=_parts(table.T, new, old_names.astype(np.int64)),
    )


def _codes(values: Any, what: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    columns, _ = label_columns([values])
    table, names = encode(columns, [what], "missing")
    codes = table[:, 0].astype(np.int64)
    codes[table[:, 0] == np.iinfo(table.dtype).max] = -1
    return codes, names[0]


def _is_whole(name: Any) -> bool:
    return isinstance(name, (int, float)) and float(name).is_integer()


def _parts(
    table: NDArray[np.float64], from_names: NDArray[np.int64], to_names: NDArray[np.int64]
) -> dict[int, dict[int, float]]:
    """Rows of which at least two parts are large, with the shares of those parts."""
    found = {}
    for name, row in zip(from_names, table, strict=True):
        share = row / row.sum() if row.sum() else row
        large = np.flatnonzero(share >= _SHARE)
        if len(large) > 1:
            found[int(name)] = {int(to_names[k]): float(share[k]) for k in large}
    return found


@dataclass(frozen=True)
class ClusterTree:
    """Results for neighboring numbers of clusters, named alike. Made by `cluster_tree`.

    Attributes
    ----------
    labels : array of shape (n_samples, n_levels)
        One result per column, each aligned to the one before it.
    n_clusters : array of shape (n_levels,)
    edges : array of shape (n_edges, 4)
        Level, cluster at that level, cluster at the next level, weight shared.
    """

    labels: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    edges: NDArray[np.float64]


def cluster_tree(results: Sequence[Any]) -> ClusterTree:
    """Follow clusters over results of growing fineness.

    Parameters
    ----------
    results : sequence of label vectors
        For instance the consensus for K = 2, 3, 4, ...

    Examples
    --------
    >>> from partita import cluster_tree
    >>> tree = cluster_tree([[0, 0, 1, 1], [5, 5, 7, 9]])
    >>> tree.labels[:, 1]
    array([0, 0, 1, 2])
    """
    if len(results) == 0:
        raise ValueError("Expected at least one result, got none.")
    first, _ = _codes(results[0], "results[0]")
    levels = [first]
    for result in results[1:]:
        levels.append(align_labels(levels[-1], result).labels)
    edges = [
        (level, a, b, float(np.count_nonzero((here == a) & (there == b))))
        for level, (here, there) in enumerate(pairwise(levels))
        for a, b in sorted(set(zip(here.tolist(), there.tolist(), strict=True)))
        if a >= 0 and b >= 0
    ]
    return ClusterTree(
        labels=np.stack(levels, axis=1),
        n_clusters=np.asarray([len(np.unique(level[level >= 0])) for level in levels]),
        edges=np.asarray(edges, np.float64).reshape(-1, 4),
    )
