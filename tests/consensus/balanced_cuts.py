"""What the tests of CSPA, HGPA, MCLA and GCC share: the paper's toy, cuts counted sample by sample,
and planted blobs of unequal size."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

# Seven objects, four clusterings, three labels missing; {1,2,3}, {4,5}, {6,7} is expected.
TOY = np.array(
    [
        [1, 1, 1, 2, 2, 3, 3],
        [2, 2, 2, 3, 3, 1, 1],
        [1, 1, 2, 2, 3, 3, 3],
        [1, 2, -1, 1, 2, -1, -1],
    ]
).T
TOY_ANSWER = np.array([0, 0, 0, 1, 1, 2, 2])


def one_hot(labels):
    """B, one column per cluster, nothing where a label is missing."""
    columns = [labels[:, [i]] == np.unique(c[c >= 0]) for i, c in enumerate(labels.T)]
    return np.hstack(columns).astype(float)


def coassociation_cut(labels, found):
    """Co-association between different parts, over unordered pairs of samples."""
    B = one_hot(labels)
    apart = found[:, None] != found
    return (B @ B.T)[apart].sum() / 2 / labels.shape[1]


def hyperedges_cut(labels, found):
    return sum(len(np.unique(found[members == 1])) > 1 for members in one_hot(labels).T)


def jaccard(labels):
    shared = one_hot(labels).T @ one_hot(labels)
    size = shared.diagonal()
    return shared / (size[:, None] + size - shared)


def blobs(sizes, seed=0):
    """Truth and 20 k-means partitions of four Gaussian blobs."""
    X, truth = make_blobs(sizes, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=seed)
    rng = np.random.default_rng(seed)
    labels = [
        KMeans(int(rng.integers(2, 13)), n_init=1, random_state=int(rng.integers(2**31))).fit(X)
        for _ in range(20)
    ]
    return truth, np.column_stack([model.labels_ for model in labels])


UNEQUAL, EQUAL = [400, 200, 100, 50], [188, 188, 188, 188]
