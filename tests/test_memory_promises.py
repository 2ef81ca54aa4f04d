"""The peak memory of a fit beside the bytes that its method requires from the memory budget.

`tracemalloc` counts the arrays of NumPy, so that the result does not depend on the machine.
`benchmarks/speed/memory.py` measures the memory of the process, for all methods.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from partita import Ensemble
from partita.consensus import Size
from partita.datasets import make_partitions
from partita.generators import SpectralBandwidths
from partita.registry import prepare

N_CLUSTERS = 5


def peak_bytes(call, *arguments):
    tracemalloc.start()
    try:
        call(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def distinct_rows(n_rows):
    partitions, _ = make_partitions(
        n_rows, 20, N_CLUSTERS, noise=0.3, k_min=20, k_max=20, random_state=0
    )
    return Ensemble.from_partitions(partitions).compress()


@pytest.mark.parametrize(
    ("key", "n_rows"),
    [
        ("drec", 600),
        ("eac", 1800),
        ("ecpcs", 1000),
        ("hbgf", 20_000),
        ("lwea", 1800),
        ("lwgp", 30_000),
        ("pta", 600),
        ("ptgp", 600),
        ("weac", 1200),
    ],
)
def test_a_fit_stays_within_the_bytes_it_requires(key, n_rows):
    method = prepare(key, N_CLUSTERS, 0)
    if "n_init" in method.get_params():
        method.set_params(n_init=1)
    method.fit(distinct_rows(100))  # import what the method needs
    rows = distinct_rows(n_rows)
    required = method.bytes_needed(Size.of(rows, N_CLUSTERS))
    assert required > 2e7
    assert peak_bytes(method.fit, rows) < 1.3 * required


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_spectral_bandwidths_stay_within_the_bytes_they_require(n_jobs, monkeypatch):
    statements = []
    monkeypatch.setattr(
        "partita.generators.spectral_bandwidths.require_memory",
        lambda needed, *_: statements.append(needed),
    )
    X = np.random.default_rng(0).normal(size=(900, 4))
    generator = SpectralBandwidths(
        4, multipliers=(0.1, 0.5), n_init=1, n_jobs=n_jobs, random_state=0
    )
    generator.fit(X[:100])
    peak = peak_bytes(generator.fit, X)
    assert statements[-1] == 8 * 900**2 * (1 + 2 * n_jobs)
    assert peak < 1.3 * statements[-1]
