"""Cosines of walks that mix fast, against the powers of the transition matrix."""

from __future__ import annotations

import numpy as np
import pytest

from partita.datasets import make_mixed_partitions
from partita.ensemble import as_ensemble
from partita.matrices import _mixing_walks, cluster_jaccard, cluster_similarity
from partita.matrices._mixing_walks import cosines_within_blocks
from partita.matrices._propagation import propagate_within_partitions

OFFSETS = np.array([0, 100, 101, 420, 720])


@pytest.fixture
def graph():
    """Four groups of nodes that are linked more strongly, and random edges."""
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=720)
    edges = rng.random((720, 720)) + 1.5 * (group[:, None] == group)
    edges = edges + edges.T
    np.fill_diagonal(edges, 0.0)
    return edges


def cosines_by_powers(graph, n_steps):
    P = graph / graph.sum(axis=1, keepdims=True)
    power, inner = np.eye(len(P)), np.zeros_like(P)
    for _ in range(n_steps):
        power = power @ P
        inner += power @ power.T
    length = np.sqrt(np.diag(inner))
    return inner / np.outer(length, length)


@pytest.mark.parametrize("n_steps", [1, 2, 9])
def test_cosines(graph, n_steps):
    expected = cosines_by_powers(graph, n_steps)
    blocks = cosines_within_blocks(graph, n_steps, OFFSETS)
    assert [len(block) for block in blocks] == np.diff(OFFSETS).tolist()
    for block, start in zip(blocks, OFFSETS, strict=False):
        part = expected[start : start + len(block), start : start + len(block)]
        np.testing.assert_allclose(block, part, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(block, block.T)


def test_powers_of_a_symmetric_matrix(graph):
    R = graph[:6, :6]
    for t, power in enumerate(_mixing_walks._powers(R, 9), start=1):
        np.testing.assert_allclose(power, np.linalg.matrix_power(R, t), rtol=1e-12)
    assert t == 9


def ring(n):
    """Walks around a ring mix slowly."""
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def test_other_graphs_are_left_to_the_eigendecomposition(graph):
    few = graph[:600, :600]
    unlinked = graph.copy()
    unlinked[5] = unlinked[:, 5] = 0.0
    for other in (few, unlinked, ring(720)):
        before = other.copy()
        assert cosines_within_blocks(other, 20, OFFSETS) is None
        np.testing.assert_array_equal(other, before)


def test_similarities_within_partitions():
    """About 750 clusters of random partitions: products give what the eigenvectors give."""
    table = make_mixed_partitions(
        3000, 30, 10, n_pieces=4, noise=0.3, k_min=20, k_max=30, random_state=0
    )[0]
    core = as_ensemble(table).compress()
    jaccard = cluster_jaccard(core)
    assert len(jaccard) > 700
    assert cosines_within_blocks(jaccard - np.eye(len(jaccard)), 20, core.offsets) is not None
    similarity = propagate_within_partitions(jaccard, 20, core.offsets).toarray()
    expected = cluster_similarity(core)
    np.fill_diagonal(expected, 1.0)
    for start, stop in zip(core.offsets, core.offsets[1:], strict=False):
        own = slice(start, stop)
        np.testing.assert_allclose(similarity[own, own], expected[own, own], rtol=0, atol=1e-9)
        similarity[own, own] = 0.0
    assert not similarity.any()
