"""SEC beside scikit-learn's KMeans on the sparse weighted matrix: same starts, same iterations."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from benchmarks.speed._measure import Record, peak_mb, seconds
from partita import SEC


def planted(n: int, m: int, k: int, k_i: int, seed: int = 0) -> np.ndarray:
    """Planted clusters, each split among a few of the K_i clusters, seen through 40 % noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.empty((n, m), np.int64)
    for i in range(m):
        names = rng.integers(0, k_i, (k, 3))
        labels[:, i] = names[truth, rng.integers(0, 3, n)]
    noise = rng.random((n, m)) < 0.4
    labels[noise] = rng.integers(0, k_i, int(noise.sum()))
    return labels


def sparse_rows(labels: np.ndarray) -> tuple[sp.csr_matrix, np.ndarray]:
    n, m = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = (labels + offsets[:-1]).ravel()
    B = sp.csr_matrix((np.ones(n * m), columns, np.arange(0, n * m + 1, m)), (n, offsets[-1]))
    w = np.asarray(B @ (B.T @ np.ones(n))).ravel()
    return sp.csr_matrix(sp.diags(1 / w) @ B), w


def run() -> list[Record]:
    records = []
    for n, k, k_i, target, repeats in ((20_000, 10, 50, 6, 5), (50_000, 100, 100, 20, 2)):
        labels = planted(n, 100, k, k_i)
        # one seed per planted cluster would be too easy: take the first k rows
        seeds = np.arange(k)
        iterations = SEC(k, init=seeds).fit(labels).n_iter_
        ours = lambda: SEC(k, init=seeds, max_iter=iterations).fit(labels)  # noqa: B023, E731

        def reference() -> KMeans:
            X, w = sparse_rows(labels)  # noqa: B023
            model = KMeans(k, init=X[seeds].toarray(), n_init=1, max_iter=iterations, tol=0)  # noqa: B023
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return model.fit(X, sample_weight=w)

        theirs = reference()
        np.testing.assert_allclose(ours().objective_, theirs.inertia_, rtol=1e-6)
        records.append(
            Record(
                f"SEC whole fit, n = {n}, m = 100, K_i = {k_i}, K = {k}, {iterations} iterations",
                seconds(ours, 5 * repeats),  # about as long as the reference is given
                "scikit-learn KMeans on the sparse matrix",
                seconds(reference, repeats),
                target,
                peak_mb(ours, lambda: SEC(3).fit(labels[:500])),  # noqa: B023
                note=f"scikit-learn ran {theirs.n_iter_} iterations",
            )
        )
    return records
