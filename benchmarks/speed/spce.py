"""SPCE compared with plain NumPy on all samples, and with every sample twice."""

from __future__ import annotations

import time
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks.speed._measure import Record, in_turn
from partita import SPCE
from partita.exceptions import PartitaWarning

_K, _M, _THETA = 10, 20, 0.3


def run() -> list[Record]:
    """Measure one ensemble: 20 k-means partitions of the digits, K = 10, 1797 samples."""
    X = load_digits().data
    labels = np.column_stack(
        [KMeans(_K, n_init=1, random_state=i).fit(X).labels_ for i in range(_M)]
    )
    start = time.perf_counter()
    S, n_iter = plain(labels, _K, _THETA)
    plain_seconds = time.perf_counter() - start

    ours = fit(labels)
    np.testing.assert_allclose(ours.consensus_matrix(), S, atol=1e-8)
    if ours.n_iter_ != n_iter:
        raise AssertionError(f"{ours.n_iter_} iterations, {n_iter} in plain NumPy")
    n, n_distinct = len(labels), len(ours.core_matrix_)
    doubled = np.tile(labels, (2, 1))
    once, twice = in_turn(lambda: fit(labels), lambda: fit(doubled), repeats=10)
    return [
        Record(
            f"SPCE, n = {n}, m = {_M}, K = {_K}",
            once,
            "plain NumPy on all samples",
            plain_seconds,
            20,
            note=f"{n_iter} iterations in both, the same S; {n_distinct} distinct rows",
        ),
        Record(
            f"SPCE, n = {2 * n}, the same {n_distinct} distinct rows",
            twice,
            f"n = {n}",
            once,
            0.7,
            note="cost follows the distinct rows",
        ),
    ]


def fit(labels: NDArray[np.int64]) -> SPCE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        return SPCE(_K, theta=_THETA).fit(labels)


def plain(labels: NDArray[np.int64], c: int, theta: float) -> tuple[NDArray[np.float64], int]:
    """Run Algorithm 1 with one matrix per partition; return S and the number of iterations."""
    m = labels.shape[1]
    joined = [labels[:, i, None] == labels[:, i] for i in range(m)]
    votes = sum(j.astype(np.float64) for j in joined)
    S = votes / m
    _, Y = smallest(S, c)
    alpha, rho, gamma, n_iter = np.full(m, 1 / m), 1.0, (m * theta) ** 2, 0
    for tenth in (9, 8, 7, 6, 5):
        r = tenth / 10
        age = 2 * ((r - 1) ** 2 * r + r**2 * (1 - r)) * m**2
        B = sum((S - joined[i]) ** 2 / alpha[i] for i in range(m))
        W = np.where(B > 0, np.minimum(age / (2 * np.where(B > 0, B, 1)), 1), 1)
        for iteration in range(20 if tenth == 5 else 5):
            n_iter += 1
            a = np.sum(1 / alpha)
            squares = np.sum(Y**2, axis=1)
            distance = np.maximum(squares[:, None] + squares - 2 * Y @ Y.T, 0)
            C = (sum(joined[i] / alpha[i] for i in range(m)) - rho * distance / (2 * W**2)) / a
            S = np.where(np.sqrt(gamma / (a * W**2)) > C, 0, np.minimum(C, 1))
            S[votes == m], S[votes == 0] = 1, 0
            S = (S + S.T) / 2
            values, new_Y = smallest(S, c)
            d = np.sqrt([np.sum(((S - j) * W) ** 2) for j in joined])
            alpha = d / d.sum()
            if values[:c].sum() > 1e-9:
                rho *= 2
            elif values.sum() < 1e-11:
                rho /= 2
                continue
            Y = new_Y
            if values[:c].sum() <= 1e-9 and iteration > 0:
                break
    return S, n_iter


def smallest(S: NDArray[np.float64], c: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, vectors = eigh(np.diag(S.sum(axis=1)) - S, subset_by_index=(0, c))
    return values, vectors[:, :c]
