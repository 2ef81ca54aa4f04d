"""Co-association compared with a NumPy loop and with a float32 product of one-hots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import partita
from benchmarks.speed._measure import Record, in_turn, peak_mb, seconds
from partita import Ensemble
from partita.matrices import agreement_counts, cluster_certainty

N, M, K = 10_000, 100, 50
PUBLIC_N = 8000


def numpy_loop(labels: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(labels), len(labels)), np.uint8)
    for column in labels.T:
        counts += column[:, None] == column
    return counts


def numpy_coassociation(labels: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(labels), len(labels)))
    for column in labels.T:
        counts += column[:, None] == column
    return counts / labels.shape[1]


def numpy_locally_weighted(labels: np.ndarray, certainty: np.ndarray) -> np.ndarray:
    """Weights of clusters are passed: only the sums are measured."""
    sums = np.zeros((len(labels), len(labels)))
    for i, column in enumerate(labels.T):
        sums += certainty[i * K + column][:, None] * (column[:, None] == column)
    sums /= labels.shape[1]
    np.fill_diagonal(sums, 1.0)
    return sums


def gemm(labels: np.ndarray) -> np.ndarray:
    onehot = np.zeros((len(labels), M * K), np.float32)
    onehot[np.arange(len(labels))[:, None], labels + K * np.arange(M)] = 1
    return onehot @ onehot.T


def run() -> list[Record]:
    return [*_counts(), *_public_calls()]


def _counts() -> list[Record]:
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


def _public_calls() -> list[Record]:
    """Measure from the table of labels to the matrix of all samples."""
    labels = np.random.default_rng(0).integers(0, K, (PUBLIC_N, M))
    certainty = cluster_certainty(labels)
    calls: list[tuple[str, Callable[..., Any], Callable[[], Any]]] = [
        ("coassociation", partita.coassociation, lambda: numpy_coassociation(labels)),
        (
            "locally_weighted_coassociation",
            partita.locally_weighted_coassociation,
            lambda: numpy_locally_weighted(labels, certainty),
        ),
    ]
    records = []
    for name, call, loop in calls:
        np.testing.assert_allclose(call(labels), loop(), rtol=1e-12)
        whole, half, reference = in_turn(
            lambda call=call: call(labels),
            lambda call=call: call(labels, dtype="float32"),
            loop,
            repeats=2,
        )
        for dtype, ours in (("float64", whole), ("float32", half)):
            records.append(
                Record(
                    f"{name}, n = {PUBLIC_N}, m = {M}, K_i = {K}, {dtype}",
                    ours,
                    "NumPy loop over partitions, float64",
                    reference,
                    40,
                    peak_mb(lambda call=call, dtype=dtype: call(labels, dtype=dtype)),
                )
            )
    return records
