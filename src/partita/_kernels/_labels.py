"""Lists of the labels of a table, for the definitions of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_blocks", "count_equal", "list_labels", "row_blocks"]

_BLOCK = 1 << 16  # labels that are listed at a time; their lists stay in the cache


def row_blocks(m: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Split rows start..stop of a table with m columns into blocks of about equal memory."""
    n_rows = max(1, _BLOCK // max(m, 1))
    for top in range(start, stop, n_rows):
        yield top, min(top + n_rows, stop)


def list_labels(
    codes: NDArray[Any],
    missing_code: Any,
    offsets: NDArray[Any],
    rows: tuple[int, int],
    partitions: tuple[int, int],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """List the rows and the base clusters of all labels of some rows and partitions.

    Yield a pair of arrays for every block of rows, in the order of the table: row by row.
    """
    first, last = partitions
    begin = offsets[first:last].astype(np.int64)
    for top, bottom in row_blocks(last - first, *rows):
        block = codes[top:bottom, first:last]
        clusters = block + begin
        is_labeled = block != missing_code
        if is_labeled.all():
            yield np.repeat(np.arange(top, bottom), last - first), clusters.ravel()
        else:
            labeled_rows, columns = np.nonzero(is_labeled)
            yield labeled_rows + top, clusters[labeled_rows, columns]


def count_equal(
    columns: NDArray[Any], missing_code: Any, start: int, stop: int, first: int
) -> NDArray[np.uint32]:
    """Count the partitions in which rows start..stop share a cluster with each row from `first` on.

    `columns` is (m, n). Sums of up to 255 comparisons stay in a byte, so that NumPy adds as many
    bytes at a time as an instruction takes.
    """
    total = np.zeros((stop - start, columns.shape[1] - first), np.uint32)
    for i in range(0, len(columns), 255):
        part = columns[i : i + 255]
        own, others = part[:, start:stop, None], part[:, None, first:]
        equal = own == others
        is_missing = own == missing_code
        if is_missing.any():
            equal &= ~is_missing
        total += np.add.reduce(equal.view(np.uint8), axis=0, dtype=np.uint8)
    return total


def count_blocks(
    columns: NDArray[Any], missing_code: Any, start: int, stop: int
) -> Iterator[tuple[int, int, NDArray[np.uint32]]]:
    """Split rows start..stop into blocks; count their shared clusters with all rows from it on.

    Yield the first row of a block, the end of it, and what `count_equal` returns.
    """
    m, n = columns.shape
    n_rows = max(1, _BLOCK // (m * (n - start)))
    for top in range(start, stop, n_rows):
        bottom = min(top + n_rows, stop)
        yield top, bottom, count_equal(columns, missing_code, top, bottom, top)
