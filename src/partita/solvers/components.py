"""Connected components of a graph given as a dense or sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as _components

__all__ = ["connected_components"]


def connected_components(graph: Any) -> tuple[int, NDArray[np.int64]]:
    """Number of components and the component of every node; any non-zero entry is an edge."""
    matrix = graph if sp.issparse(graph) else sp.csr_matrix(graph)
    count, labels = _components(matrix, directed=False)
    return int(count), labels.astype(np.int64)
