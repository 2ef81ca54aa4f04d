"""Nearest-neighbor chains against the textbook: merge the closest pair, n - 1 times."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel
LINKAGES = {"average": 0, "single": 1, "complete": 2}


def heights_slowly(distances, weights, linkage):
    """Heights of a weighted agglomeration that looks at every pair of clusters every time."""
    clusters = [[x] for x in range(len(distances))]
    heights = []
    while len(clusters) > 1:
        best = (np.inf, 0, 0)
        for a in range(len(clusters)):
            for b in range(a):
                block = distances[np.ix_(clusters[a], clusters[b])]
                w = np.outer(weights[clusters[a]], weights[clusters[b]])
                value = {
                    "average": (w * block).sum() / w.sum(),
                    "single": block.min(),
                    "complete": block.max(),
                }[linkage]
                best = min(best, (value, a, b))
        height, a, b = best
        heights.append(height)
        clusters[b] += clusters.pop(a)
    return np.array(heights)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_heights(linkage, seed):
    rng = np.random.default_rng(seed)
    n = 25
    distances = rng.random((n, n))
    distances = (distances + distances.T) / 2
    weights = rng.integers(1, 6, n).astype(float)
    matrix = distances.copy()
    if linkage == "average":
        matrix *= np.outer(weights, weights)
    left, right, height = np.empty(n - 1, int), np.empty(n - 1, int), np.empty(n - 1)
    _kernels.agglomeration.chain(LINKAGES[linkage], matrix, weights.copy(), left, right, height)
    np.testing.assert_allclose(
        np.sort(height), heights_slowly(distances, weights, linkage), rtol=1e-12
    )
    assert np.all(left < right)


def test_spanning_tree_heights_equal_single_linkage():
    rng = np.random.default_rng(5)
    labels = np.unique(rng.integers(0, 3, (40, 300)).astype(np.uint16), axis=0)
    n = len(labels)
    left, right, height = np.empty(n - 1, int), np.empty(n - 1, int), np.empty(n - 1)
    columns = np.ascontiguousarray(labels.T)
    _kernels.spanning_tree.prim(columns, 65535, left, right, height)
    distances = (labels[:, None] != labels).sum(axis=2).astype(float)
    np.testing.assert_array_equal(np.sort(height), heights_slowly(distances, np.ones(n), "single"))
    np.testing.assert_array_equal(distances[left, right], height)
