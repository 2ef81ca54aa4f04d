"""What clusters share, summed over rows that need not all be in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.rows import Chunk, Rows, Totals

__all__ = ["entropy_by_overlaps", "overlaps_of_rows"]


def overlaps_of_rows(
    rows: Rows, value: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None
) -> NDArray[np.float64]:
    """Σ_x r(x) v(x) b(x)ᵀ b(x): what any two clusters share, dense (L, L), in one pass.

    `value` gives v of label rows; 1 by default, so that samples are counted.
    """
    length, m = rows.n_all_clusters, rows.n_partitions
    require_memory(8 * length**2, f"The {length} x {length} table of cluster overlaps")
    out = np.zeros((length, length))
    missing, offsets = rows.missing, rows.offsets

    def step(chunk: Chunk, totals: Totals) -> None:
        values = chunk.weights if value is None else chunk.weights * value(chunk.labels)
        kernel = _kernels.contingency.overlaps
        run_blocks(
            lambda first, last: kernel(
                chunk.labels, missing, offsets, values, first, last, totals[0]
            ),
            m,
            -(-m // 2),
        )

    rows.accumulate(step, (out,))
    return out


def entropy_by_overlaps(
    overlaps: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Entropy in bits of every cluster with respect to the other partitions, shape (L,).

    As `cluster_entropy`, from the table of overlaps.
    """
    entropy = np.zeros(len(overlaps))
    for i in range(len(offsets) - 1):
        own = slice(offsets[i], offsets[i + 1])
        shared = overlaps[:, own]
        total = shared.sum(axis=1, keepdims=True)
        share = shared / np.where(total > 0, total, 1.0)
        seen = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
        seen[own] = 0.0
        entropy += seen
    return entropy
