"""Products of a sparse matrix with some columns."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit


@jit(allocates=False)
def multiply(indptr, indices, data, columns, start, stop, out):
    """Add eight rows of `columns` at a time: sums are stored less often, in the same order."""
    p = np.uint64(columns.shape[1])
    for i in range(start, stop):
        total = out[i - start]
        for c in range(p):
            total[c] = 0.0
        # unsigned, as numba counts signed indices from the end if they could be negative
        first, last = indptr[i], indptr[i + 1]
        whole = last - (last - first) % 8
        for e in range(first, whole, 8):
            index, value = indices[e : e + 8], data[e : e + 8]
            v0, v1, v2, v3 = value[0], value[1], value[2], value[3]
            v4, v5, v6, v7 = value[4], value[5], value[6], value[7]
            x0, x1 = columns[np.uint64(index[0])], columns[np.uint64(index[1])]
            x2, x3 = columns[np.uint64(index[2])], columns[np.uint64(index[3])]
            x4, x5 = columns[np.uint64(index[4])], columns[np.uint64(index[5])]
            x6, x7 = columns[np.uint64(index[6])], columns[np.uint64(index[7])]
            for c in range(p):
                half = total[c] + v0 * x0[c] + v1 * x1[c] + v2 * x2[c] + v3 * x3[c]
                total[c] = half + v4 * x4[c] + v5 * x5[c] + v6 * x6[c] + v7 * x7[c]
        for e in range(whole, last):
            v0, row = data[e], columns[np.uint64(indices[e])]
            for c in range(p):
                total[c] += v0 * row[c]
