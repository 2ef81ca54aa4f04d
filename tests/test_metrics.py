"""Metrics against hand-made values, formulas of the papers, scikit-learn, and invariances."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, log, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from partita import metrics
from partita.ensemble import Ensemble

# 10 samples; classes 4 + 3 + 3, clusters 5 + 3 + 2. Cells (class, cluster):
#   a: 3 in 0, 1 in 1    b: 2 in 0, 1 in 1    c: 1 in 1, 2 in 2
Y = list("aaaabbbccc")
LABELS = [0, 0, 0, 1, 0, 0, 1, 1, 2, 2]
CELLS = {("a", 0): 3, ("a", 1): 1, ("b", 0): 2, ("b", 1): 1, ("c", 1): 1, ("c", 2): 2}
CLASSES = {"a": 4, "b": 3, "c": 3}
CLUSTERS = {0: 5, 1: 3, 2: 2}

vectors = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-1, 5), min_size=n, max_size=n),
        st.lists(st.integers(0, 7), min_size=n, max_size=n),
    )
)


# -- by hand ---------------------------------------------------------------------------------


def test_accuracy_by_hand():
    # a -> 0 (3), b -> 1 (1), c -> 2 (2)
    assert metrics.accuracy(Y, LABELS) == pytest.approx(0.6)


def test_accuracy_is_equation_27():
    codes = [ord(y) - ord("a") for y in Y]
    best = max(
        np.mean([y == g[label] for y, label in zip(codes, LABELS, strict=True)])
        for g in permutations(range(3))
    )
    assert metrics.accuracy(Y, LABELS) == pytest.approx(best)


def test_accuracy_leaves_surplus_clusters_unmatched():
    assert metrics.accuracy([0, 0, 0, 0], [0, 1, 2, 2]) == 0.5


def test_nmi_is_equation_28():
    n = 10
    numerator = sum(c * log(n * c / (CLASSES[h] * CLUSTERS[k])) for (h, k), c in CELLS.items())
    product = sum(c * log(c / n) for c in CLASSES.values()) * sum(
        c * log(c / n) for c in CLUSTERS.values()
    )
    assert metrics.nmi(Y, LABELS) == pytest.approx(numerator / sqrt(product), abs=1e-14)


def test_nmi_by_hand():
    # the cluster of 2 and the 2 singletons: I = log 2, H = log 2, H' = 1.5 log 2
    y, labels = [0, 0, 1, 1], [0, 0, 1, 2]
    assert metrics.nmi(y, labels) == pytest.approx(1 / sqrt(1.5))
    assert metrics.nmi(y, labels, average="arithmetic") == pytest.approx(1 / 1.25)
    assert metrics.nmi(y, labels, average="max") == pytest.approx(1 / 1.5)
    assert metrics.nmi(y, labels, average="min") == pytest.approx(1)


def test_adjusted_rand_is_equation_8():
    m = sum(comb(c, 2) for c in CELLS.values())
    m1 = sum(comb(c, 2) for c in CLASSES.values())
    m2 = sum(comb(c, 2) for c in CLUSTERS.values())
    assert (m, m1, m2) == (5, 12, 14)
    expected = (5 - 12 * 14 / 45) / (12 / 2 + 14 / 2 - 12 * 14 / 45)
    assert metrics.adjusted_rand(Y, LABELS) == pytest.approx(expected, abs=1e-14)


def test_pairwise_f_score_by_hand():
    # precision 5/14, recall 5/12
    assert metrics.pairwise_f_score(Y, LABELS) == pytest.approx(2 * 5 / (12 + 14))


def test_purity_by_hand():
    # cluster 0: 3 of class a, cluster 1: 1 of any, cluster 2: 2 of class c
    assert metrics.purity(Y, LABELS) == pytest.approx(0.6)
    assert metrics.purity([0, 0, 1, 1], [0, 1, 2, 3]) == 1
    assert metrics.purity([0, 1, 2, 3], [0, 0, 1, 1]) == 0.5


def test_evaluate_holds_every_measure():
    assert metrics.evaluate(Y, LABELS) == {
        "ACC": metrics.accuracy(Y, LABELS),
        "NMI": metrics.nmi(Y, LABELS),
        "NMI_arithmetic": metrics.nmi(Y, LABELS, average="arithmetic"),
        "NMI_max": metrics.nmi(Y, LABELS, average="max"),
        "NMI_min": metrics.nmi(Y, LABELS, average="min"),
        "ARI": metrics.adjusted_rand(Y, LABELS),
        "F": metrics.pairwise_f_score(Y, LABELS),
        "purity": metrics.purity(Y, LABELS),
    }


# -- by scikit-learn and by slow twins -------------------------------------------------------


@given(vectors)
def test_equal_to_scikit_learn(pair):
    y, labels = pair
    for average in ("geometric", "arithmetic", "max", "min"):
        theirs = sk.normalized_mutual_info_score(y, labels, average_method=average)
        assert metrics.nmi(y, labels, average=average) == pytest.approx(theirs, abs=1e-10)
    theirs = sk.adjusted_rand_score(y, labels)
    assert metrics.adjusted_rand(y, labels) == pytest.approx(theirs, abs=1e-12)


@given(vectors)
def test_pairwise_f_score_counts_pairs(pair):
    y, labels = pair
    pairs = list(combinations(range(len(y)), 2))
    true = {p for p in pairs if y[p[0]] == y[p[1]]}
    found = {p for p in pairs if labels[p[0]] == labels[p[1]]}
    expected = 2 * len(true & found) / (len(true) + len(found)) if true or found else 1.0
    assert metrics.pairwise_f_score(y, labels) == pytest.approx(expected)


@given(vectors)
def test_purity_counts_the_most_frequent_class(pair):
    y, labels = np.array(pair)
    hits = sum(np.unique(y[labels == k], return_counts=True)[1].max() for k in set(labels.tolist()))
    assert metrics.purity(y, labels) == pytest.approx(hits / len(y))


@given(vectors)
def test_names_and_order_do_not_matter(pair):
    y, labels = np.array(pair)
    order = np.random.default_rng(len(y)).permutation(len(y))
    named = np.array([f"cluster {9 - k}" for k in labels])
    expected = metrics.evaluate(y, labels)
    renamed = metrics.evaluate(y[order], named[order])
    assert renamed == pytest.approx(expected, abs=1e-12)


@given(vectors)
def test_ranges_and_unanimity(pair):
    y, labels = pair
    scores = metrics.evaluate(y, labels)
    assert all(0 <= v <= 1 for name, v in scores.items() if name != "ARI")
    assert -1 <= scores["ARI"] <= 1
    assert scores["ACC"] <= scores["purity"] + 1e-12
    assert list(metrics.evaluate(y, y).values()) == pytest.approx([1] * 8)


@given(vectors)
def test_averages_of_the_entropies_are_in_order(pair):
    scores = metrics.evaluate(*pair)
    in_order = [scores[f"NMI{name}"] for name in ("_max", "_arithmetic", "", "_min")]
    assert np.all(np.diff(in_order) >= -1e-12)


def test_many_clusters_use_sparse_tables():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(0, 2000, 3000), rng.integers(0, 2500, 3000)
    theirs = sk.normalized_mutual_info_score(y, labels, average_method="geometric")
    assert metrics.nmi(y, labels) == pytest.approx(theirs, abs=1e-12)
    assert metrics.adjusted_rand(y, labels) == pytest.approx(
        sk.adjusted_rand_score(y, labels), abs=1e-12
    )


def test_pair_counts_do_not_overflow():
    n = 3_000_000
    y = np.zeros(n, np.int8)
    labels = np.arange(n) % 2
    # m = m2: the two halves are joined by both, everything is joined by y
    half = n // 2
    expected = 2 * 2 * comb(half, 2) / (comb(n, 2) + 2 * comb(half, 2))
    assert metrics.pairwise_f_score(y, labels) == pytest.approx(expected, rel=1e-12)


def test_minus_one_is_a_cluster_against_the_truth():
    assert metrics.accuracy([0, 0, 1, 1], [-1, -1, 1, 1]) == 1
    assert metrics.purity([0, 1, 1, 1], [-1, -1, 1, 1]) == 0.75


def test_any_container():
    expected = metrics.evaluate(Y, LABELS)
    assert metrics.evaluate(pd.Series(Y, dtype="category"), np.array(LABELS)) == expected
    assert metrics.evaluate(np.array(Y), [float(k) for k in LABELS]) == expected


# -- ensembles -------------------------------------------------------------------------------


def test_anmi_is_the_mean_over_complete_partitions():
    rng = np.random.default_rng(1)
    partitions = rng.integers(0, 4, (60, 5))
    labels = rng.integers(0, 3, 60)
    expected = np.mean([metrics.nmi(labels, column) for column in partitions.T])
    assert metrics.anmi(partitions, labels) == pytest.approx(expected)
    assert metrics.anmi(Ensemble.from_partitions(partitions), labels) == pytest.approx(expected)


def test_anmi_weighs_partitions_by_what_they_label():
    labels = np.array([0, 0, 1, 1, 0, 1])
    full = np.array([0, 1, 1, 1, 0, 0])
    part = np.array([0, 0, 1, 1, -1, -1])
    expected = (6 * metrics.nmi(labels, full) + 4 * 1.0) / 10
    assert metrics.anmi(np.column_stack([full, part]), labels) == pytest.approx(expected)


def test_anmi_of_an_undivided_side_is_zero():
    partitions = np.array([[0, 0], [0, 1], [0, 1]])
    assert metrics.anmi(partitions, [0, 0, 0]) == 0
    assert metrics.anmi(partitions, [0, 1, 1]) == pytest.approx(0.5)


def test_anmi_ignores_unlabeled_samples_of_the_clustering():
    partitions = np.array([[0], [0], [1], [1], [1]])
    assert metrics.anmi(partitions, [0, 0, 1, 1, -1]) == pytest.approx(1)


def test_anmi_counts_weights_as_repeats():
    rng = np.random.default_rng(2)
    partitions, labels = rng.integers(0, 3, (20, 4)), rng.integers(0, 3, 20)
    times = rng.integers(1, 4, 20)
    repeated = metrics.anmi(np.repeat(partitions, times, axis=0), np.repeat(labels, times))
    weighted = metrics.anmi(Ensemble.from_partitions(partitions, weights=times), labels)
    assert weighted == pytest.approx(repeated)


@pytest.mark.parametrize("incomplete", [False, True])
@pytest.mark.parametrize("n_clusters", [4, 60])  # a whole table, and its non-zero cells
def test_pairwise_agreement_against_the_definition(incomplete, n_clusters):
    rng = np.random.default_rng(3)
    partitions = rng.integers(0, n_clusters, (120, 4))
    if incomplete:
        partitions[rng.random(partitions.shape) < 0.3] = -1
        partitions[:, 0] = np.abs(partitions[:, 0])
    agreement = metrics.pairwise_agreement(partitions, average="arithmetic")
    for i, j in combinations(range(4), 2):
        both = (partitions[:, i] >= 0) & (partitions[:, j] >= 0)
        expected = metrics.nmi(partitions[both, i], partitions[both, j], average="arithmetic")
        assert agreement[i, j] == agreement[j, i] == pytest.approx(expected)
    assert np.array_equal(np.diag(agreement), np.ones(4))


def test_pairwise_agreement_of_a_compressed_ensemble_keeps_the_order():
    rng = np.random.default_rng(4)
    partitions = rng.integers(0, 2, (40, 5))
    ensemble = Ensemble.from_partitions(partitions)
    compressed = metrics.pairwise_agreement(ensemble.compress())
    assert compressed == pytest.approx(metrics.pairwise_agreement(partitions), abs=1e-12)


def test_diversity():
    same = np.array([[0, 1, 5], [0, 1, 5], [1, 0, 7]])
    assert metrics.diversity(same) == pytest.approx(0, abs=1e-12)
    independent = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert metrics.diversity(independent) == pytest.approx(1)
    # pairs: (0, 1) agree fully, (0, 2) and (1, 2) not at all
    assert metrics.diversity(np.column_stack([independent[:, 0], independent])) == pytest.approx(
        2 / 3
    )
    assert metrics.diversity(same[:, :1]) == 0


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score",
    [
        metrics.accuracy,
        metrics.nmi,
        metrics.adjusted_rand,
        metrics.pairwise_f_score,
        metrics.purity,
        metrics.evaluate,
    ],
)
def test_refusals(score):
    with pytest.raises(ValueError, match=r"y has 3 entries and labels 2.*same samples"):
        score([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="y is empty"):
        score([], [])
    with pytest.raises(ValueError, match=r"labels must be a vector.*2 dimensions"):
        score([0, 1], [[0], [1]])
    with pytest.raises(ValueError, match=r"labels has 1 missing entries.*Drop"):
        score([0, 1], [0, None])


def test_refusals_of_ensemble_measures():
    partitions = np.array([[0, 0], [0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"labels has 2 entries, the ensemble 3 samples"):
        metrics.anmi(partitions, [0, 1])
    with pytest.raises(ValueError, match="compressed"):
        metrics.anmi(Ensemble.from_partitions(partitions).compress(), [0, 1, 1])
    for call in (
        lambda: metrics.nmi([0, 1], [0, 1], average="mean"),
        lambda: metrics.anmi(partitions, [0, 1, 1], average="mean"),
        lambda: metrics.pairwise_agreement(partitions, average="mean"),
    ):
        with pytest.raises(ValueError, match=r"average must be one of .*'mean'"):
            call()
