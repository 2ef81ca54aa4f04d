"""Products of a sparse matrix with some columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from partita._kernels._dispatch import kernel

_COLUMNS = 16  # columns that stay in the cache during a product


@kernel
def multiply(indptr, indices, data, columns, start, stop, out):
    """Fill `out`, shape (stop - start, p), with rows start..stop of a matrix times `columns`.

    The matrix is in CSR format. A sum has the order of the entries of a row.
    """
    entries = slice(indptr[start], indptr[stop])
    rows = data[entries], indices[entries], indptr[start : stop + 1] - indptr[start]
    matrix = sp.csr_matrix(rows, shape=(stop - start, len(columns)))
    for first in range(0, columns.shape[1], _COLUMNS):
        part = slice(first, first + _COLUMNS)
        out[:, part] = matrix @ np.ascontiguousarray(columns[:, part])
