"""EC-CMS compared with Algorithm 1 in plain NumPy on all samples, and with repeated samples.

The reference gets the affinity and the co-association matrix and is timed on the iteration alone;
ours is the whole fit. Both must stop at the same iteration with the same matrix, or the benchmark
fails. The second part repeats the samples: the distinct rows stay the same, so that the time hardly
grows.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks.speed._measure import Record, in_turn
from partita import ECCMS, coassociation, locally_weighted_coassociation

ALPHA, LAM, TOL, CAP = 0.8, 0.4, 1e-2, 100


def run() -> list[Record]:
    """Digits, 1797 samples, 20 k-means with K = 10; then twice and four times as many samples."""
    X = load_digits().data
    labels = np.column_stack(
        [KMeans(10, n_init=1, random_state=seed).fit_predict(X) for seed in range(20)]
    )
    agreement, affinity = coassociation(labels), locally_weighted_coassociation(labels)
    start = time.perf_counter()
    C, n_iter = _unreduced(agreement, affinity)
    reference_seconds = time.perf_counter() - start
    method = ECCMS(10).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), C, rtol=0, atol=1e-8)
    assert method.n_iter_ == n_iter

    repeated = {times: np.tile(labels, (times, 1)) for times in (2, 4)}
    ours, *longer = in_turn(
        *(partial(ECCMS(10).fit, table) for table in (labels, *repeated.values())), repeats=5
    )
    records = [
        Record(
            name=f"EC-CMS, n = {len(labels)}, m = 20",
            seconds=ours,
            reference="NumPy, no reduction",
            reference_seconds=reference_seconds,
            target=20,
            note=f"{len(method.core_matrix_)} distinct rows, {n_iter} iterations in both",
        )
    ]
    for (times, table), its_seconds in zip(repeated.items(), longer, strict=True):
        more = ECCMS(10).fit(table)
        records.append(
            Record(
                name=f"EC-CMS, an iteration, n x {times} at the same distinct rows",
                seconds=its_seconds / more.n_iter_,
                reference=f"n = {len(labels)}",
                reference_seconds=ours / n_iter,
                target=0.7,
                note=f"{len(more.core_matrix_)} distinct rows, {more.n_iter_} iterations",
            )
        )
    return records


def _unreduced(
    agreement: NDArray[np.float64], A: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Algorithm 1 on all samples, and the number of iterations."""
    n = len(A)
    H = np.where(agreement < ALPHA, 0.0, agreement)
    np.fill_diagonal(H, 0.0)
    trusted = H > 0
    M = np.linalg.inv(2 * (np.diag(H.sum(axis=1)) - H) + 2 * np.eye(n))
    C = E = F = Y2 = np.zeros((n, n))
    Y1 = A
    for k in range(1, CAP + 1):
        C_new = M @ (A - E + Y1 + F - Y2)
        E_new = (A - C_new + Y1) / (LAM + 1)
        E_new[trusted] = 0.0
        P = C_new + Y2
        F_new = np.clip((P + P.T) / 2, 0.0, 1.0)
        rest, gap = A - C_new - E_new, C_new - F_new
        steps = ((C_new - C, C), (E_new - E, E), (F_new - F, F), (rest, Y1), (gap, Y2))
        done = all(np.linalg.norm(step) < TOL * np.linalg.norm(old) for step, old in steps)
        C, E, F = C_new, E_new, F_new
        Y1, Y2 = Y1 + rest, Y2 + gap
        if done:
            return C, k
    return C, CAP
