"""Soft partitions: memberships in place of labels, for all methods with `info.soft`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import partita
from partita import CCC, CCGP, EAC, ECCMS, GWCA, KC, KCC, LCE, LWEA, LWGP, RCE, SEC, Voting, fuse
from partita.consensus import BaseConsensus
from partita.datasets import make_partitions
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import InvalidEnsembleError, MemoryBudgetError, NotSupportedError
from partita.matrices.soft import soft_coassociation

METHODS = [method for method in partita.all_methods() if method.info.soft]
KEYS = [method.info.key for method in METHODS]


def prepared(method, n_clusters=3):
    settings = {"random_state": 0} if "random_state" in method().get_params() else {}
    return method(n_clusters=n_clusters, **settings)


def one_hot(labels):
    """One 0/1 matrix per partition; a row of NaN where the label is missing."""
    tables = []
    for column in labels.T:
        names = np.unique(column[column >= 0])
        table = (column[:, None] == names).astype(float)
        table[column < 0] = np.nan
        tables.append(table)
    return tables


def planted(seed=0, n=120, m=8, missing=0.0):
    """Memberships near a planted partition, and the partition."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)  # equal sizes, which balanced methods need
    tables = []
    for i in range(m):
        noise = rng.dirichlet(np.ones(3 + i % 2), size=n)
        table = 0.5 * noise
        table[np.arange(n), y] += 0.5
        if missing:
            table[rng.random(n) < missing] = np.nan
        tables.append(table)
    return tables, y


@pytest.fixture(scope="module")
def mixtures():
    """Posterior probabilities of Gaussian mixtures, and the true classes."""
    X, y = load_iris(return_X_y=True)
    tables = [
        GaussianMixture(k, random_state=seed, covariance_type="tied").fit(X).predict_proba(X)
        for seed, k in enumerate([2, 3, 3, 4, 5, 6])
    ]
    return tables, y


def test_which_methods_take_memberships():
    # what the others need are labels: sets, codes or 0/1 agreements
    others = {"bce", "ecmc", "gcc", "hgpa", "medianpartition", "spce", "trce"}
    assert {method.info.key for method in partita.all_methods()} - set(KEYS) == others
    assert all(method._solve_soft is not BaseConsensus._solve_soft for method in METHODS)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_one_hot_memberships_give_the_labels_of_the_partitions(method, missing):
    labels = make_partitions(90, 8, 3, noise=0.3, missing_ratio=missing, random_state=3)[0]
    hard = prepared(method).fit(labels)
    soft = prepared(method).fit(one_hot(labels))
    np.testing.assert_array_equal(soft.labels_, hard.labels_)
    assert soft.objective_ == hard.objective_ or np.isnan(hard.objective_)


@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_the_soft_equations_hold_for_one_hot_memberships(method):
    """The solver of memberships itself, on 0/1 memberships: the clusters of the labels."""
    labels = make_partitions(90, 8, 3, noise=0.2, random_state=3)[0]
    estimator = prepared(method)
    core = SoftEnsemble.from_memberships(one_hot(labels)).compress()
    solution = estimator._solve_soft(core, np.random.default_rng(0))
    hard = estimator.fit(labels)
    found = core.expand(solution.labels)
    assert adjusted_rand_score(found, hard.labels_) == 1.0
    if np.isfinite(hard.objective_):
        np.testing.assert_allclose(solution.objective, hard.objective_, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_planted_clusters(method):
    tables, y = planted()
    found = prepared(method).fit(tables)
    assert adjusted_rand_score(y, found.labels_) == 1.0
    assert found.n_features_in_ == 8


@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_nearly_hard_memberships_give_the_labels_of_the_partitions(method):
    """No jump between labels and memberships that are almost labels."""
    labels = make_partitions(90, 8, 3, noise=0.2, random_state=3)[0]
    tables = [0.999 * table + 0.001 / table.shape[1] for table in one_hot(labels)]
    hard = prepared(method).fit_predict(labels)
    assert adjusted_rand_score(hard, prepared(method).fit_predict(tables)) == 1.0


@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_missing_memberships(method):
    tables, y = planted(missing=0.2)
    if method in (CCC, GWCA, KCC, SEC):
        with pytest.raises(NotSupportedError, match="missing rows"):
            prepared(method).fit(tables)
    else:
        assert adjusted_rand_score(y, prepared(method).fit_predict(tables)) > 0.9


@pytest.mark.parametrize("method", METHODS, ids=KEYS)
def test_repeated_samples_are_weights_and_order_does_not_matter(method):
    tables, _ = planted(n=60)
    repeats = 1 + np.arange(60) % 3
    weighted = SoftEnsemble.from_memberships(tables, weights=repeats)
    repeated = [np.repeat(table, repeats, axis=0) for table in tables]
    once = prepared(method).fit_predict(weighted)
    labels = prepared(method).fit_predict(repeated)
    np.testing.assert_array_equal(np.repeat(once, repeats), labels)
    order = np.random.default_rng(1).permutation(60)
    shuffled = prepared(method).fit_predict([table[order] for table in tables])
    plain = prepared(method).fit_predict(tables)
    assert adjusted_rand_score(plain[order], shuffled) == 1.0


def coassociation_slowly(tables):
    """Mean over the partitions that have both samples of the probability of a common label."""
    n = len(tables[0])
    out = np.zeros((n, n))
    for p in range(n):
        for q in range(n):
            shares = [table[p] @ table[q] for table in tables]
            shares = [share for share in shares if not np.isnan(share)]
            out[p, q] = np.mean(shares) if shares else 0.0
    return out


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_expected_coassociation_and_its_tree(missing):
    tables, _ = planted(n=40, missing=missing)
    expected = coassociation_slowly(tables)
    soft = SoftEnsemble.from_memberships(tables)
    np.testing.assert_allclose(soft_coassociation(soft), expected, rtol=0, atol=1e-14)
    method = EAC(3).fit(tables)
    distances = 1 - expected
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average")
    np.testing.assert_allclose(method.tree_.height, tree[:, 2], rtol=0, atol=1e-12)
    assert adjusted_rand_score(method.labels_, cut_tree(tree, 3).ravel()) == 1.0


def test_certainty_of_soft_clusters():
    """H(c) from the joint probabilities of clusters, written out."""
    tables, _ = planted(n=30, m=4)
    soft = SoftEnsemble.from_memberships(tables)
    found = soft_coassociation(soft.compress(), np.ones(soft.n_base_clusters))
    assert found.shape == (30, 30)
    certainty = []
    for i, own in enumerate(tables):
        for c in range(own.shape[1]):
            entropy = 0.0
            for j, other in enumerate(tables):
                if i != j:
                    q = own[:, c] @ other / own[:, c].sum()
                    entropy -= (q * np.log2(q)).sum()
            certainty.append(np.exp(-entropy / (0.4 * 4)))
    P = np.hstack(tables)
    expected = (P * certainty) @ P.T / 4
    distances = 1 - expected
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform((distances + distances.T) / 2, checks=False), "average")
    height = LWEA(3).fit(tables).tree_.height
    np.testing.assert_allclose(height, tree[:, 2], rtol=0, atol=1e-12)


