"""Distinct rows, colors and renumbering, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

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
    inverse, first = np.zeros((2, len(labels)), np.int64)
    n_distinct, (_, inverse, first) = call_both(_kernels.rows.distinct, labels, inverse, first)
    rows, index, counts = np.unique(labels, axis=0, return_index=True, return_counts=True)
    assert n_distinct == len(rows)
    np.testing.assert_array_equal(np.sort(first[:n_distinct]), np.sort(index))
    np.testing.assert_array_equal(labels[first[inverse]], labels)
    np.testing.assert_array_equal(np.sort(np.bincount(inverse)), np.sort(counts))
    assert np.all(np.diff(first[:n_distinct]) > 0), "numbered by first appearance"


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
    cluster = np.zeros(offsets[-1], np.uint64)
    of_table = labels, MISSING, offsets
    for share in ((0, 3), (3, 4)):
        _, (*_, cluster) = call_both(_kernels.rows.gather_colors, *of_table, color, *share, cluster)
    for share in ((0, 10), (10, 30)):
        _, (*_, color) = call_both(_kernels.rows.spread_colors, *of_table, cluster, *share, color)
    assert color.tolist() == expected


def test_clusters_are_numbered_by_appearance():
    labels, offsets = table(3, n=50)
    order = np.random.default_rng(1).permutation(50)[:40]  # some rows may be left out
    columns = np.array([2, 0, 3, 1])
    renamed, new_code = np.zeros_like(labels[order]), np.zeros(offsets[-1], np.int64)
    of_table, kernels = (labels, MISSING, offsets), _kernels.rows
    for share in ((0, 2), (2, 4)):
        _, (*_, new_code) = call_both(
            kernels.number_by_appearance, *of_table, order, *share, new_code
        )
    names = new_code.astype(labels.dtype)
    for share in ((0, 11), (11, 40)):
        _, (*_, renamed) = call_both(
            kernels.rename, *of_table, names, order, columns.astype(np.uint32), *share, renamed
        )
    for j, i in enumerate(columns):
        column = renamed[:, j][renamed[:, j] != MISSING]
        _, first = np.unique(column, return_index=True)
        assert np.all(np.diff(first) > 0)
        back = np.where(
            labels[order, i] == MISSING, MISSING, new_code[offsets[i] + labels[order, i] % MISSING]
        )
        np.testing.assert_array_equal(back, renamed[:, j])


def test_rows_with_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr("partita._kernels.rows._mix", lambda x: np.zeros_like(x))
    labels, _ = table(0)
    inverse, first = np.zeros((2, len(labels)), np.int64)
    n_distinct = _kernels.rows.distinct.definition(labels, inverse, first)
    assert n_distinct == len(np.unique(labels, axis=0))
    np.testing.assert_array_equal(labels[first[inverse]], labels)
