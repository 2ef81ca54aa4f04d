"""Sums of table rows in vector registers and in a plain loop, and lists of labels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from partita._kernels._compiled import _lists, _vectors
from partita._kernels._compiled._jit import jit
from partita.datasets import make_partitions

pytestmark = pytest.mark.kernel


@jit
def add_costs(table, rows, first, last, origin, step, factor, simd, sums, costs):
    _vectors.add_costs(table, rows, first, last, origin, step, factor, simd, sums, costs)


@jit
def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    return _lists.list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("width", [16, 32, 48, 64, 80, 96, 112, 128, 192, 320])
def test_add_costs(dtype, width):
    rng = np.random.default_rng(width)
    table = rng.integers(-127, 128, (50, width)).astype(dtype)
    rows = rng.integers(0, 50, 70).astype(np.int32)
    origin, step, begin = rng.normal(size=(3, width)).astype(np.float32)
    sums = np.empty(width, np.int16)
    for first, last in ((0, 64), (3, 4), (10, 31), (5, 5)):
        results = []
        for add, simd in (
            (_vectors.add_costs, None),
            (add_costs, None),
            (add_costs, _vectors.simd),
        ):
            costs = begin.copy()
            add(table, rows, first, last, origin, step, np.float32(0.7), simd, sums, costs)
            results.append(costs)
        np.testing.assert_array_equal(results[1], results[0])
        np.testing.assert_array_equal(results[2], results[0])


def test_arrays_that_are_not_contiguous_are_refused():
    """Their entries would be read at wrong addresses."""
    if _vectors.simd is None:
        pytest.skip("the instructions are disabled")
    table, rows = np.zeros((6, 32), np.int8)[:, ::2], np.zeros(2, np.int32)
    costs, sums = np.zeros(16, np.float32), np.zeros(16, np.int16)
    with pytest.raises(_vectors.TypingError, match="contiguous"):
        add_costs(table, rows, 0, 2, costs, costs, np.float32(1.0), True, sums, costs)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("m", [1, 31, 100])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_list_clusters(dtype, m, share):
    rng = np.random.default_rng(m)
    missing = dtype(np.iinfo(dtype).max)
    labels = rng.integers(0, 7, (20, m)).astype(dtype)
    labels[rng.random((20, m)) >= share] = missing
    offsets = (7 * np.arange(m + 1)).astype(np.int32)
    for x in range(20):
        for first, last in ((0, m), (m // 3, m), (m // 3, m - m // 4)):
            clusters, partitions = np.full((2, m + _lists.PADDING), -5, np.int32)
            n = list_clusters(labels, x, missing, offsets, first, last, clusters, partitions)
            labeled = first + np.flatnonzero(labels[x, first:last] != missing)
            np.testing.assert_array_equal(partitions[:n], labeled)
            np.testing.assert_array_equal(clusters[:n], offsets[labeled] + labels[x, labeled])


FIT = """
import sys, numpy as np, partita._kernels._dispatch as dispatch
from partita import SEC
dispatch.COMPILED_FROM = 0.0
print(SEC(5, random_state=0, n_init=2).fit(np.load(sys.argv[1])).labels_.tolist())
from partita._kernels._compiled import _vectors
print(_vectors.simd)
"""


def test_a_fit_without_vector_instructions_gives_the_same_labels(tmp_path, monkeypatch):
    np.save(tmp_path / "p.npy", make_partitions(300, 8, 5, noise=0.5, random_state=0)[0])
    outputs = []
    for value in ("0", "1"):
        monkeypatch.setenv("PARTITA_SIMD", value)
        command = [sys.executable, "-c", FIT, str(tmp_path / "p.npy")]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        outputs.append(run.stdout.splitlines())
    (plain, is_plain), (vectors, _) = outputs
    assert is_plain == "None"
    assert plain == vectors
