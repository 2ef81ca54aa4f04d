"""PTA, PTGP, DREC and ECPCS compared with dense NumPy and SciPy; CSPA with many partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.linalg import eigh, svd
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks.speed._measure import Record, in_turn
from partita import CSPA, DREC, ECPCS, PTA, PTGP
from partita.datasets import make_mixed_partitions

_N, _M, _K, _STEPS = 1500, 20, 10, 20
_OPTIONS: dict[str, Any] = {"n_pieces": 12, "noise": 0.2, "k_min": 10, "k_max": 40}


def run() -> list[Record]:
    """Measure each method at 1500 distinct rows, where dense programs take seconds."""
    labels, _ = make_mixed_partitions(_N, _M, _K, random_state=0, **_OPTIONS)
    records = [
        _compare(
            "PTA", labels, lambda x: PTA(_K, n_neighbors=20, n_steps=_STEPS).fit(x), plain_pta
        ),
        _compare(
            "PTGP",
            labels,
            lambda x: PTGP(_K, n_neighbors=20, n_steps=_STEPS, random_state=0).fit(x),
            plain_ptgp,
        ),
        _compare("DREC", labels, lambda x: DREC(_K, random_state=0).fit(x), plain_drec),
        _compare("ECPCS", labels, lambda x: ECPCS(_K).fit(x), plain_ecpcs),
    ]
    wide, _ = make_mixed_partitions(1000, 200, _K, random_state=0, **_OPTIONS)
    ours, spectral = in_turn(
        lambda: CSPA(_K, random_state=0).fit(wide), lambda: cut_coassociation(wide)
    )
    records.append(
        Record(
            "CSPA, n = 1000, m = 200",
            ours,
            "co-association by one BLAS product + scikit-learn spectral clustering",
            spectral,
            0.5,
            note="25 refined balanced cuts beside one clustering without balance",
        )
    )
    return records


def _compare(
    name: str,
    labels: NDArray[np.int64],
    fit: Callable[[NDArray[np.int64]], Any],
    plain: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> Record:
    (ours,) = in_turn(lambda: fit(labels), repeats=2)
    start = time.perf_counter()
    expected = plain(labels)
    seconds = time.perf_counter() - start
    agreement = adjusted_rand_score(expected, fit(labels).labels_)
    return Record(
        f"{name}, {_N} distinct rows, m = {_M}",
        ours,
        "dense NumPy and SciPy",
        seconds,
        5,
        note=f"adjusted Rand index of both: {agreement:.3f}",
    )


def joined(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    n, m = labels.shape
    total = np.zeros((n, n))
    for column in labels.T:
        total += column[:, None] == column
    return total / m


def cut_coassociation(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the clusters that a user gets from the same matrix without balance."""
    B = incidence(labels).astype(np.float32)
    model = SpectralClustering(_K, affinity="precomputed", random_state=0)
    return np.asarray(model.fit_predict(B @ B.T / labels.shape[1]), np.int64)


def incidence(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.hstack([(column[:, None] == np.unique(column)) * 1.0 for column in labels.T])


def walk_cosines(S: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines of stacked rows of P, P², ..., with the powers computed one by one."""
    P = S / S.sum(axis=1, keepdims=True)
    power, inner = np.eye(len(P)), np.zeros_like(P)
    for _ in range(_STEPS):
        power = power @ P
        inner += power @ power.T
    length = np.sqrt(np.diag(inner))
    return inner / np.outer(length, length)


def trajectories(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    S = joined(labels)
    np.fill_diagonal(S, 0.0)
    S[np.sort(S, axis=1)[:, [-20]] > S] = 0.0
    return walk_cosines(np.maximum(S, S.T))


def average_linkage(similarity: NDArray[np.float64]) -> NDArray[np.int64]:
    tree = linkage(squareform(1.0 - similarity, checks=False), "average")
    return cut_tree(tree, _K).ravel()


def plain_pta(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return average_linkage(trajectories(labels))


def plain_ptgp(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    B = incidence(labels)
    graph = trajectories(labels) @ B / B.sum(axis=0)
    d_x, d_y = graph.sum(axis=1), graph.sum(axis=0)
    U, sigma, _ = svd(graph / np.sqrt(np.outer(d_x, d_y)), full_matrices=False)
    return kmeans(U[:, :_K] * sigma[:_K], 10)


def plain_drec(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    X = incidence(labels).T
    g, Q = eigh(X.T @ X)
    g = np.maximum(g, 0.0)
    e = np.ones(len(g))
    for _ in range(5):
        Z = Q @ (g[:, None] / (g[:, None] + 10.0 * e) * Q.T)
        e = 2 * np.linalg.norm(X - X @ Z, axis=0)
    U, sigma, _ = svd(Z)
    kept = sigma > 1e-4 * sigma[0]
    rows = U[:, kept] * np.sqrt(sigma[kept])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    A = (rows @ rows.T) ** 4
    degree = A.sum(axis=1)
    _, vectors = eigh(A / np.sqrt(np.outer(degree, degree)))
    return kmeans(vectors[:, -_K:], 100)


def plain_ecpcs(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    B = incidence(labels)
    overlap, size = B.T @ B, B.sum(axis=0)
    J = overlap / (size[:, None] + size - overlap)
    np.fill_diagonal(J, 0.0)
    Z = walk_cosines(J)
    np.fill_diagonal(Z, 1.0)
    total, start = np.zeros((len(B), len(B))), 0
    for column in labels.T:
        codes = np.unique(column, return_inverse=True)[1]
        stop = start + codes.max() + 1
        total += Z[start:stop, start:stop][np.ix_(codes, codes)]
        start = stop
    return average_linkage(total / labels.shape[1])


def kmeans(vectors: NDArray[np.float64], n_init: int) -> NDArray[np.int64]:
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    model = KMeans(_K, n_init=n_init, random_state=0).fit(vectors)
    return np.asarray(model.labels_, np.int64)
