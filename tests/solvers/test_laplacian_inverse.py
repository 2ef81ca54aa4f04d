"""The factored inverse on weighted rows against the inverse of the full matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita import config_context
from partita.solvers.laplacian_inverse import LaplacianInverse


def random_graph(n, density, rng):
    graph = np.where(rng.random((n, n)) < density, rng.random((n, n)), 0.0)
    graph = np.maximum(graph, graph.T)
    np.fill_diagonal(graph, 1.0)
    return graph


@pytest.mark.parametrize(("density", "shift"), [(0.0, 2.0), (0.05, 2.0), (0.6, 2.0), (0.05, 0.3)])
def test_product_is_that_of_the_full_inverse(density, shift):
    rng = np.random.default_rng(3)
    n = 30
    r = rng.integers(1, 5, n).astype(float)
    graph = random_graph(n, density, rng)
    values, own = rng.normal(size=(n, n)), rng.normal(size=n)

    index = np.repeat(np.arange(n), r.astype(int))
    block, alone = np.ix_(index, index), np.diag_indices(len(index))
    H, G = graph[block].copy(), values[block].copy()
    H[alone] = 0.0
    G[alone] = own[index]
    expected = np.linalg.solve(2 * (np.diag(H.sum(axis=1)) - H) + shift * np.eye(len(index)), G)

    M = LaplacianInverse(sp.csr_matrix(graph), r, shift)
    product = values[np.ix_(M.order, M.order)]
    diagonal = M.apply(product, own[M.order])
    position = np.argsort(M.order)
    result = product[np.ix_(position, position)][block].copy()
    result[alone] = diagonal[position][index]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-13)


def test_threads_do_not_matter():
    rng = np.random.default_rng(4)
    n = 1200
    M = LaplacianInverse(sp.csr_matrix(random_graph(n, 0.01, rng)), np.ones(n))
    values, own = rng.random((n, n)), rng.random(n)
    results = []
    for threads in (1, 2):
        with config_context(n_threads=threads):
            product = values.copy()
            results.append((M.apply(product, own), product))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
