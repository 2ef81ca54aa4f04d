"""Balanced graph partitioning by METIS, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["metis_partition", "require_metis"]

_LARGEST_TOTAL = 10**8  # of the edge weights, which METIS adds up in 32 bits


def require_metis() -> str:
    """Name and version of the partitioner; an error with a hint where it is not installed."""
    try:
        import pymetis
    except ImportError as error:
        raise ImportError(
            'partitioner="metis" needs pymetis, which is not installed. Install it with '
            '`pip install "partita[graph]"`, or use partitioner="spectral".'
        ) from error
    return f"metis (pymetis {pymetis.version})"


def metis_partition(
    graph: Any, vertex_weights: NDArray[np.float64], n_parts: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Parts of about equal weight that cut little.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), symmetric, non-negative
        Edge weights. METIS reads integers; others are scaled and rounded, to at least 1.
    vertex_weights : array of shape (n,), non-negative
        What is balanced.
    n_parts : int
    rng : Generator
        For METIS's own seed.

    Returns
    -------
    labels : array of shape (n,)
    cut : float
        Weight of the edges between parts, as given.
    """
    require_metis()
    import pymetis

    edges = sp.csr_matrix(graph)
    if n_parts == 1:
        return np.zeros(edges.shape[0], np.int64), 0.0
    _, parts = pymetis.part_graph(
        n_parts,
        pymetis.CSRAdjacency(edges.indptr, edges.indices),
        vweights=_integers(vertex_weights),
        eweights=np.maximum(_integers(edges.data), 1),
        options=pymetis.Options(seed=int(rng.integers(2**31 - 1))),
    )
    labels = np.asarray(parts, np.int64)
    pairs = edges.tocoo()
    return labels, float(pairs.data[labels[pairs.row] != labels[pairs.col]].sum() / 2)


def _integers(weights: NDArray[np.float64]) -> NDArray[np.int32]:
    """Whole numbers as they are where their sum allows it, others in proportion."""
    total = float(weights.sum())
    whole = bool(np.all(weights == np.floor(weights)))
    scale = 1.0 if whole and total <= _LARGEST_TOTAL else _LARGEST_TOTAL / total
    return np.round(weights * scale).astype(np.int32)
