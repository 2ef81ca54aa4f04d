"""Weighted common neighbors of pairs of nodes (connected triples)."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel


@kernel
def weigh_common(graph, weights, start, stop, out):
    """Fill `out` with Σ_k weights[k] min(graph[c, k], graph[k, d]) for c in start..stop, d <= c.

    Both triangles are filled. `graph` is symmetric and non-negative. Sums run over k in order.
    """
    sums = np.zeros((stop - start, stop))
    for k in np.flatnonzero(weights):
        sums += weights[k] * np.minimum(graph[k, start:stop, None], graph[k, :stop])
    out[start:stop, :stop] = sums
    out[:stop, start:stop] = sums.T
