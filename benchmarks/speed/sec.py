"""SEC compared with scikit-learn's KMeans on the sparse weighted matrix, from the same seeds."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from benchmarks.speed._measure import Record, in_turn, peak_mb
from partita import SEC
from partita.datasets import make_mixed_partitions


def sparse_rows(labels: np.ndarray) -> tuple[sp.csr_matrix, np.ndarray]:
    n, m = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = (labels + offsets[:-1]).ravel()
    B = sp.csr_matrix((np.ones(n * m), columns, np.arange(0, n * m + 1, m)), (n, offsets[-1]))
    w = np.asarray(B @ (B.T @ np.ones(n))).ravel()
    return sp.csr_matrix(sp.diags(1 / w) @ B), w


def run() -> list[Record]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both stop at max_iter, on purpose
        return [
            beside_kmeans(20_000, k=10, k_i=50, target=6, repeats=20),
            beside_kmeans(50_000, k=100, k_i=100, target=20, repeats=2),
        ]


def beside_kmeans(n: int, *, k: int, k_i: int, target: float, repeats: int) -> Record:
    labels, _ = make_mixed_partitions(n, 100, k, n_pieces=3, noise=0.4, k_min=k_i, k_max=k_i)
    seeds = np.arange(k)  # not one per planted cluster, which would converge at once
    iterations = SEC(k, init=seeds).fit(labels).n_iter_

    def ours() -> SEC:
        return SEC(k, init=seeds, max_iter=iterations).fit(labels)

    def reference() -> KMeans:
        X, w = sparse_rows(labels)
        model = KMeans(k, init=X[seeds].toarray(), n_init=1, max_iter=iterations, tol=0)
        return model.fit(X, sample_weight=w)

    theirs = reference()
    np.testing.assert_allclose(ours().objective_, theirs.inertia_, rtol=1e-6)
    # five fits in a row take about as long as one of the reference
    our_seconds, its_seconds = in_turn(ours, reference, repeats=repeats, times=(5, 1))
    return Record(
        f"SEC whole fit, n = {n}, m = 100, K_i = {k_i}, K = {k}, {iterations} iterations",
        our_seconds,
        "scikit-learn KMeans on the sparse matrix",
        its_seconds,
        target,
        peak_mb(ours, lambda: SEC(3).fit(labels[:500])),
        note=f"scikit-learn ran {theirs.n_iter_} iterations",
    )