def test_objective_of_kmeans_on_soft_coassociation():
    tables, _ = planted(n=50)
    method = KC(3, random_state=0).fit(tables)
    CA = coassociation_slowly(tables)
    centers = np.stack([CA[method.labels_ == k].mean(axis=0) for k in range(3)])
    assert method.objective_ == pytest.approx(((CA - centers[method.labels_]) ** 2).sum(), rel=1e-9)
    weighted = KC(3, partition_weights=np.arange(1, 9), random_state=0).fit(tables)
    assert weighted.objective_ != pytest.approx(method.objective_, rel=1e-3)


OPTIONS = [
    partita.ECPCS(3, assign_labels="meta", random_state=0),
    LCE(3, similarity="asrs"),
    LCE(3, assign_labels="spectral", random_state=0),
    ECCMS(3, affinity="ca"),
    ECCMS(3, affinity="pts"),
    ECCMS(3, affinity="ecpcs"),
    ECCMS(3, assign_labels="spectral"),
    GWCA(3, assign_labels="spectral"),
    KCC(3, normalized=True, random_state=0),
    partita.MEC(3, groups=[0, 0, 0, 0, 1, 1, 1, 1], random_state=0),
    partita.RSEC(3, similarity="signed", random_state=0),
]


@pytest.mark.parametrize("method", OPTIONS, ids=str)
def test_options_on_one_hot_and_on_planted_memberships(method):
    tables, y = planted()
    assert adjusted_rand_score(y, method.fit_predict(tables)) == 1.0
    labels = make_partitions(90, 8, 3, noise=0.2, random_state=3)[0]
    core = SoftEnsemble.from_memberships(one_hot(labels)).compress()
    solution = method._solve_soft(core, np.random.default_rng(0))
    method.fit(labels)
    assert adjusted_rand_score(core.expand(solution.labels), method.labels_) == 1.0
    if np.isfinite(method.objective_):
        np.testing.assert_allclose(solution.objective, method.objective_, rtol=1e-6)


