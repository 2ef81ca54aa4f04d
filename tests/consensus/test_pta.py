"""PTA against its published program and against walks counted step by step."""

from __future__ import annotations

import numpy as np
import pytest
from published import their_rows
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from partita import PTA, Ensemble, config_context, trajectory_similarity
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.testing import consensus_checks

LINKAGES = ("average", "complete", "single")


def trajectories_slowly(labels, n_neighbors, n_steps):
    """Micro-clusters, the micro-cluster of every sample, and PTS by powers of P."""
    rows, inverse, r = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    known = rows >= 0
    joined = ((rows[:, None] == rows) & known[:, None] & known).sum(axis=2)
    S = joined / np.maximum((known[:, None] & known).sum(axis=2), 1)
    np.fill_diagonal(S, 0.0)
    weakest = np.sort(S, axis=1)[:, [-n_neighbors]]
    S[weakest > S] = 0.0
    S = np.maximum(S, S.T) * r
    P = S / S.sum(axis=1, keepdims=True)
    trajectory = np.hstack([np.linalg.matrix_power(P, t) for t in range(1, n_steps + 1)])
    trajectory /= np.linalg.norm(trajectory, axis=1, keepdims=True)
    return inverse.reshape(-1), trajectory @ trajectory.T


@pytest.mark.shared
def test_published_trajectories_and_labels(oracle):
    published = oracle("pta_ptgp")
    core = Ensemble.from_partitions(oracle.labels).compress()
    rows = their_rows(core, published["mc_of_object"] - 1)
    expected = published["PTS"][np.ix_(rows, rows)]
    np.testing.assert_allclose(
        trajectory_similarity(core, expand=False), expected, rtol=0, atol=1e-12
    )
    for name in LINKAGES:
        found = PTA(oracle.n_clusters, linkage=name).fit(oracle.labels)
        tree = linkage(squareform(1 - expected, checks=False), name)
        np.testing.assert_allclose(found.tree_.height, tree[:, 2], rtol=0, atol=1e-12)
        if oracle.name != "iris_a":  # its blocks lie at distance 1 from each other: ties
            assert adjusted_rand_score(found.labels_, published[f"labels_{name}"]) == 1.0


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_walks_counted_step_by_step(name, missing):
    """Repeated samples, gaps, a walk of its own length: the same tree as SciPy's on PTS."""
    labels = make_partitions(45, 7, 4, noise=0.3, missing_ratio=missing, random_state=3)[0]
    labels = np.repeat(labels, 1 + np.arange(45) % 3, axis=0)
    inverse, similarity = trajectories_slowly(labels, n_neighbors=5, n_steps=4)
    tree = linkage(squareform(1 - similarity, checks=False), name)
    found = PTA(4, linkage=name, n_neighbors=5, n_steps=4).fit(labels)
    np.testing.assert_allclose(found.tree_.height, tree[:, 2], rtol=0, atol=1e-12)
    expected = cut_tree(tree, 4).ravel()[inverse]
    assert adjusted_rand_score(found.labels_, expected) == 1.0


def test_sizes_enter_the_walk_and_not_the_linkage():
    """Three micro-clusters in a row, a - b - c: from b the walk prefers the larger side."""
    labels = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    # one step: a and c go to b, b goes to a or c in proportion to their sizes
    for times in (1, 4):
        similarity = trajectory_similarity(
            np.repeat(labels, [1, 1, times], axis=0), n_neighbors=1, n_steps=1
        )
        np.testing.assert_allclose(similarity[0, -1], 1.0)
        np.testing.assert_allclose(similarity[0, 1], 0.0)
    # two steps: after the second, a is at a or c in proportion 1 : times, b is back at b
    two = trajectory_similarity(np.repeat(labels, [1, 1, 4], axis=0), n_neighbors=1, n_steps=2)
    back = np.array([0.2, 0.8])
    inner = back @ back  # b's first step against a's second never meet: different times
    np.testing.assert_allclose(two[0, -1], (1 + inner) / (1 + inner))
    np.testing.assert_allclose(two[0, 1], 0.0, rtol=0, atol=1e-15)


def test_walks_that_never_meet_tie_exactly():
    """Two blocks without a common label: similarity 0 between them, not what rounding leaves."""
    first = make_partitions(30, 6, 2, noise=0.3, random_state=1)[0]
    second = make_partitions(30, 6, 2, noise=0.3, random_state=2)[0] + 5
    similarity = trajectory_similarity(np.vstack([first, second]))
    assert np.all(similarity[:30, 30:] == 0.0)
    assert np.all(similarity == similarity.T)
    assert np.count_nonzero(similarity[:30, :30]) > 30


@pytest.mark.parametrize("name", ["complete", "single"])
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_with_the_other_linkages(check, name):
    check(PTA(linkage=name))


def test_refusals():
    labels = make_partitions(40, 6, 3, noise=0.3)[0]
    n = len(np.unique(labels, axis=0))
    with pytest.raises(ValueError, match=f"n_neighbors must be in 1..{n}"):
        PTA(3, n_neighbors=n + 1).fit(labels)
    with pytest.raises(ValueError, match="linkage"):
        PTA(3, linkage="ward").fit(labels)
    with config_context(memory_budget=35 * n * n), pytest.raises(MemoryBudgetError, match="PTA"):
        PTA(3).fit(labels)
