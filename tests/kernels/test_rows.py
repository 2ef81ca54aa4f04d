"""Distinct rows, colors and renumbering against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel
MISSING = np.uint8(255)


def table(seed, n=200, m=4, k=3, missing=0.2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, (n, m)).astype(np.uint8)
    labels[rng.random((n, m)) < missing] = MISSING
    return labels, (np.arange(m + 1) * k).astype(np.uint32)


@pytest.mark.parametrize("seed", range(5))
def test_distinct_equals_numpy_unique(seed):
    labels, _ = table(seed)
    inverse, first = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    found = _kernels.rows.distinct(labels, inverse, first)
    rows, index, counts = np.unique(labels, axis=0, return_index=True, return_counts=True)
    assert found == len(rows)
    np.testing.assert_array_equal(np.sort(first[:found]), np.sort(index))
    np.testing.assert_array_equal(labels[first[inverse]], labels)
    np.testing.assert_array_equal(np.sort(np.bincount(inverse)), np.sort(counts))
    assert np.all(np.diff(first[:found]) > 0), "numbered by first appearance"


def mix(x):
    x = (int(x) + 0x9E3779B97F4A7C15) % 2**64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def refine_slowly(labels, offsets, row_color):
    n, m = labels.shape
    cluster, partition, rows = {}, [], []
    for i in range(m):
        total = 0
        for c in range(offsets[i + 1] - offsets[i]):
            members = [x for x in range(n) if labels[x, i] == c]
            cluster[i, c] = mix(sum(mix(row_color[x]) for x in members) % 2**64)
            total += cluster[i, c]
        partition.append(mix(total % 2**64))
    for x in range(n):
        seen = [i for i in range(m) if labels[x, i] != MISSING]
        total = sum(mix(cluster[i, labels[x, i]] ^ partition[i]) for i in seen) % 2**64
        rows.append(mix(int(row_color[x]) ^ total))
    return rows


def test_refine_equals_its_twin():
    labels, offsets = table(7, n=30)
    color = np.random.default_rng(0).integers(0, 3, 30).astype(np.uint64)
    expected = refine_slowly(labels, offsets, color)
    cluster = np.empty(offsets[-1], np.uint64)
    with np.errstate(over="ignore"):
        for first, last in ((0, 3), (3, 4)):
            _kernels.rows.gather_colors(labels, MISSING, offsets, color, first, last, cluster)
        for start, stop in ((0, 10), (10, 30)):
            _kernels.rows.spread_colors(labels, MISSING, offsets, cluster, start, stop, color)
    assert color.tolist() == expected


def test_clusters_are_numbered_by_appearance():
    labels, offsets = table(3, n=50)
    order = np.random.default_rng(1).permutation(50)[:40]  # some rows may be left out
    columns = np.array([2, 0, 3, 1])
    renamed, new_code = np.empty_like(labels[order]), np.empty(offsets[-1], np.int64)
    for share in ((0, 2), (2, 4)):
        _kernels.rows.number_by_appearance(labels, MISSING, offsets, order, *share, new_code)
    for share in ((0, 11), (11, 40)):
        _kernels.rows.rename(labels, MISSING, offsets, new_code, order, columns, *share, renamed)
    for j, i in enumerate(columns):
        column = renamed[:, j][renamed[:, j] != MISSING]
        _, first = np.unique(column, return_index=True)
        assert np.all(np.diff(first) > 0)
        back = np.where(
            labels[order, i] == MISSING, MISSING, new_code[offsets[i] + labels[order, i] % MISSING]
        )
        np.testing.assert_array_equal(back, renamed[:, j])
