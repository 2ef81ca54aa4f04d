"""Compiled kernels on NaN and infinity: no number computed from them becomes an index unchecked.

`tests/trust/test_bounds.py` runs these tests with the bounds check of numba.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_label_kmeans import MISSING, Case

from partita import _kernels
from partita.solvers.graph_cut._adjacency import Adjacency
from partita.solvers.graph_cut._part_limits import PartLimits
from partita.solvers.graph_cut._refinement import refine
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
    limits = PartLimits.of(np.ones(n), n_parts, 1.1)
    parts, _ = refine(links, np.arange(n) % n_parts, np.ones(n), limits, work=np.inf)
    assert set(parts.tolist()) <= set(range(n_parts))


@not_finite
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_steps_of_tables(value):
    """What is no number becomes some step: the entries are added, never used as indices."""
    table = np.full((4, 3), value)
    out = np.zeros((4, 16), np.int8)
    _kernels.quantization.quantize.compiled(table, np.zeros(3), np.ones(3), 0, 4, out)
    assert not out[:, 3:].any()
