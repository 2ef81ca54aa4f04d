"""LWGP and CCGP compared with SciPy's sparse products and svds and scikit-learn's k-means."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans

from benchmarks.speed._measure import Record, in_turn, peak_mb
from partita import CCGP, LWGP
from partita.datasets import make_mixed_partitions

K = 10


def incidence(labels: np.ndarray) -> tuple[sp.csr_matrix, np.ndarray]:
    n, m = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = (labels + offsets[:-1]).ravel()
    B = sp.csr_matrix((np.ones(n * m), columns, np.arange(0, n * m + 1, m)), (n, offsets[-1]))
    return B, offsets


def certainty(B: sp.csr_matrix, offsets: np.ndarray, theta: float = 0.4) -> np.ndarray:
    """Return the certainty of the clusters from the product of the incidence with itself."""
    overlaps = (B.T @ B).tocoo()
    size = np.maximum(overlaps.diagonal(), 1.0)
    is_other = np.searchsorted(offsets, overlaps.row, "right") != np.searchsorted(
        offsets, overlaps.col, "right"
    )
    share = overlaps.data[is_other] / size[overlaps.row[is_other]]
    entropy = np.bincount(overlaps.row[is_other], -share * np.log2(share), len(size))
    return np.exp(-entropy / (theta * (len(offsets) - 1)))


def cut(labels: np.ndarray, *, weighted: bool) -> np.ndarray:
    """Return labels by the method in SciPy, or by that without the certainty of clusters."""
    B, offsets = incidence(labels)
    if weighted:
        B = B @ sp.diags(certainty(B, offsets))
    left = 1.0 / np.sqrt(np.asarray(B.sum(axis=1)).ravel())
    right = 1.0 / np.sqrt(np.maximum(np.asarray(B.sum(axis=0)).ravel(), 1e-300))
    U, _, _ = svds(sp.diags(left) @ B @ sp.diags(right), k=K, random_state=0)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return KMeans(K, n_init=3, max_iter=100, random_state=0).fit_predict(U)


REFERENCES = (
    ("certainty by SciPy's products + svds + scikit-learn k-means", True, 2.0),
    ("SciPy svds + scikit-learn k-means, without the certainty", False, 1.0),
)


def run() -> list[Record]:
    records = []
    for (n, m), method in product(((50_000, 20), (20_000, 100)), (LWGP, CCGP)):
        labels, _ = make_mixed_partitions(n, m, K, n_pieces=12, noise=0.2, k_min=K, k_max=100)
        fit = partial(lambda c, x: c(K, n_init=3, random_state=0).fit(x), method)
        calls = [partial(fit, labels)]
        calls += [partial(cut, labels, weighted=weighted) for _, weighted, _ in REFERENCES]
        our_seconds, *others = in_turn(*calls, repeats=6)
        memory = peak_mb(calls[0], partial(fit, labels[:500]))
        for (reference, weighted, target), seconds in zip(REFERENCES, others, strict=True):
            kind = "" if weighted else " (cut alone)"
            name = f"{method.__name__}, n = {n}, m = {m}, K = {K}, 3 restarts each{kind}"
            records.append(Record(name, our_seconds, reference, seconds, target, memory))
    return records
