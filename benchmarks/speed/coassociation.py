"""Co-association counts compared with a NumPy loop and with a float32 product of one-hots."""

from __future__ import annotations

import numpy as np

from benchmarks.speed._measure import Record, peak_mb, seconds
from partita import Ensemble
from partita.matrices import agreement_counts

N, M, K = 10_000, 100, 50


def numpy_loop(labels: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(labels), len(labels)), np.uint8)
    for column in labels.T:
        counts += column[:, None] == column
    return counts


def gemm(labels: np.ndarray) -> np.ndarray:
    onehot = np.zeros((len(labels), M * K), np.float32)
    onehot[np.arange(len(labels))[:, None], labels + K * np.arange(M)] = 1
    return onehot @ onehot.T


def run() -> list[Record]:
    labels = np.random.default_rng(0).integers(0, K, (N, M)).astype(np.uint8)
    ensemble = Ensemble.from_partitions(labels)
    ours = seconds(lambda: agreement_counts(ensemble, np.uint8), 5)
    peak = peak_mb(lambda: agreement_counts(ensemble, np.uint8))
    what = f"co-association counts, n = {N}, m = {M}, K_i = {K}"
    np.testing.assert_array_equal(
        agreement_counts(ensemble, np.uint8)[:200, :200], gemm(labels)[:200, :200]
    )
    return [
        Record(
            f"{what} (loop)",
            ours,
            "NumPy loop over partitions",
            seconds(lambda: numpy_loop(labels), 1),
            80,
            peak,
        ),
        Record(
            f"{what} (GEMM)",
            ours,
            "float32 GEMM of one-hots",
            seconds(lambda: gemm(labels), 2),
            15,
            peak,
        ),
    ]
