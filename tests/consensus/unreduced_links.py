"""CTS, ASRS and SRS written out on all samples, from the definitions of the papers."""

from __future__ import annotations

import numpy as np
from unreduced_crowd import incidence_slowly


def cluster_links_slowly(labels, similarity, decay):
    """Similarity of base clusters by connected triples or by approximate SimRank."""
    B, partition = incidence_slowly(labels)
    length = B.shape[1]
    edge = np.zeros((length, length))
    for c in range(length):
        for d in range(length):
            if c != d:
                edge[c, d] = (B[:, c] * B[:, d]).sum() / np.maximum(B[:, c], B[:, d]).sum()
    links = np.zeros((length, length))
    for c in range(length):
        for d in range(length):
            if c == d or (similarity == "cts" and partition[c] != partition[d]):
                continue
            if similarity == "cts":
                links[c, d] = np.minimum(edge[c], edge[d]).sum()
            else:
                neighbors = max((edge[c] > 0).sum() * (edge[d] > 0).sum(), 1)
                links[c, d] = edge[c] @ edge[d] / neighbors
    if links.max() > 0:
        links *= decay / links.max()
    return links + np.eye(length)


def simrank_slowly(labels, decay, n_steps):
    """SimRank of samples and of base clusters, both updated at once from the identity."""
    B, _ = incidence_slowly(labels)
    S, C = np.eye(len(B)), np.eye(B.shape[1])
    by_sample = B / np.maximum(B.sum(axis=1, keepdims=True), 1)
    by_cluster = B / B.sum(axis=0)
    for _ in range(n_steps):
        S, C = decay * by_sample @ C @ by_sample.T, decay * by_cluster.T @ S @ by_cluster
        np.fill_diagonal(S, 1.0)
        np.fill_diagonal(C, 1.0)
    return S, C


def link_similarity_slowly(labels, similarity, decay, n_steps):
    """The n x n matrix, pair by pair; the mean is over what both samples have."""
    if similarity == "srs":
        return simrank_slowly(labels, decay, n_steps)[0]
    B, partition = incidence_slowly(labels)
    links = cluster_links_slowly(labels, similarity, decay)
    clusters = [np.flatnonzero(row) for row in B]
    out = np.eye(len(labels))
    for p in range(len(labels)):
        for q in range(p):
            values = [
                links[c, d]
                for c in clusters[p]
                for d in clusters[q]
                if similarity == "asrs" or partition[c] == partition[d]
            ]
            out[p, q] = out[q, p] = np.mean(values) if values else 0.0
    return out


def refined_slowly(labels, links):
    """The refined cluster-association matrix, entry by entry; column means without a label."""
    B, partition = incidence_slowly(labels)
    out = np.zeros(B.shape)
    for p in range(len(B)):
        for c in range(B.shape[1]):
            own = [d for d in np.flatnonzero(B[p]) if partition[d] == partition[c]]
            out[p, c] = links[c, own[0]] if own else np.nan
    return np.where(np.isnan(out), np.nanmean(out, axis=0), out)
