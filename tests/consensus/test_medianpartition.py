"""MedianPartition: against all partitions of a set, and costs of moves against the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from unreduced_losses import expected_slowly, set_partitions

import partita
from partita import Ensemble, MedianPartition, fuse
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, MemoryBudgetError, PartitaWarning
from partita.metrics import expected_loss
from partita.solvers.partition_search import PartitionSearch
from partita.testing import check_consensus

LOSSES = ("vi", "binder", "omari")


def random_labels(n, m, k, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=(n, m))
    is_missing = rng.random((n, m)) < missing
    is_missing[np.arange(n), rng.integers(m, size=n)] = False
    return np.where(is_missing, -1, labels)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("n", "seed"), [(6, 0), (6, 1), (6, 2), (7, 3)])
def test_finds_the_best_of_all_partitions(loss, missing, n, seed):
    labels = random_labels(n, 5, 3, seed, missing)
    best = min(expected_slowly(labels, p, loss) for p in set_partitions(n))
    method = MedianPartition(loss=loss, max_clusters=n, random_state=0).fit(labels)
    assert method.objective_ == pytest.approx(best, abs=1e-10)
    assert expected_slowly(labels, method.labels_, loss) == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_finds_the_best_of_all_partitions_into_k_clusters(loss, k):
    labels = random_labels(6, 5, 3, 11)
    allowed = [p for p in set_partitions(6, k) if p.max() == k - 1]
    best = min(expected_slowly(labels, p, loss) for p in allowed)
    method = MedianPartition(k, loss=loss, random_state=0).fit(labels)
    assert method.n_clusters_ == k
    assert method.objective_ == pytest.approx(best, abs=1e-10)


@pytest.mark.filterwarnings("ignore:One cluster has the least expected loss")
@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("a", [0.4, 1.7])
def test_finds_the_best_with_unequal_costs(loss, a):
    labels = random_labels(6, 5, 3, 5)
    best = min(expected_slowly(labels, p, loss, a) for p in set_partitions(6))
    method = MedianPartition(loss=loss, a=a, max_clusters=6, random_state=0).fit(labels)
    assert method.objective_ == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_costs_are_differences_of_the_loss(loss, missing):
    labels = random_labels(12, 6, 4, 1, missing)
    weights = np.random.default_rng(0).integers(1, 4, 12).astype(float)
    ensemble = Ensemble.from_partitions(labels, weights=weights)
    search = PartitionSearch(ensemble, loss, 1.0, 5, exact=False)
    groups = np.random.default_rng(2).integers(4, size=12)
    search.set_groups(groups)
    value = search.value
    best, alone = search._gains()
    repeated = np.repeat(labels, weights.astype(int), axis=0)
    for row in range(12):
        losses = []
        for k in range(5):
            moved = groups.copy()
            moved[row] = k
            search.set_groups(moved)
            losses.append(search.value)
            slow = expected_slowly(repeated, np.repeat(moved, weights.astype(int)), loss)
            assert search.value == pytest.approx(slow, abs=1e-10)
        assert best[row] == pytest.approx(value - min(losses), abs=1e-10)
        assert alone[row] == pytest.approx(value - losses[4], abs=1e-10)
        search.set_groups(groups)
        search._add(row, groups[row], -1.0)  # the same costs, for a row in no group
        costs = search._row_costs(row)
        np.testing.assert_allclose(costs - costs[0], np.array(losses) - losses[0], atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_is_the_expected_loss_and_never_increases(loss):
    labels = make_partitions(80, 8, 4, noise=0.4, missing_ratio=0.1, random_state=0)[0]
    method = MedianPartition(loss=loss, random_state=0).fit(labels)
    assert method.objective_ == pytest.approx(expected_loss(labels, method, loss), rel=1e-10)
    assert (np.diff(method.history_) <= 1e-12).all()
    assert len(method.history_) == method.n_iter_ + 1
    for column in labels.T:
        assert method.objective_ <= expected_loss(labels, column, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_finds_the_number_of_planted_clusters(loss):
    labels, y = make_partitions(200, 20, 4, noise=0.2, random_state=0)
    method = MedianPartition(loss=loss, random_state=0).fit(labels)
    assert method.n_clusters_ == 4
    assert adjusted_rand_score(y, method.labels_) == 1.0


@pytest.mark.filterwarnings("ignore:One cluster has the least expected loss")
def test_a_larger_cost_of_separation_gives_fewer_clusters():
    labels = make_partitions(60, 10, 5, noise=0.5, random_state=0)[0]
    numbers = [
        MedianPartition(loss="binder", a=a, max_clusters=30, random_state=0).fit(labels).n_clusters_
        for a in (0.3, 1.0, 1.9)
    ]
    assert numbers[0] > numbers[1] > numbers[2]


def test_max_clusters():
    labels = make_partitions(60, 10, 5, noise=0.5, random_state=0)[0]
    settings = {"loss": "binder", "a": 0.3, "random_state": 0}
    assert MedianPartition(**settings).fit(labels).n_clusters_ <= 5  # the partitions' largest
    assert MedianPartition(**settings, max_clusters=3).fit(labels).n_clusters_ <= 3


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_weights_of_any_size(factor):
    labels = make_partitions(60, 10, 3, noise=0.15, random_state=0)[0]
    expected = MedianPartition(random_state=0).fit(labels)
    weighted = Ensemble.from_partitions(labels, weights=np.full(60, factor))
    method = MedianPartition(random_state=0).fit(weighted)
    np.testing.assert_array_equal(method.labels_, expected.labels_)
    assert method.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    small = MedianPartition(loss="omari", random_state=0).fit(weighted)
    assert 0 <= small.objective_ <= 1


def test_weights_of_very_different_size():
    labels = make_partitions(40, 8, 4, noise=0.4, random_state=3)[0]
    weights = 10.0 ** np.random.default_rng(0).uniform(-6, 6, 40)
    ensemble = Ensemble.from_partitions(labels, weights=weights)
    for loss in LOSSES:
        for k in (None, 2, 39):
            method = MedianPartition(k, loss=loss, n_init=2, random_state=0).fit(ensemble)
            expected = expected_loss(ensemble, method, loss)
            assert method.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert (np.diff(method.history_) <= 1e-9).all()


def test_warns_of_one_cluster():
    labels, y = make_partitions(500, 20, 5, noise=0.3, random_state=0)
    with pytest.warns(PartitaWarning, match="One cluster has the least expected loss"):
        assert MedianPartition(n_init=1, random_state=0).fit(labels).n_clusters_ == 1
    assert expected_loss(labels, np.zeros(500)) < expected_loss(labels, y)
    for settings in ({"a": 0.8}, {"loss": "omari"}):
        method = MedianPartition(**settings, n_init=1, random_state=0).fit(labels)
        assert adjusted_rand_score(y, method.labels_) == 1.0


def test_trivial_ensembles():
    assert MedianPartition().fit([[0, 0, 0], ["a", "a", "a"]]).n_clusters_ == 1
    single = MedianPartition(loss="omari").fit([[0, 1, 1, 2]])
    assert single.labels_.tolist() == [0, 1, 1, 2]
    assert single.objective_ == 0.0


@pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
def test_battery_with_the_adjusted_rand_index():
    check_consensus(MedianPartition(loss="omari", n_init=2))


def test_many_clusters():
    labels = make_partitions(40, 8, 4, noise=0.4, random_state=3)[0]
    n = Ensemble.from_partitions(labels).compress().n_rows
    assert MedianPartition(n - 1, n_init=1, random_state=0).fit(labels).n_clusters_ == n - 1


def test_fuse_leaves_the_number_to_the_method():
    labels = make_partitions(90, 12, 12, noise=0.02, random_state=0)[0]
    fusion = fuse(labels, method="medianpartition", random_state=0)
    assert fusion.scan is None
    assert fusion.n_clusters == 12  # beyond the range of a scan
    assert fuse(labels, 3, method="medianpartition", random_state=0).n_clusters == 3
    labels = make_partitions(60, 10, 3, noise=0.1, random_state=0)[0]
    scanned = fuse(labels, method="medianpartition", k_range=range(2, 5), random_state=0)
    assert scanned.scan is not None
    assert scanned.n_clusters == 3


def test_compare_and_scan():
    labels = make_partitions(60, 10, 3, noise=0.1, random_state=0)[0]
    table = partita.compare(labels, ["medianpartition", "eac"], 3, random_state=0)
    assert [record["n_clusters"] for record in table.records] == [3, 3]
    method = MedianPartition(n_init=1)
    scan = partita.scan_k(
        labels, range(2, 5), method=method, n_resamples=2, n_null=2, random_state=0
    )
    assert scan.best_k == 3


def test_memory_of_the_counts():
    labels = np.column_stack([np.arange(400) // 2 * 2, np.arange(400) % 3])
    with partita.config_context(memory_budget=1_000_000), pytest.raises(MemoryBudgetError):
        MedianPartition().fit(labels)


def test_warns_at_max_iter():
    labels = make_partitions(80, 8, 4, noise=0.4, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match="MedianPartition stopped after max_iter=1"):
        method = MedianPartition(loss="omari", max_iter=1, n_init=1, random_state=0).fit(labels)
    assert not method.converged_


@pytest.mark.parametrize("bad", [{"loss": "rand"}, {"a": 2.0}, {"max_clusters": 0}])
def test_refuses_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        MedianPartition(**bad).fit([[0, 0, 1], [0, 1, 1]])
