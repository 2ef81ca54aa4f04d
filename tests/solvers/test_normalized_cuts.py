"""The regularized normalized cut against its definition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from partita.solvers.normalized_cuts import normalized_cut, normalized_cut_vectors


def blocks(sizes, seed=0):
    """A symmetric graph with strong blocks and weak edges between them."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(group[:, None] == group, 0.8, 0.05) + 0.1 * rng.random((len(group),) * 2)
    return group, (graph + graph.T) / 2


def test_vectors_solve_the_regularized_problem():
    _, graph = blocks([6, 9, 4])
    graph[0, 1] = graph[1, 0] = 1e-7  # no edge
    values, vectors = normalized_cut_vectors(graph, 3)
    kept = np.where(graph < 1e-6, 0.0, graph)
    W = kept + 0.5 * np.eye(19)
    D = np.diag(kept.sum(axis=1) + 1.0)
    np.testing.assert_allclose(values, eigh(W, D, eigvals_only=True)[::-1][:3], rtol=0, atol=1e-13)
    np.testing.assert_allclose(W @ vectors, D @ vectors * values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), np.sqrt(19))


def test_blocks_are_found_and_numbered_by_their_first_nodes():
    group, graph = blocks([6, 9, 4])
    order = np.random.default_rng(1).permutation(len(group))
    graph, group = graph[np.ix_(order, order)], group[order]
    result = [normalized_cut(graph, 3, np.random.default_rng(seed), n_init=5) for seed in range(3)]
    first_seen = {g: k for k, g in enumerate(dict.fromkeys(group))}
    for labels in result:
        np.testing.assert_array_equal(labels, [first_seen[g] for g in group])
