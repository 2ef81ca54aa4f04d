"""Put the features of all views side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["concatenate"]


def concatenate(matrices: Sequence[Any]) -> Any:
    """Return [X_1, ..., X_V], as a sparse matrix if one of them is and that takes less memory.

    Indices have 32 bits where that is enough, since scikit-learn's k-means takes no others.
    """
    n_entries = sum(X.nnz if sp.issparse(X) else X.size for X in matrices)
    n, d = matrices[0].shape[0], sum(X.shape[1] for X in matrices)
    # a sparse entry takes 12 bytes, a dense one 8
    if not any(sp.issparse(X) for X in matrices) or 12 * n_entries >= 8 * n * d:
        return np.hstack([X.toarray() if sp.issparse(X) else X for X in matrices])
    stacked = sp.csr_array(sp.hstack(matrices, format="csr"))
    if max(n_entries, d) < np.iinfo(np.int32).max:
        stacked.indices = stacked.indices.astype(np.int32)
        stacked.indptr = stacked.indptr.astype(np.int32)
    return stacked
