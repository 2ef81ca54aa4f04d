"""Matrices against definitions written out, and against the published programs' outputs."""

from __future__ import annotations

import numpy as np
import pytest

import partita
from partita import Ensemble, config_context, matrices
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.matrices import cluster_counts
from partita.matrices.agreement import coobserved_counts


def coassociation_slowly(labels, missing="pairwise"):
    known = labels >= 0
    joined = (labels[:, None] == labels) & known[:, None] & known
    both = (known[:, None] & known).sum(axis=2)
    divisor = np.maximum(both, 1) if missing == "pairwise" else labels.shape[1]
    return joined.sum(axis=2) / divisor


def certainty_slowly(labels, theta):
    """ECI of every cluster, in the order of partitions and labels."""
    m = labels.shape[1]
    result = []
    for i in range(m):
        for c in np.unique(labels[labels[:, i] >= 0, i]):
            members = labels[labels[:, i] == c]
            entropy = 0.0
            for j in range(m):
                seen = members[members[:, j] >= 0, j]
                if len(seen):
                    q = np.unique(seen, return_counts=True)[1] / len(seen)
                    entropy -= (q * np.log2(q)).sum()
            result.append(np.exp(-entropy / (theta * m)))
    return np.array(result)


def trajectories_slowly(labels):
    """PTS by T matrix products on micro-clusters in lexicographic order."""
    rows, inverse, r = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    n = len(rows)
    K = T = max(1, min(int(np.sqrt(n) / 2), 20))
    S = coassociation_slowly(rows)
    np.fill_diagonal(S, 0)
    S[-np.sort(-S, axis=1)[:, [K - 1]] > S] = 0
    S = np.maximum(S, S.T) * r
    total = S.sum(axis=1, keepdims=True)
    P = np.divide(S, total, out=np.zeros_like(S), where=total > 0)
    G, power = np.zeros_like(S), np.eye(n)
    for _ in range(T):
        power = power @ P
        G += power @ power.T
    isolated = total.ravel() == 0
    length = np.sqrt(np.diag(G))
    with np.errstate(invalid="ignore"):
        G = G / np.outer(length, length)
    G[isolated] = G[:, isolated] = 1e-20
    return G[np.ix_(inverse.ravel(), inverse.ravel())]


@pytest.fixture(params=[0.0, 0.25], ids=["complete", "incomplete"])
def labels(request):
    return make_partitions(70, 8, 4, noise=0.3, missing_ratio=request.param, random_state=11)[0]


@pytest.mark.parametrize("missing", ["pairwise", "disagree"])
def test_coassociation(labels, missing):
    found = partita.coassociation(labels, missing=missing)
    np.testing.assert_allclose(found, coassociation_slowly(labels, missing), rtol=0, atol=1e-15)


@pytest.mark.parametrize("times", [1, 3], ids=["distinct", "repeated"])
@pytest.mark.parametrize("matrix", [partita.coassociation, partita.locally_weighted_coassociation])
def test_expanded_entries_are_those_of_the_distinct_rows(labels, times, matrix):
    """Most samples differ, or are repeated; one has no label."""
    table = np.tile(labels, (times, 1))
    table[5] = -1
    core = Ensemble.from_partitions(table, noise="missing", unlabeled="keep").compress()
    small, full = matrix(core, expand=False), matrix(core)
    assert full.shape == (len(table), len(table))
    expected = small[np.ix_(core.inverse, core.inverse)]
    expected[5] = expected[:, 5] = 0.0
    np.fill_diagonal(expected, full.diagonal())
    np.testing.assert_array_equal(full, expected)


@pytest.mark.parametrize("matrix", [partita.coassociation, partita.locally_weighted_coassociation])
def test_entries_of_32_bits(labels, matrix):
    full, half = matrix(labels), matrix(labels, dtype="float32")
    assert (full.dtype, half.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(half, full, rtol=2e-7)
    with pytest.raises(ValueError, match=r"dtype must be .* got 'int8'"):
        matrix(labels, dtype="int8")


def test_counts_have_the_requested_type(labels):
    core = Ensemble.from_partitions(labels).compress()
    assert matrices.agreement_counts(core, np.uint8).dtype == np.uint8
    both = coobserved_counts(core)
    np.testing.assert_array_equal(np.diag(both), core.observed.sum(axis=1))
    with pytest.raises(ValueError, match="300 partitions do not fit"):
        matrices.agreement_counts(Ensemble.from_partitions(np.zeros((2, 300), int)), np.uint8)


def test_locally_weighted(labels):
    ensemble = Ensemble.from_partitions(labels)
    certainty = matrices.cluster_certainty(ensemble, 0.4)
    np.testing.assert_allclose(certainty, certainty_slowly(labels, 0.4), rtol=0, atol=1e-14)
    B = matrices.incidence(ensemble).toarray()
    known = labels >= 0
    expected = (B * certainty) @ B.T / np.maximum((known[:, None] & known).sum(axis=2), 1)
    np.fill_diagonal(expected, 1.0)
    found = partita.locally_weighted_coassociation(labels)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="theta must be positive"):
        partita.locally_weighted_coassociation(labels, theta=0.0)


