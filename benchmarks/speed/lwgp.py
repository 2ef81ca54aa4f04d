"""LWGP compared with SciPy's svds of the sparse incidence and scikit-learn's k-means."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans

from benchmarks.speed._measure import Record, in_turn, peak_mb
from partita import LWGP
from partita.datasets import make_mixed_partitions

K = 10


def reference(labels: np.ndarray) -> np.ndarray:
    n, m = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = (labels + offsets[:-1]).ravel()
    B = sp.csr_matrix((np.ones(n * m), columns, np.arange(0, n * m + 1, m)), (n, offsets[-1]))
    size = np.maximum(np.asarray(B.sum(axis=0)).ravel(), 1)
    U, _, _ = svds(B @ sp.diags(size**-0.5) / np.sqrt(m), k=K, random_state=0)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return KMeans(K, n_init=3, max_iter=100, random_state=0).fit_predict(U)


def run() -> list[Record]:
    records = []
    for n, m in ((50_000, 20), (20_000, 100)):
        labels, _ = make_mixed_partitions(n, m, K, n_pieces=12, noise=0.2, k_min=K, k_max=100)
        ours = lambda labels=labels: LWGP(K, n_init=3, random_state=0).fit(labels)  # noqa: E731
        our_seconds, its_seconds = in_turn(
            ours, lambda labels=labels: reference(labels), repeats=12
        )
        records.append(
            Record(
                f"LWGP, n = {n}, m = {m}, K = {K}, 3 restarts each",
                our_seconds,
                "SciPy svds + scikit-learn k-means",
                its_seconds,
                2,
                peak_mb(ours, lambda labels=labels: LWGP(K, n_init=1).fit(labels[:500])),
                peak_mb(
                    lambda labels=labels: reference(labels),
                    lambda labels=labels: reference(labels[:500]),
                ),
                note="ours also computes the clusters' certainty; target <= 250 MB",
            )
        )
    return records
