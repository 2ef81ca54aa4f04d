"""Costs by look-up against sums written out, and bounds against none."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel
MISSING = 255


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "incomplete"])
def case(request):
    rng = np.random.default_rng(2)
    n, m, k, groups = 150, 6, 4, 3
    labels = rng.integers(0, k, (n, m)).astype(np.uint8)
    labels[rng.random((n, m)) < request.param] = MISSING
    tables = {
        "offsets": np.arange(m + 1) * k,
        "lookup": rng.random((m * k, 4)),
        "slope": rng.random((m, 4)),
        "constant": rng.random(n),
        "scale": rng.random(n) + 0.5,
    }
    return labels, tables, groups, request.param == 0.0


def costs_slowly(labels, t, groups):
    costs = np.tile(t["constant"][:, None], groups)
    for x, row in enumerate(labels):
        for i, label in enumerate(row):
            if label != MISSING:
                costs[x] += t["lookup"][t["offsets"][i] + label, :groups]
                costs[x] += t["scale"][x] * t["slope"][i, :groups]
    return costs


def test_costs(case):
    labels, t, groups, complete = case
    expected = costs_slowly(labels, t, groups)
    out = np.empty((len(labels), 4))
    _kernels.label_kmeans.row_costs(
        labels, MISSING, complete, t["offsets"], t["lookup"], t["slope"], t["slope"].sum(axis=0),
        t["constant"], t["scale"], out,
    )  # fmt: skip
    np.testing.assert_allclose(out[:, :groups], expected, rtol=1e-13)
    own, chosen = np.empty(len(labels)), np.arange(len(labels)) % groups
    _kernels.label_kmeans.own_costs(
        labels, MISSING, t["offsets"], t["lookup"], t["slope"], t["constant"], t["scale"], chosen,
        0, len(labels), own,
    )  # fmt: skip
    np.testing.assert_allclose(own, expected[np.arange(len(own)), chosen], rtol=1e-13)


def test_assign_takes_the_cheapest_and_sets_bounds(case):
    labels, t, groups, complete = case
    n = len(labels)
    expected = costs_slowly(labels, t, groups)
    chosen = np.zeros(n, np.int64)
    upper, lower = np.full(n, np.inf), np.zeros(n)
    moved = _kernels.label_kmeans.assign(
        labels, MISSING, complete, t["offsets"], t["lookup"], t["slope"], t["slope"].sum(axis=0),
        t["constant"], t["scale"], groups, chosen, np.zeros(groups), True, upper, lower, 0, n,
    )  # fmt: skip
    np.testing.assert_array_equal(chosen, expected.argmin(axis=1))
    assert moved == np.count_nonzero(chosen)
    ordered = np.sort(expected, axis=1)
    np.testing.assert_allclose(upper, np.sqrt(ordered[:, 0] / t["scale"]), rtol=1e-12)
    np.testing.assert_allclose(lower, np.sqrt(ordered[:, 1] / t["scale"]), rtol=1e-12)


def test_a_row_held_by_its_bounds_is_not_looked_at(case):
    labels, t, groups, complete = case
    n = len(labels)
    chosen = np.full(n, 2, np.int64)
    upper, lower = np.zeros(n), np.ones(n)
    upper[::2], lower[::2] = 1.0, 1.0  # equal bounds prove nothing
    _kernels.label_kmeans.assign(
        labels, MISSING, complete, t["offsets"], t["lookup"], t["slope"], t["slope"].sum(axis=0),
        t["constant"], t["scale"], groups, chosen, np.zeros(groups), True, upper, lower, 0, n,
    )  # fmt: skip
    expected = costs_slowly(labels, t, groups).argmin(axis=1)
    np.testing.assert_array_equal(chosen[::2], expected[::2])
    assert np.all(chosen[1::2] == 2)


def test_move_keeps_the_statistics(case):
    labels, t, groups, _ = case
    rng = np.random.default_rng(3)
    n, m = labels.shape
    weights, mass = rng.random(n), rng.random(n)
    old, new = rng.integers(-1, groups, n), rng.integers(0, groups, n)
    old[:20] = new[:20]

    def statistics(chosen):
        counts, masses = np.zeros((t["offsets"][-1], groups)), np.zeros((m, groups))
        for x in range(n):
            for i in range(m):
                if labels[x, i] != MISSING and chosen[x] >= 0:
                    counts[t["offsets"][i] + labels[x, i], chosen[x]] += weights[x]
                    masses[i, chosen[x]] += mass[x]
        return counts, masses

    counts, masses = statistics(old)
    for first, last in ((0, 2), (2, m)):
        _kernels.label_kmeans.move(
            labels, MISSING, t["offsets"], weights, mass, old, new, first, last, counts, masses
        )
    expected_counts, expected_masses = statistics(new)
    np.testing.assert_allclose(counts, expected_counts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(masses, expected_masses, rtol=0, atol=1e-12)