@pytest.mark.parametrize("seed", range(3))
def test_trajectories(seed):
    labels = make_partitions(60, 6, 3, noise=0.3, random_state=seed)[0]
    found = partita.trajectory_similarity(labels)
    np.testing.assert_allclose(found, trajectories_slowly(labels), rtol=0, atol=1e-12)


def test_trajectories_of_isolated_rows():
    labels = np.array([[0, 0], [0, 0], [0, 1], [7, 7]])  # the last row shares nothing
    found = partita.trajectory_similarity(labels, n_neighbors=1, n_steps=2)
    assert np.all(found[3] == 1e-20)
    # the two linked rows only ever change places: their walks never meet
    np.testing.assert_allclose(found[:3, :3], [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="n_neighbors must be in"):
        partita.trajectory_similarity(labels, n_neighbors=9)


def test_tables(labels):
    ensemble = Ensemble.from_partitions(labels, weights=np.arange(1, len(labels) + 1))
    B = matrices.incidence(ensemble).toarray()
    assert np.all(B.sum(axis=1) == (labels >= 0).sum(axis=1))
    np.testing.assert_allclose(matrices.cluster_sizes(ensemble), B.T @ ensemble.weights)
    np.testing.assert_allclose(
        matrices.cluster_overlaps(ensemble), B.T @ (ensemble.weights[:, None] * B)
    )
    groups = np.arange(len(labels)) % 3
    np.testing.assert_allclose(
        cluster_counts.group_overlaps(ensemble, groups, 3),
        B.T @ (ensemble.weights[:, None] * np.eye(3)[groups]),
    )


def test_contingency_leaves_unlabeled_samples_out():
    found = matrices.contingency(["a", "a", "b", None], [1, 2, 2, 2])
    np.testing.assert_array_equal(found, [[1, 1], [0, 1]])


def test_reduced_matrices_expand_to_the_full_ones(labels):
    core = Ensemble.from_partitions(np.repeat(labels, 2, axis=0)).compress()
    for function in (
        partita.coassociation,
        partita.locally_weighted_coassociation,
        partita.trajectory_similarity,
    ):
        full = function(core)
        reduced = function(core, expand=False)
        np.fill_diagonal(full, 0.0)
        expanded = reduced[np.ix_(core.inverse, core.inverse)]
        np.fill_diagonal(expanded, 0.0)
        np.testing.assert_array_equal(full, expanded)


def test_samples_without_labels_are_similar_to_nothing():
    ensemble = Ensemble.from_partitions([[0, 0, None], [1, 1, None]], unlabeled="keep")
    found = partita.coassociation(ensemble)
    np.testing.assert_array_equal(found, [[1, 1, 0], [1, 1, 0], [0, 0, 0]])


def test_threads_change_nothing():
    labels = make_partitions(700, 5, 4, noise=0.5)[0]
    with config_context(n_threads=1):
        one = partita.locally_weighted_coassociation(labels)
    with config_context(n_threads=3):
        three = partita.locally_weighted_coassociation(labels)
    np.testing.assert_array_equal(one, three)


def test_expansion_respects_the_memory_budget():
    labels = np.zeros((1000, 3), int)
    with config_context(memory_budget=10**6), pytest.raises(MemoryBudgetError, match="8000008"):
        partita.coassociation(labels)


@pytest.mark.shared
def test_published_programs(oracle):
    labels = oracle.labels
    np.testing.assert_allclose(
        partita.coassociation(labels), oracle("eac")["CA"], rtol=0, atol=1e-15
    )
    lwea = oracle("lwea_lwgp")
    certainty = matrices.cluster_certainty(Ensemble.from_partitions(labels))
    np.testing.assert_allclose(certainty, lwea["ECI"], rtol=0, atol=1e-14)
    found = partita.locally_weighted_coassociation(labels)
    np.testing.assert_allclose(found, lwea["LWCA"], rtol=0, atol=1e-13)
    pta = oracle("pta_ptgp")
    sample = pta["mc_of_object"] - 1
    np.testing.assert_allclose(
        partita.trajectory_similarity(labels),
        pta["PTS"][np.ix_(sample, sample)],
        rtol=0,
        atol=1e-12,
    )