def test_learned_matrix_of_memberships():
    """RCE on memberships is RCE on the matrices of the probabilities of a common label."""
    tables, _ = planted(n=40, missing=0.2)
    method = RCE(3, random_state=0).fit(tables)
    matrices = np.stack([table @ table.T for table in tables])
    expected = RCE(3, random_state=0).fit_matrices(matrices)
    np.testing.assert_allclose(
        method.consensus_matrix(), expected.consensus_matrix(), rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(method.partition_errors_, expected.partition_errors_, rtol=1e-5)
    np.testing.assert_allclose(
        method.error_matrix(1), expected.error_matrix(matrices[1]), rtol=0, atol=1e-6
    )


def test_votes_of_memberships():
    """U is the mean of the memberships after the best relabeling (Hungarian method)."""
    tables, y = planted(n=60, m=5)
    renamed = [np.roll(table, i, axis=1) for i, table in enumerate(tables)]
    method = Voting(3).fit(renamed)
    found = method.membership_
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    narrow = [table for table in tables if table.shape[1] == 3]
    assert len(narrow) == 3
    only = Voting(3).fit([np.roll(table, i, axis=1) for i, table in enumerate(narrow)])
    expected = np.mean(narrow, axis=0)
    expected = expected[:, [y[only.labels_ == k][0] for k in range(3)]]
    np.testing.assert_allclose(only.membership_, expected)
    votes = only.membership_
    share = 1.0 - np.square(votes).sum(axis=1)
    assert only.objective_ == pytest.approx(share.mean())


def test_columns_without_memberships_are_no_clusters():
    tables, _ = planted(n=30)
    wider = [np.insert(table, 1, 0.0, axis=1) for table in tables]
    assert SoftEnsemble.from_memberships(wider).n_base_clusters == sum(t.shape[1] for t in tables)
    np.testing.assert_array_equal(
        partita.MCLA(3, random_state=0).fit_predict(wider),
        partita.MCLA(3, random_state=0).fit_predict(tables),
    )


def test_fuse_posterior_probabilities(mixtures):
    tables, y = mixtures
    fusion = fuse(tables, 3, random_state=0)
    assert isinstance(fusion.method, CCGP)
    assert adjusted_rand_score(y, fusion.labels) > 0.85
    np.testing.assert_array_equal(fusion.labels, CCGP(3, random_state=0).fit_predict(tables))
    assert fusion.diagnosis is not None
    assert fusion.partitions.n_partitions == 6
    best = fuse(tables, method="lwgp", k_range=range(2, 4), random_state=0)
    assert best.scan is not None


def test_other_methods_name_those_that_accept():
    tables, _ = planted(n=20)
    with pytest.raises(NotSupportedError, match=r"HGPA is not defined for soft.*LWGP"):
        partita.HGPA(3).fit(tables)
    labels = partita.HGPA(3, random_state=0).fit_predict(
        SoftEnsemble.from_memberships(tables).to_ensemble()
    )
    assert len(labels) == 20


def test_predict_needs_labels():
    tables, _ = planted(n=30)
    method = SEC(3, random_state=0).fit(tables)
    with pytest.raises(NotSupportedError, match="predict"):
        method.predict(np.zeros((2, 8), int))
    with pytest.raises(NotSupportedError, match="bound"):
        method.generalization_bound()
    with pytest.raises(NotSupportedError, match="agreement"):
        SEC(3, partition_weights="agreement").fit(tables)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (partita.HBGF(3, partitioner="metis"), "spectral"),
        (KCC(3, utility="h"), 'utility="c"'),
        (GWCA(3, divergence="kl"), "euclidean"),
        (LCE(3, similarity="srs"), "asrs"),
        (ECCMS(3, affinity=np.eye(30)), "affinity"),
    ],
)
def test_options_that_need_labels(method, message):
    with pytest.raises(NotSupportedError, match=message):
        method.fit(planted(n=30)[0])


def test_as_many_clusters_as_distinct_rows():
    tables = [np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]])]
    np.testing.assert_array_equal(LWGP(2).fit_predict(tables), [0, 1, 0])


def test_memory_budget():
    tables, _ = planted(n=600)
    with partita.config_context(memory_budget=10**6), pytest.raises(MemoryBudgetError, match="EAC"):
        EAC(3).fit(tables)


def test_to_ensemble():
    tables = [np.array([[0.9, 0.1], [0.2, 0.8], [np.nan, np.nan]]), np.eye(3)]
    soft = SoftEnsemble.from_memberships(tables, weights=[1, 2, 3])
    assert not soft.is_hard
    assert soft.n_missing == 1
    assert "3 samples, 2 soft partitions" in repr(soft)
    for ensemble in (soft.to_ensemble(), soft.compress().to_ensemble()):
        assert isinstance(ensemble, Ensemble)
        np.testing.assert_array_equal(ensemble.weights, [1, 2, 3])
        assert ensemble.n_missing == 1
        assert ensemble.codes[0, 0] != ensemble.codes[1, 0]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([np.array([[0.5, 0.6]])], "sum 1"),
        ([np.array([[1.5, -0.5]])], "0 or more"),
        ([np.array([[0.5, np.nan]])], "row of NaN"),
        ([np.eye(2), np.eye(3)], r"\[2, 3\] rows"),
        ([np.array([[np.nan, np.nan], [1, 0]])], "no memberships"),
        ([np.array([["a", "b"]])], "numbers"),
        ([np.arange(12).reshape(4, 3)], "table of labels"),
    ],
)
def test_bad_memberships(tables, message):
    with pytest.raises(InvalidEnsembleError, match=message):
        LWGP(2).fit(tables)
    with pytest.raises(InvalidEnsembleError, match="list of membership"):
        SoftEnsemble.from_memberships(np.eye(3))
