"""Match the clusters of one result to those of another, so that names persist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partita._input.label_vector import code_labels

__all__ = ["Alignment", "align_labels"]

_LARGE_PART = 0.2  # share of a cluster from which a part is reported as a split or a merge


@dataclass(frozen=True, eq=False)
class Alignment:
    """One clustering with the cluster names of another. Made by `align_labels`.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The clusters under their names in the reference. Clusters without a match get numbers that
        the reference does not use; -1 stays -1.
    names : mapping
        From the old name of each cluster to its new name.
    agreement : float
        Share of the samples labeled in both whose cluster is matched to their reference cluster.
    splits : mapping
        Reference clusters that were divided among several clusters, with the share of each part.
    merges : mapping
        Clusters (by new name) that consist of several reference clusters, with the share of each
        part.
    """

    labels: NDArray[np.int64]
    names: Mapping[Any, int]
    agreement: float
    splits: Mapping[int, Mapping[int, float]]
    merges: Mapping[int, Mapping[int, float]]


def align_labels(reference: Any, labels: Any) -> Alignment:
    """Rename clusters after the clusters of a reference that they overlap with most.

    The matching maximizes the number of samples whose cluster gets the name of their reference
    cluster (Hungarian method). Results of several runs, or for several numbers of clusters, can
    then be compared and colored alike.

    Parameters
    ----------
    reference : array-like of shape (n_samples,), integers
        The clustering whose names are kept. -1, None and NaN are samples without a label, here and
        in `labels`.
    labels : array-like of shape (n_samples,)
        The clustering to rename.

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
    old_codes, old_names = code_labels(reference, name="reference")
    codes, current_names = code_labels(labels)
    if len(codes) != len(old_codes):
        raise ValueError(
            "reference and labels must have equal length, one entry per sample; got "
            f"{len(old_codes)} and {len(codes)}."
        )
    if not all(_is_integer(name) for name in old_names.tolist()):
        raise ValueError(
            "reference must name its clusters by whole numbers, got "
            f"{old_names[:5].tolist()}. Number its clusters first."
        )
    old_names = old_names.astype(np.int64)
    table = _count_pairs(old_codes, codes, len(old_names), len(current_names))
    rows, columns = linear_sum_assignment(-table)
    matched = table[rows, columns] > 0
    new_names = np.full(len(current_names), -1, np.int64)
    new_names[columns[matched]] = old_names[rows[matched]]
    used = set(old_names.tolist())
    unused = (number for number in range(len(used) + len(new_names)) if number not in used)
    for k in np.flatnonzero(new_names < 0):
        new_names[k] = next(unused)
    n_kept, n_both = table[rows, columns][matched].sum(), table.sum()
    return Alignment(
        labels=np.where(codes < 0, -1, new_names[np.maximum(codes, 0)]),
        names=dict(zip(current_names.tolist(), new_names.tolist(), strict=True)),
        agreement=float(n_kept / n_both) if n_both else 0.0,
        splits=_large_parts(table, old_names, new_names),
        merges=_large_parts(table.T, new_names, old_names),
    )


def _is_integer(name: Any) -> bool:
    return isinstance(name, (int, float)) and float(name).is_integer()


def _count_pairs(
    first: NDArray[np.int64], second: NDArray[np.int64], n_first: int, n_second: int
) -> NDArray[np.float64]:
    """Count the samples in each pair of clusters, as a dense table."""
    both = (first >= 0) & (second >= 0)
    cells = np.bincount(first[both] * n_second + second[both], minlength=n_first * n_second)
    return cells.reshape(n_first, n_second).astype(np.float64)


def _large_parts(
    table: NDArray[np.float64], from_names: NDArray[np.int64], to_names: NDArray[np.int64]
) -> dict[int, dict[int, float]]:
    """Return the clusters (rows) with two or more large parts, and the shares of these parts."""
    parts = {}
    for name, row in zip(from_names, table, strict=True):
        shares = row / row.sum() if row.sum() else row
        large = np.flatnonzero(shares >= _LARGE_PART)
        if len(large) > 1:
            parts[int(name)] = {int(to_names[k]): float(shares[k]) for k in large}
    return parts
