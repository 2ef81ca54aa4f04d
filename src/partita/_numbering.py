"""Number clusters by first appearance, in memory and out of core."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained

__all__ = ["number_by_appearance", "number_chunks", "order_of_appearance"]

_FEW = 1024  # labels below this are numbered by a table


def number_by_appearance(labels: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Renumber labels 0, 1, ... in order of first appearance.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Integers; -1 stays -1.

    Returns
    -------
    labels : array of shape (n_samples,)
        The new labels.
    n_clusters : int
        Number of clusters, without -1.
    """
    if len(labels) and labels.dtype.kind in "iu" and labels.min() >= -1 and labels.max() < _FEW:
        return _number_small(labels)
    values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(np.where(values < 0, -1, first), kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    n_unlabeled = int(np.count_nonzero(values < 0))
    return rank[codes.reshape(-1)] - n_unlabeled, len(values) - n_unlabeled


def _number_small(labels: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Number labels -1..max without sorting them."""
    shifted = labels.astype(np.int64) + 1
    first = np.full(int(shifted.max()) + 1, len(labels))
    first[shifted[::-1]] = np.arange(len(labels))[::-1]  # the last one written is the first
    first[0] = -1
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(-1, len(first) - 1)
    return rank[shifted], int(np.count_nonzero(first < len(labels))) - 1


def order_of_appearance(labels: NDArray[Any], n_labels: int) -> NDArray[np.int64]:
    """Return the labels 0..n_labels-1 in order of first appearance, then those without a sample.

    It puts columns that belong to labels into the order of `number_by_appearance`.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Integers; -1 is no label.
    n_labels : int
        Number of labels.
    """
    numbers, n_used = number_by_appearance(labels)
    order = np.empty(n_used, np.int64)
    order[numbers[numbers >= 0]] = labels[numbers >= 0]
    return np.concatenate([order, np.setdiff1d(np.arange(n_labels), order)])


def number_chunks(
    groups: Callable[[], Iterator[NDArray[Any]]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Renumber groups that come in chunks, and write them to a temporary file.

    Parameters
    ----------
    groups : callable
        Returns an iterator over chunks of the groups; -1 stays -1.
    n : int
        Number of rows of all chunks.

    Returns
    -------
    labels : array of shape (n,)
        The new labels, mapped from the file. The file is deleted with this array.
    numbers : array
        New number of each group, -1 for a group without rows.
    """
    folder = tempfile.TemporaryDirectory(prefix="partita-")
    path = Path(folder.name, "labels.npy")
    numbers: dict[int, int] = {}
    # Written, not mapped: on a full disk a write is an error, a map ends the process.
    with explained(path, "No labels were kept."), open(path, "wb") as file:
        fields = {"descr": "<i8", "fortran_order": False, "shape": (n,)}
        np.lib.format.write_array_header_1_0(file, fields)
        for chunk in groups():
            values, first = np.unique(chunk, return_index=True)
            for group in values[np.argsort(first)].tolist():
                if group >= 0:
                    numbers.setdefault(group, len(numbers))
            number_of = np.full(max(numbers, default=-1) + 2, -1, np.int64)  # -1 is for group -1
            number_of[list(numbers)] = list(numbers.values())
            file.write(number_of[chunk].astype("<i8", copy=False).data)
    labels = np.load(path, mmap_mode="r")
    weakref.finalize(labels, folder.cleanup)
    return labels, number_of[:-1]
