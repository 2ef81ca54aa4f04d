"""Voting on all samples, with dense matrices and one square assignment problem per partition."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def one_hot_of(column):
    """A row per sample, zero where the label is missing."""
    return (column[:, None] == np.unique(column[column >= 0])).astype(float)


def best_map(overlap):
    """The map of clusters (rows) to names (columns) with the largest sum of overlaps.

    All names are used, or no name is used twice. Rows beyond the names get a column of their own
    that pays their largest overlap.
    """
    n, k = overlap.shape
    free = np.repeat(overlap.max(axis=1, keepdims=True), max(n - k, 0), axis=1)
    rows, columns = linear_sum_assignment(np.hstack([overlap, free]), maximize=True)
    choice = np.where(columns < k, columns, overlap.argmax(axis=1))
    return choice[np.argsort(rows)]


def shares_of(column, n_clusters):
    """The largest clusters of a partition as the first consensus clusters."""
    block = one_hot_of(column)
    largest = np.argsort(-block.sum(axis=0), kind="stable")[:n_clusters]
    shares = np.zeros((len(column), n_clusters))
    shares[:, : len(largest)] = block[:, largest]
    return shares


def vote_slowly(labels, shares, max_iter=100):
    """Return shares of votes and the mean dissimilarity after every iteration."""
    n_clusters = shares.shape[1]
    blocks = [one_hot_of(column) for column in labels.T]
    history = []
    for _ in range(max_iter):
        votes = [B @ np.eye(n_clusters)[best_map(B.T @ shares)] for B in blocks]
        observed = np.array([B.sum(axis=1) for B in blocks])
        shares = sum(votes) / observed.sum(axis=0)[:, None]
        total = sum(
            (np.square(V - shares).sum(axis=1) * seen).sum()
            for V, seen in zip(votes, observed, strict=True)
        )
        history.append(total / observed.sum())
        if len(history) > 1 and history[-1] > history[-2] - 1e-12:
            break
    return shares, history
