"""Products of a sparse matrix with some columns, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n_columns", [1, 16, 67])
def test_rows_of_a_product(n_columns):
    """Rows have 0 to 40 entries: none, fewer than eight, and some more than eights."""
    rng = np.random.default_rng(n_columns)
    dense = rng.normal(size=(60, 50)) * (rng.random((60, 50)) < rng.random((60, 1)))
    dense[7] = 0.0
    matrix, columns = sp.csr_matrix(dense), rng.normal(size=(50, n_columns))
    for start, stop in ((0, 60), (7, 8), (20, 60), (60, 60)):
        _, (*_, product) = call_both(
            _kernels.sparse_products.multiply,
            *(matrix.indptr, matrix.indices, matrix.data, columns, start, stop),
            np.full((stop - start, n_columns), np.nan),
        )
        np.testing.assert_allclose(product, dense[start:stop] @ columns, atol=1e-12)
