"""Diagnostics against the n x n matrices they avoid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import partita
from partita import CCGP, EAC, LWGP, Ensemble, RandomK, config_context
from partita._contingency import ContingencyTable, nesting_of
from partita.datasets import make_partitions
from partita.diagnostics import diagnose, membership
from partita.exceptions import MemoryBudgetError
from partita.metrics import anmi, nmi


@pytest.fixture(params=[0.0, 0.25], ids=["complete", "incomplete"])
def case(request):
    labels = make_partitions(60, 9, 3, noise=0.3, missing_ratio=request.param, random_state=1)[0]
    return labels, EAC(3).fit_predict(labels)


def pairs(labels):
    known = labels >= 0
    joined = ((labels[:, None] == labels) & known[:, None] & known).sum(axis=2)
    return joined, (known[:, None] & known).sum(axis=2)


def test_item_consensus_is_the_mean_coassociation_with_the_others(case):
    labels, found = case
    joined, both = pairs(labels)
    diagnosis = diagnose(labels, found)
    for x in range(len(labels)):
        for k in range(3):
            others = (found == k) & (np.arange(len(labels)) != x)
            expected = joined[x, others].sum() / both[x, others].sum()
            assert diagnosis.item_consensus[x, k] == pytest.approx(expected, abs=1e-12)
        own = diagnosis.item_consensus[x]
        rest = np.delete(own, found[x])
        assert diagnosis.confidence[x] == own[found[x]]
        assert diagnosis.margin[x] == pytest.approx(own[found[x]] - rest.max())
        assert own[diagnosis.runner_up[x]] == rest.max()
        assert diagnosis.runner_up[x] != found[x]


def test_clusters(case):
    labels, found = case
    joined, both = pairs(labels)
    diagnosis = diagnose(labels, found)
    np.testing.assert_array_equal(diagnosis.sizes, np.bincount(found))
    different = ~np.eye(len(labels), dtype=bool)
    for a in range(3):
        for b in range(3):
            block = np.outer(found == a, found == b) & different
            expected = joined[block].sum() / both[block].sum()
            assert diagnosis.cluster_consensus[a, b] == pytest.approx(expected, abs=1e-12)
        jaccards = []
        for column in labels.T:
            inside = (found == a) & (column >= 0)
            best = max(
                (inside & (column == c)).sum() / (inside | (column == c)).sum()
                for c in np.unique(column[column >= 0])
            )
            jaccards.append(best)
        assert diagnosis.stability[a] == pytest.approx(np.mean(jaccards))
    assert diagnosis.separation[0] == 1 - diagnosis.cluster_consensus[0, 1:].max()


def test_partitions(case):
    labels, found = case
    diagnosis = diagnose(labels, found)
    for i, column in enumerate(labels.T):
        known = column >= 0
        assert diagnosis.agreement[i] == pytest.approx(nmi(found[known], column[known]))
        expected = adjusted_rand_score(found[known], column[known])
        assert diagnosis.adjusted_rand[i] == pytest.approx(expected)
        without = diagnose(np.delete(labels, i, axis=1), found) if not (labels < 0).any() else None
        if without is not None:
            change = without.confidence.mean() - diagnosis.confidence.mean()
            assert diagnosis.leave_out[i] == pytest.approx(change, abs=1e-12)
    assert diagnosis.anmi == pytest.approx(anmi(labels, found))
    others = [
        anmi(np.delete(labels, i, axis=1), np.where(labels[:, i] < 0, np.nan, labels[:, i]))
        for i in range(9)
    ]
    if not (labels < 0).any():
        assert diagnosis.best_partition == int(np.argmax(others))
        assert diagnosis.best_partition_anmi == pytest.approx(max(others))
    assert diagnosis.harmless == (diagnosis.anmi >= diagnosis.best_partition_anmi - 0.01)
    assert "9 partitions" in repr(diagnosis)


def test_bad_partitions_and_repeats_are_named():
    labels, truth = make_partitions(200, 12, 4, noise=0.1, random_state=3)
    rng = np.random.default_rng(0)
    junk = rng.integers(0, 4, 200)
    table = np.column_stack([labels, labels[:, 2], junk, np.zeros(200, int)])
    diagnosis = diagnose(table, truth)
    assert np.flatnonzero(diagnosis.bad_partitions).tolist() == [13, 14]
    assert diagnosis.redundancy[2] == diagnosis.redundancy[12]
    assert len(np.unique(diagnosis.redundancy)) == 14
    assert diagnosis.leave_out[13] > 0 > diagnosis.leave_out[0]


def pairs_nesting(first, second):
    """The adjusted Wallace coefficient of the finer partition, from all pairs of samples."""
    different = ~np.eye(len(first), dtype=bool)
    a, b = ((x[:, None] == x)[different] for x in (np.asarray(first), np.asarray(second)))
    fine, coarse = (a, b) if a.sum() < b.sum() else (b, a)
    return (coarse[fine].mean() - coarse.mean()) / (1 - coarse.mean())


def test_nesting_is_free_of_granularity():
    rng = np.random.default_rng(0)
    labels, other = rng.integers(0, 4, 60), rng.integers(0, 7, 60)
    table = ContingencyTable.from_codes(labels, other, 4, 7)
    assert nesting_of(table) == pytest.approx(pairs_nesting(labels, other), abs=1e-12)
    for n, refined in ((2, labels // 2), (8, labels * 2 + rng.integers(0, 2, 60))):
        assert nesting_of(ContingencyTable.from_codes(labels, refined, 4, n)) == pytest.approx(1)


def test_a_coarse_partition_is_not_bad():
    labels, truth = make_partitions(300, 12, 8, noise=0.05, random_state=3)
    junk = np.random.default_rng(0).integers(0, 2, 300)
    table = np.column_stack([labels, truth // 4, junk])
    diagnosis = diagnose(table, truth)
    assert diagnosis.agreement[12] < diagnosis.agreement[:12].min() - 0.1
    assert np.flatnonzero(diagnosis.bad_partitions).tolist() == [13]


def test_only_partitions_of_like_k_are_compared():
    fine = make_partitions(200, 10, 20, noise=0.05, random_state=0)[0]
    coarse = fine[:, 0] // 7
    alone = diagnose(fine, coarse)
    assert alone.anmi < alone.pairwise.mean()  # only because the partitions are finer
    assert alone.harmless
    assert alone.best_partition is None
    assert alone.to_dict()["best_partition"] is None
    assert "with the partitions, no partition has about as many clusters" in repr(alone)
    rng = np.random.default_rng(0)
    beside = diagnose(np.column_stack([fine, coarse]), rng.integers(0, 3, 200))
    assert beside.best_partition == 10
    assert not beside.harmless
    assert "worse than the best partition with about as many clusters, 10 (" in repr(beside)


@pytest.mark.parametrize(("load", "standardize"), [(load_iris, False), (load_wine, True)])
def test_indicators_do_not_cry_wolf(load, standardize):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    k = len(np.unique(y))
    partitions = RandomK(100, random_state=0).fit_transform(X)
    diagnosis = diagnose(partitions, CCGP(k, random_state=0).fit(partitions))
    assert (diagnosis.confidence < 0.5).mean() > 0.03
    assert len(diagnosis.doubtful_samples()) < 0.03 * len(X)
    assert diagnosis.harmless
    assert not diagnosis.bad_partitions.any()


def test_fresh_partitions_confirm_doubtful_samples():
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n_doubtful = n_confirmed = 0
    for seed in range(3):
        partitions = RandomK(100, random_state=seed).fit_transform(X)
        for half, fresh in ((slice(50), slice(50, 100)), (slice(50, 100), slice(50))):
            labels = CCGP(2, random_state=0).fit_predict(partitions[:, half])
            doubtful = diagnose(partitions[:, half], labels).doubtful_samples()
            n_doubtful += len(doubtful)
            n_confirmed += int((diagnose(partitions[:, fresh], labels).margin[doubtful] <= 0).sum())
    assert n_doubtful > 20
    assert n_confirmed > n_doubtful / 2  # a majority changes to another cluster


def test_doubtful_samples_come_first():
    labels, truth = make_partitions(80, 20, 2, noise=0.05, random_state=4)
    labels[5] = 1 - labels[5]  # every partition puts it on the other side
    labels[6, ::2] = 1 - labels[6, ::2]
    diagnosis = diagnose(labels, truth)
    assert diagnosis.doubtful_samples()[:2].tolist() == [5, 6]
    assert diagnosis.margin[5] < 0
    assert diagnosis.runner_up[5] == 1 - truth[5]
    disagreeing = diagnosis.disagreeing_partitions(6)
    assert len(disagreeing) >= 8
    assert len(diagnosis.disagreeing_partitions(5)) >= 18


def test_membership_sums_to_one():
    labels, truth = make_partitions(50, 10, 3, noise=0.2)
    soft = membership(labels, truth)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0)
    assert np.mean(soft.argmax(axis=1) == truth) > 0.95


def test_membership_of_a_cluster_of_one_sample():
    together, apart, between = [0, 0, 0], [1, 1, 1], [2, 3, 4]
    soft = membership(np.array([together, together, apart, apart, between]), [0, 0, 1, 1, 2])
    np.testing.assert_array_equal(soft[4], [0, 0, 1])  # not zeros
    between = [0, 0, 1]
    soft = membership(np.array([together, together, apart, apart, between]), [0, 0, 1, 1, 2])
    np.testing.assert_allclose(soft[4], [1 / 3, 1 / 6, 1 / 2])  # its own cluster comes first
    np.testing.assert_allclose(soft.sum(axis=1), 1)


def test_membership_is_that_of_the_diagnosis(case):
    labels, found = case
    np.testing.assert_array_equal(membership(labels, found), diagnose(labels, found).membership)


def test_records_have_names_and_the_values_of_the_arrays():
    partitions = {"a": [0, 0, 1, 1], "b": [5, 5, 7, 7], "c": [1, 1, 1, 1]}
    diagnosis = diagnose(pd.DataFrame(partitions), ["x", "x", "y", "y"])
    clusters, rows = diagnosis.cluster_records(), diagnosis.partition_records()
    assert [record["cluster"] for record in clusters] == ["x", "y"]
    assert [record["size"] for record in clusters] == [2, 2]
    assert [record["share"] for record in clusters] == [0.5, 0.5]
    assert [record["partition"] for record in rows] == ["a", "b", "c"]
    assert [record["n_equal"] for record in rows] == [2, 2, 1]
    assert [record["bad"] for record in rows] == [False, False, True]
    assert [record["agreement"] for record in rows] == diagnosis.agreement.tolist()
    summary = diagnosis.to_dict()
    assert summary["best_partition"] == "a"
    assert summary["n_doubtful"] == len(diagnosis.doubtful_samples())
    assert summary["clusters"] == clusters
    assert summary["partitions"] == rows


def test_records_follow_the_order_of_the_users_table():
    labels = make_partitions(40, 6, 3, noise=0.3, k_min=2, k_max=6)[0]
    names = [f"p{i}" for i in range(6)]
    ensemble = Ensemble.from_partitions(labels, partition_names=names)
    reordered = replace(ensemble.compress(), inverse=None)
    rows = diagnose(reordered, np.arange(reordered.n_rows) % 3).partition_records()
    assert [record["partition"] for record in rows] == names
    assert [record["n_clusters"] for record in rows] == ensemble.n_clusters.tolist()


def test_samples_left_out_and_clusters_of_one():
    labels = np.array([[0, 0], [0, 0], [1, 1], [-1, -1]])
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    diagnosis = diagnose(ensemble, [0, 0, 1, -1])
    np.testing.assert_array_equal(diagnosis.confidence[:2], [1, 1])
    assert np.isnan(diagnosis.confidence[2:]).all()  # alone, and unlabeled
    assert np.isnan(diagnosis.cohesion[1])
    np.testing.assert_array_equal(diagnosis.membership[3], [0, 0])
    alone = diagnose(labels[:3], [0, 1, 2])
    assert np.isnan(alone.confidence).all()
    np.testing.assert_array_equal(alone.leave_out, [0, 0])
    one = diagnose(labels[:3], [0, 0, 0])
    assert one.runner_up.tolist() == [-1, -1, -1]
    assert one.separation.tolist() == [1.0]


def test_weights_are_repeats():
    labels = make_partitions(30, 6, 3, noise=0.3)[0]
    found = EAC(3).fit_predict(labels)
    times = np.random.default_rng(1).integers(1, 4, 30)
    repeated = diagnose(np.repeat(labels, times, axis=0), np.repeat(found, times))
    weighted = diagnose(Ensemble.from_partitions(labels, weights=times), found)
    first = np.cumsum(times) - times
    np.testing.assert_allclose(
        weighted.item_consensus, repeated.item_consensus[first], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        weighted.cluster_consensus, repeated.cluster_consensus, rtol=0, atol=1e-12
    )
    for name in ("leave_out", "agreement", "adjusted_rand", "anmi", "best_partition_anmi"):
        found, expected = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=name)


def test_the_unit_of_weights_does_not_matter_to_scores():
    labels = make_partitions(40, 6, 3, noise=0.3, missing_ratio=0.1, random_state=2)[0]
    found = EAC(3).fit_predict(labels)
    plain = diagnose(labels, found)
    small = diagnose(Ensemble.from_partitions(labels, weights=np.full(40, 0.01)), found)
    for name in ("agreement", "adjusted_rand", "anmi", "pairwise"):
        one, other = getattr(plain, name), getattr(small, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12, err_msg=name)


def test_large_tables_need_no_square_matrix():
    labels, truth = make_partitions(100_000, 10, 5, noise=0.2)
    with partita.config_context(memory_budget=50 * 2**20):
        diagnosis = diagnose(labels, truth)
    assert diagnosis.confidence.mean() > 0.5


def test_wrong_lengths():
    with pytest.raises(ValueError, match="labels has 2 entries, the ensemble 3"):
        diagnose([[0, 0, 1]], [0, 1])
    with pytest.raises(ValueError, match="compressed"):
        diagnose(Ensemble.from_partitions([[0, 0, 1]]).compress(), [0, 0, 1])


def test_a_diagnosis_beyond_the_budget_is_refused_before_it_begins():
    labels = make_partitions(400, 10, 4, noise=0.3, random_state=1)[0]
    consensus = LWGP(4, random_state=0).fit_predict(labels)
    with (
        config_context(memory_budget=50_000),
        pytest.raises(MemoryBudgetError, match="400 samples in 4 clusters"),
    ):
        diagnose(labels, consensus)


def test_records_of_clusters_name_the_nearest_cluster_and_the_mean_confidence() -> None:
    labels, truth = make_partitions(90, 10, 3, noise=0.3, random_state=2)
    diagnosis = partita.diagnose(labels, truth)
    for k, record in enumerate(diagnosis.cluster_records()):
        others = np.delete(diagnosis.cluster_consensus[k], k)
        assert diagnosis.cluster_consensus[k, record["nearest"]] == others.max()
        assert record["confidence"] == pytest.approx(diagnosis.confidence[truth == k].mean())
    (alone,) = partita.diagnose(labels, np.zeros(90, int)).cluster_records()
    assert alone["nearest"] is None
