"""RCE compared with plain NumPy on all samples, with one error matrix per partition."""

from __future__ import annotations

import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks.speed._measure import Record, in_turn, peak_mb
from partita import RCE

PASSES = 2  # of 20 updates each, for both; the published program runs 20
MU = 1e-3
EPS = np.finfo(float).eps


def digits_partitions() -> np.ndarray:
    X = load_digits().data
    models = (KMeans(10, n_init=1, random_state=seed) for seed in range(20))
    return np.stack([model.fit_predict(X) for model in models], axis=1)


def plain(labels: np.ndarray) -> np.ndarray:
    """Run the steps of the published program for lambda1 = lambda2 = 1, in O(m n²) memory."""
    stack = [column[:, None] == column for column in labels.T]
    m = len(stack)
    A = np.mean(stack, axis=0)
    free = (A > 0) & (A < 1)
    D = np.zeros_like(A)
    for _ in range(PASSES):
        s = A + A.T
        x1, x2 = (-2 + np.sqrt(np.maximum(4 - 2 * s, 0))) / 2, (2 - np.sqrt(2 * s)) / 2
        errors = [np.where(joined, np.maximum(x2, 0), np.minimum(x1, 0)) for joined in stack]
        C = np.zeros_like(A)
        for joined, error in zip(stack, errors, strict=True):
            Y = joined - error
            C += np.log(np.maximum(1 - Y, EPS)) - np.log(np.maximum(Y, EPS))
        plus, minus = np.maximum(D, 0), np.maximum(-D, 0)
        for _ in range(20):
            low, high = np.maximum(A, EPS), np.maximum(1 - A, EPS)
            G = (2 * m + np.maximum(C, 0) + 2 * (plus @ A)) / low + 2 * m / high
            B = m * (np.log(low) - np.log(high)) - 2 * m / high
            H = (np.maximum(-C, 0) + 2 * (minus @ A)) * A
            A = np.where(free, np.minimum((-B + np.sqrt(B**2 + 4 * G * H)) / (2 * G), 1), A)
        values, vectors = np.linalg.eigh(A @ A.T)
        D = (vectors / np.sqrt(np.maximum(values, 0) + MU)) @ vectors.T
    return (A + A.T) / 2


def run() -> list[Record]:
    labels = digits_partitions()
    twice = np.concatenate([labels, labels])
    method = RCE(10, max_iter=PASSES, tol=0, random_state=0).fit(labels)
    start = time.perf_counter()
    expected = plain(labels)
    plain_seconds = time.perf_counter() - start
    np.testing.assert_allclose(method.consensus_matrix(), expected, atol=1e-8)

    n, n_distinct = len(labels), len(method.core_matrix_)
    once_seconds, twice_seconds = in_turn(
        lambda: method.fit(labels), lambda: method.fit(twice), repeats=30
    )
    updates = f"{PASSES} x 20 updates"
    return [
        Record(
            f"RCE, n = {n}, n' = {n_distinct}, m = 20, {updates}",
            once_seconds,
            "plain NumPy on all samples",
            plain_seconds,
            20,
            peak_mb(lambda: method.fit(labels), lambda: method.fit(labels[:200])),
        ),
        Record(
            f"RCE, n = {2 * n}, n' = {n_distinct}, m = 20, {updates}",
            twice_seconds,
            f"RCE, n = {n}: time follows n', not n",
            once_seconds,
            0.7,
        ),
    ]
