"""Losses of partitions from their definitions, and all partitions of a set."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def set_partitions(n, max_clusters=None):
    """All partitions of n samples, as labels in order of first appearance."""

    def extend(labels):
        if len(labels) == n:
            yield np.array(labels)
            return
        for k in range(min(max(labels) + 2, max_clusters or n)):
            yield from extend([*labels, k])

    yield from extend([0])


def conditional_entropy(first, second):
    """H(first | second) in bits, sample by sample."""
    bits = 0.0
    for x in range(len(first)):
        same = second == second[x]
        bits -= np.log2((same & (first == first[x])).sum() / same.sum())
    return bits / len(first)


def loss_slowly(y, labels, loss, a=1.0):
    if loss == "vi":
        return a * conditional_entropy(labels, y) + (2 - a) * conditional_entropy(y, labels)
    p, q = np.array(list(combinations(range(len(y)), 2))).reshape(-1, 2).T
    by_y, by_labels = y[p] == y[q], labels[p] == labels[q]
    only_y, only_labels = (by_y & ~by_labels).sum(), (by_labels & ~by_y).sum()
    if loss == "binder":
        return 2 * (a * only_y + (2 - a) * only_labels) / len(y) ** 2
    if only_y == only_labels == 0:
        return 0.0
    both, neither = (by_y & by_labels).sum(), (~by_y & ~by_labels).sum()
    first, second = both + only_y, both + only_labels
    index = 2 * (both * neither - only_y * only_labels)
    return 1 - index / (first * (only_y + neither) + second * (only_labels + neither))


def expected_slowly(partitions, labels, loss, a=1.0):
    """Mean over partitions, by the number of samples they label."""
    total = 0.0
    for column in partitions.T:
        kept = column >= 0
        total += kept.sum() * loss_slowly(column[kept], labels[kept], loss, a)
    return total / (partitions >= 0).sum()
