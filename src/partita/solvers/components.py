"""Find the connected components of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as _components

__all__ = ["connected_components"]


def connected_components(graph: Any) -> tuple[int, NDArray[np.int64]]:
    """Return the number of components and the component of every node.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Any non-zero entry is an edge, whatever its direction.
    """
    matrix = graph if sp.issparse(graph) else sp.csr_matrix(graph)
    count, labels = _components(matrix, directed=False)
    return int(count), labels.astype(np.int64)
