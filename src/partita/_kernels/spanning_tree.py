"""Minimum spanning tree of the disagreement graph; its rows are computed when needed."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import count_equal


@kernel
def prim(columns, missing_code, left, right, height):
    """Fill `left`, `right`, `height`: edge t joins rows left[t] and right[t] at height[t].

    Prim's algorithm without a matrix. The distance of two rows is the number of partitions that do
    not join them. `columns` is (m, n). Of equally near rows the first is added to the tree, at the
    vertex of the tree that was added first. O(n² m) byte comparisons, O(n m) memory.
    """
    m, n = columns.shape
    agreement = np.full(n, -1)  # with the nearest vertex of the tree; -1 in the tree
    parent = np.zeros(n, np.int64)
    outside = np.ones(n, bool)
    newest = 0
    for t in range(n - 1):
        outside[newest] = False
        agreement[newest] = -1
        count = count_equal(columns, missing_code, newest, newest + 1, 0)[0]
        nearer = (count > agreement) & outside
        agreement[nearer] = count[nearer]
        parent[nearer] = newest
        newest = int(agreement.argmax())
        left[t], right[t] = parent[newest], newest
        height[t] = m - agreement[newest]
