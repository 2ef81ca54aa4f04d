"""The peak memory of a fit beside the bytes that its method requires from the memory budget.

`tracemalloc` counts the arrays of NumPy, so that the result does not depend on the machine.
`benchmarks/speed/memory.py` measures the memory of the process, for all methods.
"""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

import partita
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


@pytest.mark.filterwarnings("ignore:Voting returned")  # partitions with 20 clusters vote for few
@pytest.mark.parametrize(
    ("key", "n_rows"),
    [
        ("drec", 900),
        ("eac", 1800),
        ("ecmc", 600),
        ("ecpcs", 1500),
        ("gwca", 1500),
        ("hbgf", 20_000),
        ("lce", 1500),
        ("lwea", 1800),
        ("lwgp", 30_000),
        ("mec", 320),
        ("rmsc", 320),
        ("trce", 800),
        ("voting", 30_000),
        ("weac", 1200),
    ],
)
def test_a_fit_stays_within_the_bytes_it_requires(key, n_rows):
    method = prepare(key, N_CLUSTERS, 0)
    if "n_init" in method.get_params():
        method.set_params(n_init=1)
    if key == "ecmc":
        method.set_params(low=0.05, high=0.15, tol=0.01)  # the partitions agree on few pairs
    method.fit(distinct_rows(100))  # import what the method needs
    rows = distinct_rows(n_rows)
    required = method.bytes_needed(Size.of(rows, N_CLUSTERS))
    assert required > 2e7
    assert peak_bytes(method.fit, rows) < 1.3 * required


@pytest.fixture
def required(monkeypatch):
    """Collect the bytes that all steps of a call require."""
    statements = []
    for name, module in list(sys.modules.items()):
        if name.startswith("partita.") and hasattr(module, "require_memory"):
            monkeypatch.setattr(
                module, "require_memory", lambda needed, *_: statements.append(needed)
            )
    return statements


@pytest.mark.parametrize(
    "function",
    [
        partita.coassociation,
        partita.locally_weighted_coassociation,
        partita.matrices.crowd_weighted_coassociation,
        partita.matrices.incomplete_coassociation,
    ],
)
def test_a_matrix_stays_within_the_bytes_it_requires(function, required):
    rows = distinct_rows(1600)
    function(distinct_rows(100))
    peak = peak_bytes(function, rows)
    assert max(required) >= 8 * 1600**2
    assert peak < 1.3 * max(required)


@pytest.mark.parametrize("k", [(800, 1200), (1200, 800)])
def test_a_matching_stays_within_the_bytes_it_requires(k, required):
    rng = np.random.default_rng(0)
    first, second = (rng.permutation(4800) % size for size in k)
    partita.metrics.accuracy([0, 1], [0, 1])
    peak = peak_bytes(partita.metrics.accuracy, first, second)
    assert max(required) == 8 * 800 * 1200
    assert peak < 1.3 * max(required)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_spectral_bandwidths_stay_within_the_bytes_they_require(n_jobs, required):
    X = np.random.default_rng(0).normal(size=(900, 4))
    generator = SpectralBandwidths(
        4, multipliers=(0.1, 0.5), n_init=1, n_jobs=n_jobs, random_state=0
    )
    generator.fit(X[:100])
    peak = peak_bytes(generator.fit, X)
    assert max(required) == 8 * 900**2 * (1 + 2 * n_jobs)
    assert peak < 1.3 * max(required)
