"""The spanning tree of disagreements, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from partita import _kernels

pytestmark = pytest.mark.kernel


def room(n):
    """Arrays for the edges of a tree of n rows."""
    return np.zeros(n - 1, np.int64), np.zeros(n - 1, np.int64), np.zeros(n - 1)


@pytest.mark.parametrize(
    ("n", "m", "k", "missing"), [(40, 300, 3, 0.0), (60, 4, 2, 0.3), (2, 1, 1, 0.0), (1, 3, 2, 0.0)]
)
def test_edges_are_those_of_single_linkage(n, m, k, missing):
    # few partitions: many ties; more than 255: counts leave a byte
    rng = np.random.default_rng(n)
    dtype = np.uint16 if m > 255 else np.uint8
    missing_code = dtype(np.iinfo(dtype).max)
    labels = rng.integers(0, k, (n, m)).astype(dtype)
    labels[rng.random((n, m)) < missing] = missing_code
    columns = np.ascontiguousarray(labels.T)
    _, (*_, left, right, height) = call_both(
        _kernels.spanning_tree.prim, columns, missing_code, *room(n)
    )
    agreements = ((labels[:, None] == labels) & (labels != missing_code)).sum(axis=2)
    distances = m - agreements
    np.testing.assert_array_equal(distances[left, right], height)
    if n > 1:
        np.fill_diagonal(distances, 0)
        reference = linkage(squareform(distances), "single")
        np.testing.assert_array_equal(np.sort(height), reference[:, 2])
