"""Counting samples in clusters and in pairs of clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit


@jit
def cluster_sizes(labels, missing, offsets, weights, out):
    """out[c] += weight of the rows in cluster c, clusters of all partitions numbered through."""
    n, m = labels.shape
    for x in range(n):
        for i in range(m):
            if labels[x, i] != missing:
                out[offsets[i] + np.int64(labels[x, i])] += weights[x]


@jit
def overlaps(labels, missing, offsets, weights, first, last, out):
    """Fill rows of clusters of partitions first..last of the L x L table of common weight.

    out[c, d] = weight of the rows in both c and d. A partition's rows of the table are touched by
    one caller only, so that partitions can run side by side.
    """
    n, m = labels.shape
    for x in range(n):
        w = weights[x]
        for i in range(first, last):
            if labels[x, i] == missing:
                continue
            row = out[offsets[i] + np.int64(labels[x, i])]
            for j in range(m):
                if labels[x, j] != missing:
                    row[offsets[j] + np.int64(labels[x, j])] += w


@jit
def against(labels, missing, offsets, weights, groups, out):
    """out[c, k] += weight of the rows in cluster c and group k: one partition against all."""
    n, m = labels.shape
    for x in range(n):
        k = groups[x]
        w = weights[x]
        for i in range(m):
            if labels[x, i] != missing:
                out[offsets[i] + np.int64(labels[x, i]), k] += w
