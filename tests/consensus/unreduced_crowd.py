"""Crowd agreement and connected triples, written out on all samples."""

from __future__ import annotations

import numpy as np


def entropy(share):
    share = share[share > 0]
    return -(share * np.log(share)).sum()


def crowd_agreement_slowly(labels):
    """NCAI of every partition, over the samples that both of two partitions label."""
    m = labels.shape[1]
    agreement = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            both = labels[(labels[:, i] >= 0) & (labels[:, j] >= 0)][:, [i, j]]
            shares = [np.unique(both[:, k], return_counts=True)[1] / len(both) for k in (0, 1)]
            joint = np.unique(both, axis=0, return_counts=True)[1] / len(both)
            first, second = entropy(shares[0]), entropy(shares[1])
            if i != j and max(first, second) > 0:
                agreement[i, j] = (first + second - entropy(joint)) / max(first, second)
    mean = agreement.sum(axis=1) / (m - 1)
    return mean / mean.max()


def incidence_slowly(labels):
    """B and the partition of every column."""
    blocks = [column[:, None] == np.unique(column[column >= 0]) for column in labels.T]
    partition = np.repeat(np.arange(len(blocks)), [b.shape[1] for b in blocks])
    return np.hstack(blocks).astype(float), partition


def connected_triples_slowly(labels, partition_weights):
    B, partition = incidence_slowly(labels)
    overlap, size = B.T @ B, B.sum(axis=0)
    J = overlap / (size[:, None] + size - overlap)
    triples = (partition_weights[partition] * np.minimum(J[:, None], J)).sum(axis=2)
    triples /= triples.max()
    np.fill_diagonal(triples, 1.0)
    return triples


def repeated(labels):
    """Samples once, twice or three times, so that reduction matters."""
    return np.repeat(labels, 1 + np.arange(len(labels)) % 3, axis=0)
