"""SEC with the vector instructions of `_vectors` compared with SEC with its plain loop.

The instructions earn their place where a whole fit is at least 1.3 times as fast.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.speed._measure import Record, in_turn
from partita import SEC, Ensemble, config_context
from partita._kernels import _dispatch
from partita._kernels._compiled import _vectors
from partita.datasets import make_mixed_partitions

TARGET = {10: 1.3, 100: 1.0}  # by number of clusters: with more, memory is the limit


def run() -> list[Record]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits stop at max_iter, on purpose
        return [beside_plain_loop(k, missing_ratio) for k in TARGET for missing_ratio in (0.0, 0.4)]


def beside_plain_loop(k: int, missing_ratio: float) -> Record:
    """Measure fits in one thread; both search with tables of 8 bits and the same bounds."""
    labels, _ = make_mixed_partitions(50_000, 100, k, n_pieces=3, noise=0.4, k_min=100, k_max=100)
    labels[np.random.default_rng(0).random(labels.shape) < missing_ratio] = -1
    ensemble, usual = Ensemble.from_partitions(labels), _vectors.simd

    def fit(simd: bool | None) -> SEC:
        _vectors.simd = simd
        return SEC(k, init=np.arange(k), max_iter=15).fit(ensemble)

    threshold, _dispatch.COMPILED_FROM = _dispatch.COMPILED_FROM, 0.0
    try:
        with config_context(n_threads=1):
            vectors, plain = fit(usual), fit(None)
            np.testing.assert_array_equal(vectors.labels_, plain.labels_)
            np.testing.assert_array_equal(vectors.history_, plain.history_)
            our_seconds, its_seconds = in_turn(lambda: fit(usual), lambda: fit(None), repeats=5)
    finally:
        _vectors.simd, _dispatch.COMPILED_FROM = usual, threshold
    missing = f", {missing_ratio:.0%} missing" if missing_ratio else ""
    return Record(
        f"SEC in vector registers, n = 50000, m = 100, K = {k}{missing}",
        our_seconds,
        "the same fit with a plain loop",
        its_seconds,
        TARGET[k],
        note="one thread",
    )
