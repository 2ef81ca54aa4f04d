"""Integers stay integers in a linkage, and ties are broken as the documentation of chains says."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels
from partita.solvers import Tree, agglomerate, spanning_tree
from partita.solvers.linkage import LINKAGES, _in_integer_units, _sums

UNION = {"average": np.add, "single": np.minimum, "complete": np.maximum}


def chains_by_definition(matrix, size, linkage):
    """Merge as the docstring of the kernel says, with all clusters in one dictionary."""
    rows = {i: matrix[i].astype(float) for i in range(len(matrix))}
    size, merges, chain = size.copy(), [], []
    while len(rows) > 1:
        chain = chain or [min(rows)]
        a = chain[-1]
        distance = {b: rows[a][b] / (size[a] * size[b]) for b in rows if b != a}
        least = min(distance.values())
        nearest = [b for b in sorted(distance) if distance[b] == least]
        if len(chain) == 1 or chain[-2] not in nearest:
            chain.append(nearest[0])
            continue
        low, high = sorted(chain[-2:])
        merges.append((low, high, least))
        rows[low] = UNION[linkage](rows[low], rows.pop(high))
        for b in rows:
            rows[b][low] = rows[low][b]
        if linkage == "average":
            size[low] += size[high]
        del chain[-2:]
    return merges


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("largest", [1, 2, 5])
def test_chains_with_ties_are_those_of_the_definition(linkage, largest):
    rng = np.random.default_rng(largest)
    for n in (2, 3, 5, 9, 30):
        for _ in range(6):
            matrix = np.triu(rng.integers(0, largest + 1, (n, n)), 1)
            matrix = (matrix + matrix.T).astype(np.int64)
            left, right, height = np.zeros(n - 1, int), np.zeros(n - 1, int), np.zeros(n - 1)
            _kernels.chains.merge_nearest.definition(
                np.ones(n), LINKAGES.index(linkage), matrix.copy(), left, right, height
            )
            merges = list(zip(left.tolist(), right.tolist(), height.tolist(), strict=True))
            assert merges == chains_by_definition(matrix, np.ones(n), linkage)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.5, 1.0, 1.5], [1, 2, 3]),
        ([2.0, 3.0], [2, 3]),
        ([0.1, 0.2, 0.3], [1, 2, 3]),
        ([64.0, 65.0], [64, 65]),
        ([1e-200, 7e-200], [1, 7]),
    ],
)
def test_weights_that_are_multiples_of_a_unit_are_integers(weights, expected):
    assert _in_integer_units(np.array(weights)).tolist() == expected


@pytest.mark.parametrize(
    "weights", [[65.0, 66.0], [np.pi, 1.0, np.e], [0.3, np.pi], [1e9, 1.5e9 + 7]]
)
def test_other_weights_are_shifted_by_a_power_of_two(weights):
    weights = np.array(weights)
    shifted = _in_integer_units(weights)
    assert 1 <= shifted.min() < 2
    power = shifted[0] / weights[0]
    assert np.frexp(power)[0] == 0.5
    np.testing.assert_array_equal(shifted, weights * power)


@pytest.mark.parametrize(
    ("largest", "size", "dtype"),
    [
        (2**32 - 1, [1.0, 1.0], np.uint32),
        (2**32, [1.0, 1.0], np.int64),
        (2**30, [3.0, 3.0], np.int64),  # 9 times as many pairs
        (2**63 - 1024, [1.0, 1.0], np.int64),
        (2**63, [1.0, 1.0], np.float64),
        (5, [1.5, 2.0], np.float64),  # weights without a unit
    ],
)
def test_sums_take_the_narrowest_exact_type(largest, size, dtype):
    distances = np.array([[0, largest], [largest, 0]], np.uint64)
    size = np.array(size)
    sums = _sums(distances, size, float(largest), overwrite=False)
    assert sums.dtype == dtype
    expected = float(largest) * size[0] * size[1]
    assert sums.tolist() == [[0, expected], [expected, 0]]


@pytest.mark.parametrize("n", [2, 256, 257, 600])
def test_memory_that_may_be_used_is_used(n):
    """Floats are multiplied where they are, in blocks of rows."""
    rng = np.random.default_rng(0)
    distances, size = rng.random((n, n)), rng.random(n)
    expected = distances * np.outer(size, size)
    sums = _sums(distances, size, 1.0, overwrite=True)
    assert sums is distances
    np.testing.assert_array_equal(sums, expected)
    kept = expected.copy()
    assert _sums(kept, size, 1.0, overwrite=False) is not kept
    np.testing.assert_array_equal(kept, expected)


def test_integers_are_used_only_where_nothing_changes():
    distances = np.array([[0, 3], [3, 0]], np.uint32)
    assert _sums(distances, np.ones(2), 3.0, overwrite=True) is distances
    assert _sums(distances, np.ones(2), 3.0, overwrite=False) is not distances
    weighted = _sums(distances, np.array([1.0, 2.0]), 3.0, overwrite=True)
    assert weighted.tolist() == [[0, 6], [6, 0]]
    assert distances.tolist() == [[0, 3], [3, 0]]
    wide = distances.astype(np.int64)
    assert _sums(wide, np.ones(2), 3.0, overwrite=True).dtype == np.uint32


def test_the_message_has_the_ratio_of_the_weights():
    with pytest.raises(ValueError, match=r"is 5e\+299 times the smallest"):
        _sums(np.ones((2, 2)), np.array([2.0, 1e300]), 1.0, overwrite=False)


def test_one_and_two_rows():
    one = agglomerate(np.zeros((1, 1)))
    assert (len(one.left), len(one.right), len(one.height)) == (0, 0, 0)
    two = agglomerate(np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert (two.left.tolist(), two.right.tolist(), two.height.tolist()) == ([0], [1], [3.0])
    codes = np.array([[0, 1, 2], [0, 2, 2]], np.uint8)
    tree = spanning_tree(codes, 255)
    assert (tree.left.tolist(), tree.right.tolist(), tree.height.tolist()) == ([0], [1], [1.0])


def test_rows_of_several_samples_live_from_height_0():
    tree = Tree(np.array([0, 0]), np.array([1, 2]), np.array([0.3, 0.5]))
    assert tree.longest_lived(3) == 2
    assert tree.longest_lived(9) == 3
