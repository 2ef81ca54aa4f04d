"""ECPCS against its published program, a computation without reduction, and a hand-made example."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from published import their_clusters
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from partita import (
    ECCMS,
    ECPCS,
    Ensemble,
    config_context,
    enhanced_coassociation,
    locally_weighted_coassociation,
)
from partita.consensus.ecpcs import _shares
from partita.datasets import make_partitions
from partita.ensemble import SoftEnsemble
from partita.exceptions import MemoryBudgetError
from partita.matrices import cluster_jaccard, cluster_similarity, incidence
from partita.solvers.normalized_cuts import normalized_cut_vectors
from partita.testing import consensus_checks
from references import load_cases


def one_hot(labels):
    """B_i of every partition, on all samples; -1 is a row of zeros."""
    return [
        (column[:, None] == np.unique(column[column >= 0])).astype(float) for column in labels.T
    ]


def propagated_slowly(labels, n_steps):
    """Z by powers of P, clusters in the order of partitions and labels."""
    B = np.hstack(one_hot(labels))
    overlap = B.T @ B
    size = B.sum(axis=0)
    J = overlap / (size[:, None] + size - overlap)
    np.fill_diagonal(J, 0.0)
    P = J / J.sum(axis=1, keepdims=True)
    trajectory = np.hstack([np.linalg.matrix_power(P, t) for t in range(1, n_steps + 1)])
    trajectory /= np.linalg.norm(trajectory, axis=1, keepdims=True)
    return trajectory @ trajectory.T


def enhanced_slowly(labels, n_steps):
    """ECA, equal to the mean over the partitions that label both samples, sample by sample."""
    Z = propagated_slowly(labels, n_steps)
    np.fill_diagonal(Z, 1.0)
    known = labels >= 0
    total, start = np.zeros((len(labels),) * 2), 0
    for B in one_hot(labels):
        stop = start + B.shape[1]
        total += B @ Z[start:stop, start:stop] @ B.T
        start = stop
    both = (known[:, None] & known).sum(axis=2)
    return total / np.maximum(both, 1)


@pytest.mark.shared
def test_published_matrices_and_labels(oracle):
    published = oracle("ecpcs")
    core = Ensemble.from_partitions(oracle.labels).compress()
    cluster = their_clusters(core, oracle.labels)
    both = np.ix_(cluster, cluster)
    np.testing.assert_allclose(
        cluster_jaccard(core), published["jaccard"][both], rtol=0, atol=1e-15
    )
    Z = cluster_similarity(core)
    np.testing.assert_allclose(Z, published["cluster_sim"][both], rtol=0, atol=1e-12)
    ECA = enhanced_coassociation(oracle.labels)
    np.testing.assert_allclose(ECA, published["ECA"], rtol=0, atol=1e-12)
    found = ECPCS(oracle.n_clusters).fit_predict(oracle.labels)
    assert adjusted_rand_score(found, published["labels_HC"]) == 1.0

    values, vectors = normalized_cut_vectors(Z, oracle.n_clusters)
    descending = np.argsort(-published["MC_eigenvalues"])
    np.testing.assert_allclose(values, published["MC_eigenvalues"][descending], rtol=0, atol=1e-12)
    theirs = published["MC_eigenvectors"][np.ix_(cluster, descending)]
    np.testing.assert_allclose(np.abs(vectors), np.abs(theirs), rtol=0, atol=1e-10)
    votes = core.expand(_shares(incidence(core), published["MC_metacluster"][cluster] - 1))
    np.testing.assert_allclose(votes, published["MC_votes"].T, rtol=0, atol=1e-15)
    meta = ECPCS(oracle.n_clusters, assign_labels="meta", random_state=0).fit_predict(oracle.labels)
    assert adjusted_rand_score(meta, published["labels_MC"]) >= 0.95  # one random start there


@pytest.mark.parametrize("case", load_cases("ecpcs"), ids=attrgetter("name"))
def test_eigenvalues_of_the_program(case):
    """Intermediate values of the reference file."""
    core = Ensemble.from_partitions(case.partitions).compress()
    values, _ = normalized_cut_vectors(cluster_similarity(core), case.parameters["n_clusters"])
    np.testing.assert_allclose(values, case.intermediate["eigenvalues"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("n_steps", [1, 7])
def test_reduced_equals_unreduced(missing, n_steps):
    once = make_partitions(40, 14, 4, noise=0.4, missing_ratio=missing, random_state=8)[0]
    labels = np.repeat(once, 1 + np.arange(40) % 3, axis=0)
    ensemble = Ensemble.from_partitions(labels)
    Z = cluster_similarity(ensemble, n_steps)
    np.testing.assert_allclose(Z, propagated_slowly(labels, n_steps), rtol=0, atol=1e-12)
    expected = enhanced_slowly(labels, n_steps)
    found = enhanced_coassociation(labels, n_steps=n_steps)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    method = ECPCS(4, n_steps=n_steps).fit(labels)
    tree = linkage(squareform(1 - expected, checks=False), "average")
    # equal samples, and only they, merge at height 0: with gaps others may, and then order decides
    assert np.count_nonzero(expected > 1 - 1e-9) == np.sum((1 + np.arange(40) % 3) ** 2)
    repeats = len(labels) - len(once)
    np.testing.assert_allclose(method.tree_.height, tree[repeats:, 2], rtol=0, atol=1e-12)
    assert adjusted_rand_score(method.labels_, cut_tree(tree, 4).ravel()) == 1.0


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_meta_clusters_of_reduced_and_unreduced_vote_alike(missing):
    labels = make_partitions(40, 6, 4, noise=0.2, missing_ratio=missing, random_state=8)[0]
    labels = np.repeat(labels, 1 + np.arange(40) % 3, axis=0)
    method = ECPCS(4, assign_labels="meta", random_state=0).fit(labels)
    core = Ensemble.from_partitions(labels).compress()
    B = np.zeros((len(labels), core.n_base_clusters))
    for position, i in enumerate(core.partition_order):
        for code, name in enumerate(core.categories[position]):
            B[:, core.offsets[position] + code] = labels[:, i] == name
    votes = np.column_stack([B[:, method.meta_clusters_ == g].mean(axis=1) for g in range(4)])
    assert adjusted_rand_score(method.labels_, votes.argmax(axis=1)) == 1.0


def test_three_samples_by_hand():
    """Clusters A = {1, 2}, B = {3} | C = {1}, D = {2, 3}.

    J_AC = J_BD = 1/2, J_AD = 1/3, J_BC = 0: from A a step leads to C with 3/5 and to D with 2/5,
    from B to D. The walks of A and B meet at D: Z_AB = (2/5) / sqrt(9/25 + 4/25) = Z_CD.
    """
    labels = np.array([[0, 0], [0, 1], [1, 1]])
    z = 2 / np.sqrt(13)
    Z = cluster_similarity(Ensemble.from_partitions(labels), 1)
    expected = np.array([[1, z, 0, 0], [z, 1, 0, 0], [0, 0, 1, z], [0, 0, z, 1]])
    np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-15)
    near, far = (1 + z) / 2, z
    found = enhanced_coassociation(labels, n_steps=1)
    np.testing.assert_allclose(
        found, [[1, near, far], [near, 1, near], [far, near, 1]], rtol=0, atol=1e-15
    )


def test_missing_as_disagreement():
    labels = make_partitions(30, 5, 3, noise=0.2, missing_ratio=0.2)[0]
    known = labels >= 0
    share = (known[:, None] & known).sum(axis=2) / 5
    np.testing.assert_allclose(
        enhanced_coassociation(labels, missing="disagree"),
        enhanced_coassociation(labels) * share,
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_with_meta_clusters(check):
    check(ECPCS(assign_labels="meta"))


def test_meta_clusters_need_no_matrix_of_samples():
    labels, truth = make_partitions(5000, 20, 5, noise=0.3)
    with config_context(memory_budget=20 * 2**20):
        found = ECPCS(5, assign_labels="meta", random_state=0).fit_predict(labels)
        with pytest.raises(MemoryBudgetError, match="ECPCS"):
            ECPCS(5).fit(labels)
    assert adjusted_rand_score(truth, found) > 0.95


def test_affinity_of_eccms_alone_and_in_a_blend():
    labels, truth = make_partitions(60, 8, 3, noise=0.2)
    ECA = enhanced_coassociation(labels)
    named = ECCMS(3, affinity="ecpcs").fit(labels)
    given = ECCMS(3, affinity=ECA).fit(labels)
    np.testing.assert_allclose(
        named.consensus_matrix(), given.consensus_matrix(), rtol=0, atol=1e-12
    )
    blend = (ECA + locally_weighted_coassociation(labels)) / 2
    fitted = ECCMS(3, affinity=blend).fit(labels)
    assert adjusted_rand_score(truth, fitted.labels_) > 0.9
    by_name = ECCMS(3, affinity="blend").fit(labels).consensus_matrix()
    np.testing.assert_allclose(by_name, fitted.consensus_matrix(), rtol=0, atol=1e-12)
    soft = SoftEnsemble.from_memberships([np.eye(column.max() + 1)[column] for column in labels.T])
    soft_matrix = ECCMS(3, affinity="blend").fit(soft).consensus_matrix()
    np.testing.assert_allclose(soft_matrix, by_name, rtol=0, atol=1e-9)
