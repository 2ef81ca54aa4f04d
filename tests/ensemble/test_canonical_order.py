"""The canonical order of rows, against brute force and on tables made to confuse it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from partita import EAC, LWEA, Ensemble
from partita.ensemble import _canonical_order
from strategies import label_tables, scrambled, symmetric_tables, weights_of


def canonical_table(labels, weights=None):
    core = Ensemble.from_partitions(labels, weights=weights).compress()
    return core.codes, core.weights


def assert_same_core(labels, weights, rng):
    other, order = scrambled(labels, rng)
    moved = None if weights is None else np.asarray(weights)[order]
    for result, expected in zip(
        canonical_table(other, moved), canonical_table(labels, weights), strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_scrambling_does_not_change_the_compressed_table(data, seed):
    labels = data.draw(label_tables())
    weights = data.draw(weights_of(len(labels)))
    assert_same_core(labels, weights, np.random.default_rng(seed))


@settings(max_examples=100, deadline=None)
@given(symmetric_tables(), st.integers(0, 2**32 - 1))
def test_nor_does_it_in_symmetric_tables(labels, seed):
    assert_same_core(labels, None, np.random.default_rng(seed))


# most small tables have rows that nothing tells apart: filtering them is the point
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(label_tables(min_samples=5, missing=True), st.integers(0, 2**32 - 1))
def test_partitions_are_the_same_where_all_rows_can_be_told_apart(labels, seed):
    """With symmetric rows an answer may break the symmetry either way; otherwise it is one."""
    core = Ensemble.from_partitions(labels).compress()
    refinement = _canonical_order._Refinement(core.codes, core.missing_code, core.offsets)
    colors = refinement.refine(_canonical_order._weight_colors(core.weights))
    assume(len(np.unique(colors)) == core.n_rows > 3)
    other, order = scrambled(labels, np.random.default_rng(seed))
    for method in (EAC(3), EAC(2, linkage="complete"), EAC(None), LWEA(3)):
        before = method.fit_predict(labels)[order]
        after = method.fit_predict(other)
        assert adjusted_rand_score(before, after) == 1


def random_latin_square(n, rng):
    rows = []
    while len(rows) < n:
        row = rng.permutation(n)
        if all((row != other).all() for other in rows):
            rows.append(row)
        elif rng.random() < 0.001:
            rows.clear()
    return np.array([(i, j, rows[i][j]) for i in range(n) for j in range(n)])


@pytest.mark.parametrize("seed", range(8))
def test_latin_squares(seed):
    """Every row, column and symbol looks like every other; most squares have few symmetries."""
    rng = np.random.default_rng(seed)
    assert_same_core(random_latin_square(5 + seed % 2, rng), None, rng)


def test_colors_that_are_all_different_do_not_yet_show_the_table():
    """Two outcomes with equal colors one round too early led to two tables."""
    labels = np.array(
        [
            [0, 1, 0, 2, 3, 0, 3, 3, 1, 2, 2],
            [0, 1, 2, 0, 1, 3, 3, 2, 0, 2, 3],
            [0, 1, 2, 0, 3, 2, 1, 3, 3, 0, 2],
        ]
    ).T
    weights = [1, 2, *[1] * 9]
    for seed in range(5):
        assert_same_core(labels, weights, np.random.default_rng(seed))


def automorphisms(labels):
    """Return all orders of the rows that give the same partitions, each as often."""
    partitions = Counter(pairs(column) for column in labels.T)
    return [
        order
        for order in itertools.permutations(range(len(labels)))
        if Counter(pairs(column) for column in labels[list(order)].T) == partitions
    ]


def pairs(column):
    """The pairs of samples a partition joins: the partition without its names."""
    return frozenset(
        (p, q) for p, q in itertools.combinations(range(len(column)), 2) if column[p] == column[q]
    )


@settings(max_examples=25, deadline=None)
@given(label_tables(min_samples=4, max_samples=6, max_partitions=3, missing=False))
def test_rows_that_tie_to_the_end_are_exchangeable(labels):
    labels = np.unique(labels, axis=0)
    n, m = labels.shape
    offsets = np.arange(m + 1) * (labels.max() + 1)
    refinement = _canonical_order._Refinement(labels.astype(np.uint8), 255, offsets)
    colors = refinement.refine(np.zeros(n, np.uint64))
    refinement.find_twins(colors)
    group = automorphisms(labels)
    for x, y in itertools.combinations(range(n), 2):
        if refinement.twins[x] == refinement.twins[y]:
            swap = list(range(n))
            swap[x], swap[y] = y, x
            assert tuple(swap) in group, "twins can be exchanged"
        if any(order[x] == y for order in group):
            assert colors[x] == colors[y], "what can be exchanged has one color"


def test_the_unit_of_the_weights_does_not_matter():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (60, 4))
    weights = rng.integers(1, 4, 60)
    for unit in (0.1, 3, 1e9, 1e-9, 1 / 7):
        table, scaled = canonical_table(labels, weights * unit)
        expected, plain = canonical_table(labels, weights)
        np.testing.assert_array_equal(table, expected)
        np.testing.assert_allclose(scaled, plain * unit)


def test_rounding_of_sums_does_not_depend_on_the_order_of_samples():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, (500, 2))
    weights = rng.uniform(size=500)
    order = rng.permutation(500)
    _, first = canonical_table(labels, weights)
    _, second = canonical_table(labels[order], weights[order])
    assert first.tobytes() == second.tobytes()


def test_columns_are_sorted_and_equal_columns_keep_their_order():
    labels = np.random.default_rng(2).integers(0, 3, (30, 4))
    doubled = np.concatenate([labels, labels[:, ::-1]], axis=1)
    core = Ensemble.from_partitions(doubled).compress()
    assert sorted(core.partition_order) == list(range(8))
    for left, right in itertools.pairwise(range(8)):
        if np.array_equal(core.codes[:, left], core.codes[:, right]):
            assert core.partition_order[left] < core.partition_order[right]


@pytest.mark.filterwarnings("ignore:.*samples have different labels")
@pytest.mark.parametrize(
    "labels",
    [
        np.array(list(itertools.product(range(9), repeat=3))),
        np.array([(i // 2, (i + 1) // 2) for i in range(3000)]),
        np.stack([np.arange(20_000) // 2, np.arange(20_000)], axis=1),
        np.arange(20_000)[:, None],
    ],
    ids=["factorial", "path", "pairs", "singletons"],
)
def test_effort_on_symmetric_tables_is_bounded(labels, monkeypatch):
    made = []
    plain = _canonical_order._Refinement

    def remembered(*arguments):
        made.append(plain(*arguments))
        return made[-1]

    monkeypatch.setattr(_canonical_order, "_Refinement", remembered)
    core = Ensemble.from_partitions(labels).compress()
    assert core.n_rows == len(labels)
    (refinement,) = made
    assert refinement.effort <= 2 * _canonical_order._EFFORT
