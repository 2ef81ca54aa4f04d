"""Certainty of base clusters, corrected for chance, from its definition."""

from __future__ import annotations

import numpy as np


def certainty_slowly(partitions: np.ndarray, theta: float) -> np.ndarray:
    """Return the certainty from its definition, cluster by cluster; -1 is a missing label."""
    clusters = [(i, k) for i, c in enumerate(partitions.T) for k in np.unique(c[c >= 0])]
    rows = []
    for i, k in clusters:
        entropy = expected = 0.0
        for j, column in enumerate(partitions.T):
            if j == i:
                continue
            labels = column[(partitions[:, i] == k) & (column >= 0)]
            if not len(labels):
                continue
            share = np.unique(labels, return_counts=True)[1] / len(labels)
            entropy -= share @ np.log2(share)
            s, counts = len(labels), np.unique(column[column >= 0], return_counts=True)[1]
            N = counts.sum()
            expected += np.log2(s)
            for n in counts:
                mean = (s - 1) * (n - 1) / (N - 1)
                variance = mean * (N - n) / (N - 1) * (N - s) / (N - 2)
                logarithm = np.log(1 + mean) - variance / (2 * (1 + mean) ** 2)
                expected -= n / N * logarithm / np.log(2)
        rows.append((entropy, expected, np.count_nonzero(partitions[:, i] == k)))
    H, H0, size = np.array(rows).T
    ratio = np.divide(H, H0, out=np.ones(len(H)), where=H0 > 1e-12)
    chance = H0 @ size / size.sum()
    corrected = [h + looks_random(r) * (r * chance - h) for h, r in zip(H, ratio, strict=True)]
    exponent = np.asarray(corrected) / (theta * partitions.shape[1])
    return np.exp(exponent.min() - exponent)


def looks_random(ratio: float) -> float:
    """Return 0 up to 0.5, 1 from 0.8 on, and a cubic with slope 0 at both ends in between."""
    if not 0.5 < ratio < 0.8:
        return float(ratio >= 0.8)
    t = (ratio - 0.5) / 0.3
    return 3 * t**2 - 2 * t**3
