"""Co-association: number, or total weight, of the base clusters that two rows share.

The kernels fill the entries of rows start..stop and all rows from `start` on, and symmetrically:
calls for all blocks of rows fill a matrix. `columns` is (m, n).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from partita._kernels._dispatch import kernel
from partita._kernels._labels import count_blocks

_WEIGHED_ROWS = 32  # whose sums are kept at a time, so that they take little memory


@kernel
def count_rows(columns, missing_code, table, start, stop, out):
    """Fill `out` with table[k] for rows that share a cluster in k partitions.

    With 0, 1, 2, ... in the table these are counts, with 0, 1/m, 2/m, ... shares.
    """
    for top, bottom, count in count_blocks(columns, missing_code, start, stop):
        values = table[count]
        out[top:bottom, top:] = values
        out[top:, top:bottom] = values.T


@kernel
def divide_rows(columns, missing_code, start, stop, out):
    """Update `out` in place: divide by the number of clusters that two rows share, if any."""
    for top, bottom, count in count_blocks(columns, missing_code, start, stop):
        divisor = np.maximum(count, 1)
        out[top:bottom, top:] /= divisor
        below, divisor = out[bottom:, top:bottom], divisor[:, bottom - top :].T
        below /= divisor


@kernel
def weigh_rows(columns, missing_code, offsets, value, divisor, start, stop, out):
    """Fill `out` with the sum of value[c] over the shared base clusters c, divided by `divisor`.

    Sums run over the partitions in their order.
    """
    m = len(columns)
    block = np.ascontiguousarray(columns[:, start:].T)
    n = len(block)
    is_labeled = block != missing_code
    clusters = (block + offsets[:m].astype(np.int64))[is_labeled]
    begin = np.concatenate([[0], np.cumsum(is_labeled.sum(axis=1))])
    shape = n, int(offsets[-1])
    members = sp.csr_matrix((np.ones(len(clusters)), clusters, begin), shape).T.tocsr()
    for top in range(start, stop, _WEIGHED_ROWS):
        bottom = min(top + _WEIGHED_ROWS, stop)
        rows = begin[top - start : bottom - start + 1]
        own = clusters[rows[0] : rows[-1]]
        # a sparse product adds the terms of an entry in the order of the columns: over partitions
        weighted = sp.csr_matrix((value[own], own, rows - rows[0]), (bottom - top, shape[1]))
        sums = (weighted @ members).toarray()
        sums /= divisor
        out[top:bottom, start:] = sums
        out[start:, top:bottom] = sums.T
