"""Overlaps of base clusters, summed over rows that need not all be in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.scale import Chunk, Rows, Totals

__all__ = ["entropy_by_overlaps", "overlaps_of_rows"]

_SHARES = 4  # parts of the clusters, one per thread; each thread reads the labels of all rows
_OPERATIONS = 2500  # elementary operations per label, with one to two hundred partitions
_ROWS = 256  # rows of the table that are mirrored at once


def overlaps_of_rows(
    rows: Rows, value: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None
) -> NDArray[np.float64]:
    """Return Σ_x r(x) v(x) b(x)ᵀ b(x), the overlaps of base clusters, dense (L, L).

    Parameters
    ----------
    rows : Rows
        Rows of labels, which are visited in one pass.
    value : callable, optional
        Takes codes of rows and returns v; 1 by default, so that samples are counted.
    """
    length = rows.n_base_clusters
    require_memory(8 * length**2, f"The {length} x {length} table of cluster overlaps")
    out = np.zeros((length, length))
    missing_code, offsets = rows.missing_code, rows.offsets.astype(np.int32)
    add_overlaps = _kernels.contingency.overlaps.at(_OPERATIONS * rows.n_rows * rows.n_partitions)

    def step(chunk: Chunk, totals: Totals) -> None:
        values = chunk.weights if value is None else chunk.weights * value(chunk.codes)
        table = chunk.codes, chunk.codes.dtype.type(missing_code), offsets, values
        run_blocks(
            lambda share, _: add_overlaps(*table, share, _SHARES, totals[0]),
            _SHARES,
            1,
        )

    rows.accumulate(step, (out,))
    _mirror(out)
    return out


def _mirror(table: NDArray[np.float64]) -> None:
    """Copy the lower triangle of a table to the upper one, some rows at a time."""
    for start in range(0, len(table), _ROWS):
        stop = start + _ROWS
        corner = table[start:stop, start:stop]
        corner += np.tril(corner, -1).T
        table[start:stop, stop:] = table[stop:, start:stop].T


def entropy_by_overlaps(
    overlaps: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the entropy in bits of every base cluster, from the table of overlaps, shape (L,).

    The result is that of `cluster_entropy`.
    """
    entropy = np.zeros(len(overlaps))
    for i in range(len(offsets) - 1):
        clusters = slice(offsets[i], offsets[i + 1])
        shared = overlaps[:, clusters]
        total = shared.sum(axis=1, keepdims=True)
        share = shared / np.where(total > 0, total, 1.0)
        bits = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
        bits[clusters] = 0.0
        entropy += bits
    return entropy
