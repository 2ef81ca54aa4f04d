"""Common neighbors: both forms, and the triple sum written out."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n", [1, 5, 70])
def test_weights_of_common_neighbors(n):
    rng = np.random.default_rng(n)
    graph = rng.random((n, n)) * (rng.random((n, n)) < 0.6)
    graph = np.minimum(graph, graph.T)
    weights = rng.random(n)
    weights[0] = 0.0
    expected = (weights * np.minimum(graph[:, None], graph)).sum(axis=2)
    out = np.full((n, n), np.nan)
    for start in range(0, n, 32):
        bounds = start, min(start + 32, n)
        _, (*_, out) = call_both(
            _kernels.connected_triples.weigh_common, graph, weights, *bounds, out
        )
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-15)
