"""Groups of rows as labels: numbered by first appearance, also where they do not fit in memory."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["number_by_appearance", "number_chunks"]


def number_by_appearance(labels: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Labels renumbered 0, 1, ... in order of first appearance, -1 kept; and their number."""
    values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(np.where(values < 0, -1, first), kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    n_unlabeled = int(np.count_nonzero(values < 0))
    return rank[codes.reshape(-1)] - n_unlabeled, len(values) - n_unlabeled


def number_chunks(
    groups: Callable[[], Iterator[NDArray[Any]]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Groups that come in chunks as labels in a temporary file, mapped into memory.

    Returns the labels, -1 kept, and the number each group has got (-1: it has no row). The file
    goes when nobody holds the labels any more.
    """
    folder = tempfile.TemporaryDirectory(prefix="partita-")
    path = Path(folder.name, "labels.npy")
    labels = np.lib.format.open_memmap(path, "w+", np.int64, (n,))
    numbers: dict[int, int] = {}
    start = 0
    for chunk in groups():
        values, first = np.unique(chunk, return_index=True)
        for group in values[np.argsort(first)].tolist():
            if group >= 0:
                numbers.setdefault(group, len(numbers))
        of_group = np.full(max(numbers, default=-1) + 2, -1, np.int64)  # the last is for -1
        of_group[list(numbers)] = list(numbers.values())
        labels[start : start + len(chunk)] = of_group[chunk]
        start += len(chunk)
    labels.flush()
    labels = np.load(path, mmap_mode="r")
    weakref.finalize(labels, folder.cleanup)
    return labels, of_group[:-1]
