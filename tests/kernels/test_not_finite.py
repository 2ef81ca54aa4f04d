"""Compiled kernels on NaN and infinity: no number computed from them becomes an index unchecked.

`tests/trust/test_bounds.py` runs these tests with the bounds check of numba.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_label_kmeans import MISSING, Case

from partita import _kernels
from partita.solvers.graph_cut._adjacency import Adjacency
from partita.solvers.graph_cut._refinement import _Limits, _StateArrays
from partita.solvers.label_kmeans import Tables
from partita.solvers.label_kmeans._search import assignment_of

pytestmark = pytest.mark.kernel
not_finite = pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])


@pytest.fixture(autouse=True)
def _numba():
    pytest.importorskip("numba", reason="numba is not installed")


@not_finite
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_assign(value, missing, share):
    """A row is in one of the groups or in none (-1), whatever its costs are."""
    case, rng = Case(missing, 5), np.random.default_rng(0)
    lookup = np.where(rng.random(case.tables.lookup.shape) < share, value, case.tables.lookup)
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    search = search.next(Tables(lookup, case.tables.slope))
    search.assign(chunk, MISSING, case.terms)
    groups = assignment_of(chunk).groups
    assert groups.min() >= -1
    assert groups.max() < 5


@not_finite
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_refinement_of_a_graph(value):
    rng = np.random.default_rng(1)
    n, n_parts = 30, 3
    graph = np.triu(np.where(rng.random((n, n)) < 0.2, value, rng.random((n, n))), 1)
    links = Adjacency.of_edges(graph + graph.T)
    parts = np.arange(n) % n_parts
    weights = np.ones(n)
    limits = _Limits(weights, np.full(n_parts, 11.0), np.ones(n, np.bool_))
    tally = np.empty((len(links.pin_start) - 1, n_parts))
    state = _StateArrays(parts, np.bincount(parts, weights), np.bincount(parts), tally)
    kernels = _kernels.graph_refinement
    kernels.count_pins.compiled(links, parts, tally)
    kernels.sweep.compiled(links, limits, rng.permutation(n), 1e-9, state)
    pull = np.zeros((n, n_parts))
    kernels.pulls.compiled(links, parts, tally, 0, n, pull)
    kernels.climb.compiled(links, limits, 1.0, 1e-9, 50, 1000, pull, state)
    assert set(parts.tolist()) <= set(range(n_parts))
    np.testing.assert_array_equal(state.sizes, np.bincount(parts, minlength=n_parts))


@not_finite
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_steps_of_tables(value):
    """What is no number becomes some step: the entries are added, never used as indices."""
    table = np.full((4, 3), value)
    out = np.zeros((4, 16), np.int8)
    _kernels.quantization.quantize.compiled(table, np.zeros(3), np.ones(3), 0, 4, out)
    assert not out[:, 3:].any()
