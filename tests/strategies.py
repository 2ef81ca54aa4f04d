"""Hypothesis strategies for partitions, and changes that must not change a result."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

__all__ = ["label_tables", "label_values", "scrambled", "symmetric_tables", "weights_of"]


@st.composite
def label_tables(
    draw, *, max_samples=24, max_partitions=5, max_clusters=4, missing=True, min_samples=1
):
    """Draw integer codes of shape (n, m), -1 if missing; every row and column has a label."""
    n = draw(st.integers(min_samples, max_samples))
    m = draw(st.integers(1, max_partitions))
    k = draw(st.integers(1, max_clusters))
    lowest = -1 if missing and draw(st.booleans()) else 0
    table = draw(hnp.arrays(np.int64, (n, m), elements=st.integers(lowest, k - 1)))
    table[(table < 0).all(axis=1), 0] = 0
    table[0, (table < 0).all(axis=0)] = 0
    return table


def weights_of(n):
    """Draw weights: None, small integers, or fractions."""
    whole = st.lists(st.integers(1, 3), min_size=n, max_size=n)
    fractions = st.lists(st.floats(0.01, 100), min_size=n, max_size=n)
    return st.none() | whole | fractions


@st.composite
def symmetric_tables(draw):
    """Draw tables with many symmetries: designs, copies, Latin squares."""
    kind = draw(st.sampled_from(["balanced", "copies", "square", "factorial", "cycle"]))
    if kind == "balanced":
        size, k, m = draw(st.integers(2, 3)), draw(st.integers(2, 5)), draw(st.integers(2, 4))
        column = list(np.repeat(np.arange(k), size))
        return np.stack([draw(st.permutations(column)) for _ in range(m)], axis=1)
    if kind == "copies":
        block = draw(hnp.arrays(np.int64, (draw(st.integers(2, 6)), 3), elements=st.integers(0, 1)))
        return np.concatenate([block + 2 * copy for copy in range(draw(st.integers(2, 3)))])
    if kind == "square":
        n = draw(st.integers(2, 5))
        rows = draw(st.permutations(range(n)))
        cells = [(i, j, (rows[i] + j) % n) for i in range(n) for j in range(n)]
        kept = draw(st.lists(st.sampled_from(cells), min_size=2, max_size=n * n, unique=True))
        return np.array(kept)
    if kind == "factorial":
        k, m = draw(st.sampled_from([(2, 2), (2, 3), (2, 4), (3, 2), (4, 2)]))
        return np.array(list(itertools.product(range(k), repeat=m)))
    n = draw(st.integers(2, 8))
    return np.array([(i // 2, (i + 1) // 2 % n) for i in range(2 * n)])


def scrambled(table, rng):
    """Return the same partitions with rows, columns and cluster names in another order.

    The second result is the order of the rows.
    """
    order = rng.permutation(len(table))
    other = table[order][:, rng.permutation(table.shape[1])]
    for i in range(other.shape[1]):
        names = rng.permutation(other[:, i].max() + 1) * 3 + 5
        other[:, i] = np.where(other[:, i] < 0, -1, names[other[:, i]])
    return other, order


def label_values():
    """Draw columns of labels of every supported type, without missing ones."""
    return st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8),
        st.lists(st.integers(2**53 - 2, 2**53 + 2), min_size=1, max_size=8),
        st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
        st.lists(st.text(max_size=3), min_size=1, max_size=8),
        st.lists(st.booleans(), min_size=1, max_size=8),
        st.lists(st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=2), min_size=1),
    )
