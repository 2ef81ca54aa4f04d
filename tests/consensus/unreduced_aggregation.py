"""Generalized weighted cluster aggregation on all samples, with full matrices."""

from __future__ import annotations

import numpy as np

DIVERGENCES = {
    "euclidean": lambda x, y: (x - y) ** 2,
    "kl": lambda x, y: x * np.log(x / y) - x + y,
    "itakura-saito": lambda x, y: x / y - np.log(x / y) - 1,
    "logistic": lambda x, y: x * np.log(x / y) + (1 - x) * np.log((1 - x) / (1 - y)),
}


def simplex_by_bisection(v):
    """The projection max(v - t, 0), with t by bisection instead of sorting."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    return np.maximum(v - (low + high) / 2, 0)


def aggregate_slowly(labels, divergence, lam=None, delta=1e-3, tol=1e-8):
    """Return w, d, A, lam and the objective after every step."""
    n, m = labels.shape
    joined = np.array([(c[:, None] == c).astype(float) for c in labels.T])
    both = np.array([((c >= 0)[:, None] & (c >= 0)).astype(float) for c in labels.T])
    if divergence != "euclidean":
        joined = delta + (1 - 2 * delta) * joined
    D = DIVERGENCES[divergence]

    def consensus(w):
        weight = np.einsum("i,ipq->pq", w, both)
        return np.einsum("i,ipq->pq", w, joined * both) / np.where(weight > 0, weight, 1)

    def distances(A):
        filled = np.where(A > 0, A, 0.5 if divergence != "euclidean" else 0.0)
        return (D(joined, filled) * both).sum(axis=(1, 2)) / n**2

    w = np.full(m, 1 / m)
    d = distances(consensus(w))
    lam = 10 * (d.max() - d.min()) if lam is None else lam
    history = [w @ d + lam * w @ w]
    while True:
        previous, w = w, simplex_by_bisection(-d / (2 * lam))
        d = distances(consensus(w))
        history.append(w @ d + lam * w @ w)
        if np.abs(w - previous).max() <= tol:
            return w, d, consensus(w), lam, history
