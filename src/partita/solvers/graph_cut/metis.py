"""Balanced graph partitioning by METIS, which the optional package pymetis provides."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._packages import require_package

__all__ = ["as_integers", "cut_by_metis", "describe_metis", "part_graph"]

_EDGE_TOTAL = 1e8  # METIS adds up edge weights in 32-bit integers


def _pymetis(alternative: str) -> Any:
    purpose = 'Methods with partitioner="metis"'
    return require_package("pymetis", purpose, "partita[graph]", alternative)


def describe_metis() -> str:
    """Return the name and version of the partitioner; raise an error if it is not installed."""
    pymetis = _pymetis('pass partitioner="spectral"')
    return f"metis (pymetis {pymetis.version})"


def cut_by_metis(
    graph: Any, vertex_weights: NDArray[np.float64], n_parts: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Divide a graph into parts of about equal weight with a small cut.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), symmetric, non-negative
        Weights of the edges. METIS reads integers; other weights are scaled and rounded, to at
        least 1.
    vertex_weights : array of shape (n,), non-negative
        Weights that are balanced between the parts.
    n_parts : int
        Number of parts.
    rng : Generator
        Draws the seed of METIS.

    Returns
    -------
    labels : array of shape (n,)
        Part of every vertex.
    cut : float
        Weight in `graph` of the edges between parts.
    """
    edges = sp.csr_matrix(graph)
    if n_parts == 1:
        return np.zeros(edges.shape[0], np.int64), 0.0
    seed = int(rng.integers(2**31 - 1))
    rounded = np.maximum(as_integers(edges.data, _EDGE_TOTAL, keep_integers=True), 1)
    labels = part_graph(
        sp.csr_matrix((rounded, edges.indices, edges.indptr), edges.shape),
        as_integers(vertex_weights, _EDGE_TOTAL, keep_integers=True),
        n_parts,
        seed,
    )
    pairs = edges.tocoo()
    return labels, float(pairs.data[labels[pairs.row] != labels[pairs.col]].sum() / 2)


def part_graph(
    graph: sp.csr_matrix,
    vertex_weights: NDArray[np.int32],
    n_parts: int,
    seed: int,
    *,
    shares: NDArray[np.float64] | None = None,
    balance: float | None = None,
) -> NDArray[np.int64]:
    """Call METIS.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Integer weights of the edges.
    vertex_weights : array of shape (n,)
        Integer weights of the vertices.
    n_parts : int
        Number of parts.
    seed : int
        Seed of METIS.
    shares : array of shape (n_parts,), optional
        Weight each part should get, in any unit. METIS then bisects recursively. By default the
        shares are equal and METIS chooses the procedure.
    balance : float, optional
        A part may hold (1 + balance) times its share. By default as METIS chooses.
    """
    pymetis = _pymetis('pass partitioner="builtin"')
    settings: dict[str, Any] = {"seed": seed}
    if balance is not None:
        settings["ufactor"] = max(1, round(1000 * balance))
    _, parts = pymetis.part_graph(
        n_parts,
        pymetis.CSRAdjacency(graph.indptr.astype(np.int32), graph.indices.astype(np.int32)),
        vweights=vertex_weights,
        eweights=graph.data.astype(np.int32),
        tpwgts=None if shares is None else (shares / shares.sum()).tolist(),
        recursive=None if shares is None else True,
        options=pymetis.Options(**settings),
    )
    return np.asarray(parts, np.int64)


def as_integers(
    weights: NDArray[np.float64], total: float, *, keep_integers: bool = False
) -> NDArray[np.int32]:
    """Scale weights so that their sum is `total`, and round them.

    With `keep_integers`, weights that are integers with at most this sum stay as they are.
    """
    scale = total / max(float(weights.sum()), 1e-300)
    if keep_integers and scale >= 1.0 and np.all(weights == np.floor(weights)):
        scale = 1.0
    return np.rint(weights * scale).astype(np.int32)
