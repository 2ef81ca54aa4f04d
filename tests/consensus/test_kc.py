"""KC: distances of the co-association matrix's rows, without the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from partita import KC, Ensemble, coassociation, config_context
from partita.datasets import make_partitions
from partita.scale import EnsembleRows
from partita.solvers.label_kmeans import group_statistics, row_costs


def few_rows(missing=0.0):
    """Fewer distinct rows than base clusters."""
    return np.repeat(
        make_partitions(20, 30, 5, noise=0.3, missing_ratio=missing, random_state=1)[0], 4, axis=0
    )


def many_rows(missing=0.0):
    """More distinct rows than base clusters, and repeated ones."""
    labels = make_partitions(70, 5, 4, noise=0.4, missing_ratio=missing, random_state=2)[0]
    return labels[np.random.default_rng(0).integers(0, 70, 200)]


def lloyd(CA, seeds, max_iter=100):
    """k-means on the rows of the full matrix, from the definition."""
    centers, previous = CA[seeds], None
    for _ in range(max_iter):
        cost = ((CA[:, None, :] - centers) ** 2).sum(axis=2)
        groups = np.argmin(np.round(cost, 9), axis=1)
        if previous is not None and np.array_equal(groups, previous):
            return groups, cost.min(axis=1).sum()
        assert len(np.unique(groups)) == len(seeds), "choose seeds that leave no cluster empty"
        centers = np.array([CA[groups == k].mean(axis=0) for k in range(len(seeds))])
        previous = groups
    raise AssertionError("the unreduced iteration did not converge")


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("make", [few_rows, many_rows])
def test_costs_are_distances_of_coassociation_rows(make, missing):
    labels = make(missing)
    core = Ensemble.from_partitions(labels).compress()
    assert (core.n_rows < core.n_base_clusters) == (make is few_rows)
    rows = EnsembleRows(core)
    geometry = KC()._geometry(rows, np.ones(core.n_partitions), 0.0)
    groups = np.arange(core.n_rows) % 3
    counts, masses = group_statistics(rows, geometry, groups, 3)
    tables, terms = geometry.tables(counts, masses), geometry.row_terms(core.codes)
    found = row_costs(core, core.codes, tables, terms.constant, terms.scale)
    CA = coassociation(labels, missing="disagree")
    full = core.expand(groups)
    centers = np.array([CA[full == k].mean(axis=0) for k in range(3)])
    expected = ((CA[:, None, :] - centers) ** 2).sum(axis=2)
    np.testing.assert_allclose(found[core.inverse], expected, rtol=0, atol=1e-11)
    total = expected[np.arange(len(full)), full].sum()
    assert geometry.objective(counts, masses, tables) == pytest.approx(total, rel=1e-11)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("make", [few_rows, many_rows])
def test_equals_the_unreduced_computation(make, missing):
    labels = make(missing)
    seeds = [0, 27, 60]
    groups, objective = lloyd(coassociation(labels, missing="disagree"), seeds)
    method = KC(3, init=seeds).fit(labels)
    assert adjusted_rand_score(method.labels_, groups) == 1.0
    assert method.objective_ == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("make", [few_rows, many_rows])
def test_partition_weights(make, missing):
    """k-means on the rows of Σ_i w_i M^(i) / Σ_i w_i, whatever the order of the partitions."""
    labels = make(missing)
    m = labels.shape[1]
    w = np.random.default_rng(4).uniform(0.1, 3, m)
    joined = (labels.T[:, :, None] == labels.T[:, None, :]) & (labels.T >= 0)[:, :, None]
    CA = np.tensordot(w / w.sum(), joined, 1)
    seeds = [0, 27, 60]
    groups, objective = lloyd(CA, seeds)
    method = KC(3, partition_weights=w, init=seeds).fit(labels)
    assert adjusted_rand_score(method.labels_, groups) == 1.0
    assert method.objective_ == pytest.approx(objective, rel=1e-8)
    np.testing.assert_array_equal(method.partition_weights_, w)
    np.testing.assert_array_equal(method.predict(labels), method.labels_)
    order = np.random.default_rng(0).permutation(m)
    other = KC(3, partition_weights=w[order], init=seeds).fit(labels[:, order])
    np.testing.assert_array_equal(other.labels_, method.labels_)
    np.testing.assert_array_equal(other.partition_weights_, w[order])


def test_heavy_partition_decides():
    """Two opposite partitions: the one with nearly all the weight is returned."""
    labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1]]).T
    for heavy in (0, 1):
        weights = np.where(np.arange(2) == heavy, 1.0, 0.01)
        found = KC(2, partition_weights=weights, random_state=0).fit_predict(labels)
        np.testing.assert_array_equal(found, labels[:, heavy])


@pytest.mark.parametrize(("weights", "message"), [([1.0], "shape"), ("equal", "partition_weights")])
def test_bad_partition_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        KC(2, partition_weights=weights).fit(few_rows())


def test_by_hand():
    """CA = [[1, 1, .5, 0], [1, 1, .5, 0], [.5, .5, 1, .5], [0, 0, .5, 1]]; clusters {0,1}, {2,3}:
    half the squared distance of the last two rows, (.25 + .25 + .25 + .25) / 2."""
    labels = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    method = KC(2, init=[0, 2]).fit(labels)
    np.testing.assert_array_equal(method.labels_, [0, 0, 1, 1])
    assert method.objective_ == pytest.approx(0.5, rel=1e-12)


@pytest.mark.shared
def test_published_ensembles(oracle):
    """The objective is that of the n x n matrix, and k-means there finds nothing to improve."""
    CA = coassociation(oracle.labels)
    method = KC(oracle.n_clusters, random_state=0).fit(oracle.labels)
    centers = np.array([CA[method.labels_ == k].mean(axis=0) for k in range(oracle.n_clusters)])
    inertia = ((CA - centers[method.labels_]) ** 2).sum()
    assert method.objective_ == pytest.approx(inertia, rel=1e-10)
    polished = KMeans(oracle.n_clusters, init=centers, n_init=1, tol=0).fit(CA)
    assert polished.inertia_ == pytest.approx(inertia, rel=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_objective_never_rises(missing):
    labels = make_partitions(150, 12, 5, noise=0.5, missing_ratio=missing, random_state=1)[0]
    for seed in range(3):
        method = KC(9, init="random", n_init=1, random_state=seed).fit(labels)
        assert method.n_iter_ > 1
        assert np.all(np.diff(method.history_) <= 1e-9 * method.history_[0])


def test_predict():
    labels, truth = make_partitions(200, 15, 3, noise=0.2, missing_ratio=0.1)
    method = KC(3, random_state=0).fit(labels[::2])
    np.testing.assert_array_equal(method.predict(labels[::2]), method.labels_)
    assert adjusted_rand_score(truth[1::2], method.predict(labels[1::2])) > 0.9


def test_no_n_by_n_matrix():
    """20,000 rows with a budget far below the 3.2 GB that n² doubles would take."""
    labels, truth = make_partitions(20_000, 30, 5, noise=0.2)
    with config_context(memory_budget=100 * 2**20):
        found = KC(5, n_init=3, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(truth, found) > 0.95
