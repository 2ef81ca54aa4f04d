"""Balanced cuts against exhaustive search, and what balance means when vertices are whole."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from partita.exceptions import MissingPackageError
from partita.solvers.graph_cut import _balanced, _refinement
from partita.solvers.graph_cut._adjacency import CLIQUES, NETS, Adjacency
from partita.solvers.graph_cut._balanced import choose_partitioner
from partita.solvers.graph_cut._part_limits import PartLimits
from partita.solvers.graph_cut._refinement import refine
from partita.solvers.graph_cut.graphs import cut_cliques, cut_graph
from partita.solvers.graph_cut.hypergraphs import cut_hypergraph

OPTIONS = {"balance": 0.05, "n_init": 5, "task": "test"}


def best_of_all(adjacency, weights, n_parts, capacity):
    """The smallest cut of any partition within the capacities, every part filled."""
    best = np.inf
    for parts in product(range(n_parts), repeat=len(weights)):
        parts = np.asarray(parts)
        loads = np.bincount(parts, weights, minlength=n_parts)
        if np.all(loads > 0) and np.all(np.sort(loads) <= np.sort(capacity)):
            best = min(best, adjacency.cut(parts, n_parts))
    return best


@pytest.fixture(params=range(6))
def incidence(request):
    rng = np.random.default_rng(request.param)
    labels = rng.integers(0, 3, (9, 4))
    table = np.hstack([labels[:, [i]] == np.arange(3) for i in range(4)]).astype(float)
    weights = rng.integers(1, 4, 9).astype(float)
    return sp.csr_matrix(table[:, table.any(axis=0)]), weights


@pytest.mark.parametrize("n_parts", [2, 3])
def test_builtin_cut_of_pairs_is_the_smallest(incidence, n_parts):
    B, weights = incidence
    cut = cut_cliques(
        B, weights, n_parts, np.random.default_rng(0), partitioner="builtin", **OPTIONS
    )
    capacity = PartLimits.of(weights, n_parts, 0.05).capacity
    expected = best_of_all(Adjacency.of_nets(B, weights, CLIQUES), weights, n_parts, capacity)
    assert cut.cut == expected
    assert cut.history[-1] == expected


@pytest.mark.parametrize("n_parts", [2, 3])
def test_builtin_cut_of_a_graph_is_the_smallest(n_parts, incidence):
    B, weights = incidence
    rng = np.random.default_rng(int(B.sum()) + int(weights.sum()))
    graph = np.triu(rng.random((9, 9)) * (rng.random((9, 9)) < 0.6), 1)
    graph += graph.T
    cut = cut_graph(graph, weights, n_parts, rng, partitioner="builtin", **OPTIONS)
    capacity = PartLimits.of(weights, n_parts, 0.05).capacity
    expected = best_of_all(Adjacency.of_edges(graph), weights, n_parts, capacity)
    assert cut.cut == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_parts", [2, 3])
def test_builtin_cut_of_nets_is_the_smallest(incidence, n_parts):
    B, weights = incidence
    cut = cut_hypergraph(
        B, weights, n_parts, np.random.default_rng(0), partitioner="builtin", **OPTIONS
    )
    capacity = PartLimits.of(weights, n_parts, 0.05).capacity
    expected = best_of_all(Adjacency.of_nets(B, np.ones(9), NETS), weights, n_parts, capacity)
    assert cut.cut == expected


@pytest.mark.parametrize("extra", ["metis", "kahypar"])
def test_the_extras_start_from_their_own_partitions(extra, incidence):
    pytest.importorskip(_balanced._PACKAGES[extra])
    B, weights = incidence
    solve = cut_cliques if extra == "metis" else cut_hypergraph
    mass, kind = (weights, CLIQUES) if extra == "metis" else (np.ones(9), NETS)
    cut = solve(B, weights, 3, np.random.default_rng(0), partitioner=extra, **OPTIONS)
    limits = PartLimits.of(weights, 3, 0.05)
    expected = best_of_all(Adjacency.of_nets(B, mass, kind), weights, 3, limits.capacity)
    assert cut.partitioner == extra
    assert cut.cut == expected
    loads = np.bincount(cut.labels, weights, minlength=3)
    assert np.all(np.sort(loads) <= np.sort(limits.capacity))


def test_metis_reads_the_graph_and_leaves_it_alone(incidence):
    """Edges too light for METIS's integers are dropped from its copy, not from the graph."""
    pytest.importorskip("pymetis")
    _, weights = incidence
    rng = np.random.default_rng(int(weights.sum()))
    graph = np.triu(10.0 ** rng.integers(-12, 1, (9, 9)), 1)
    graph += graph.T
    cut = cut_graph(graph, weights, 3, rng, partitioner="metis", **OPTIONS)
    assert cut.cut == pytest.approx(Adjacency.of_edges(graph).cut(cut.labels, 3), rel=1e-12)


def test_auto_does_not_ask_metis_for_parts_of_few_vertices(capfd):
    """METIS would run out of vertices and complain where results are printed."""
    pytest.importorskip("pymetis")
    rng = np.random.default_rng(0)
    graph = rng.random((52, 52)) * (rng.random((52, 52)) < 0.2)
    graph += graph.T
    for n_parts, expected in ((5, "metis"), (39, "builtin")):
        options = OPTIONS | {"partitioner": "auto"}
        assert cut_graph(graph, np.ones(52), n_parts, rng, **options).partitioner == expected
    assert capfd.readouterr().out == ""


def test_an_extra_that_is_not_there(monkeypatch):
    for package in ("pymetis", "kahypar"):
        monkeypatch.setitem(sys.modules, package, None)
    assert choose_partitioner("auto", "metis", True) == "builtin"
    with pytest.raises(MissingPackageError, match=r"partita\[graph\]"):
        choose_partitioner("kahypar", "kahypar", True)


def test_auto_leaves_large_graphs_to_the_builtin_procedure(monkeypatch):
    monkeypatch.setattr(_balanced, "is_installed", lambda package: True)
    monkeypatch.setitem(sys.modules, "pymetis", sys)
    assert choose_partitioner("auto", "metis", True) == "metis"
    assert choose_partitioner("auto", "metis", False) == "builtin"
    assert choose_partitioner("metis", "metis", False) == "metis"
    assert choose_partitioner("builtin", "metis", True) == "builtin"


def test_even_shares():
    limits = PartLimits.of(np.ones(60), 3, 0.05)
    np.testing.assert_allclose(limits.share, 20.0)
    np.testing.assert_allclose(limits.capacity, 21.0)
    assert len(limits.heavy) == 0
    np.testing.assert_array_equal(np.bincount(limits.packing), [20, 20, 20])


def test_whole_vertices_that_do_not_pack_evenly():
    """Five of weight 2 into two parts: 5 each is even, 6 and 4 is the best there is."""
    limits = PartLimits.of(np.full(5, 2.0), 2, 0.05)
    np.testing.assert_allclose(limits.share, 5.0)
    np.testing.assert_allclose(limits.capacity, 6.0)


def test_a_vertex_heavier_than_an_even_share_has_a_part_of_its_size():
    """30 of 39 is alone; 5 of the other 9 is more than half of them; the last 4 stay together."""
    weights = np.array([1.0, 5.0, 1.0, 30.0, 1.0, 1.0])
    limits = PartLimits.of(weights, 3, 0.05)
    np.testing.assert_array_equal(limits.heavy, [3, 1])
    np.testing.assert_allclose(limits.share, [30.0, 5.0, 4.0])
    np.testing.assert_allclose(limits.capacity, [31.5, 5.25, 4.2])


@pytest.mark.parametrize("start", ["one group", "two groups", "many groups"])
def test_refinement_fills_every_part_within_its_capacity(start):
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 9, 40).astype(float)
    weights[7] = 90.0
    groups = {
        "one group": np.zeros(40, np.int64),
        "two groups": np.arange(40) % 2,
        "many groups": np.arange(40),
    }[start]
    graph = rng.random((40, 40))
    adjacency = Adjacency.of_edges(graph + graph.T)
    limits = PartLimits.of(weights, 5, 0.05)
    parts, history = refine(adjacency, groups, weights, limits)
    loads = np.bincount(parts, weights, minlength=5)
    assert np.all(loads > 0)
    assert np.all(loads <= limits.capacity)
    assert np.all(np.diff(history) < 0)
    assert parts[7] == 0


def test_a_start_that_sweeps_cannot_repair_is_packed_anew():
    """4 + 4 + 3 against 3 + 3 + 3 within 10: no vertex of the first part fits into the second."""
    weights = np.array([4.0, 4.0, 3.0, 3.0, 3.0, 3.0])
    graph = np.zeros((6, 6))
    limits = PartLimits.of(weights, 2, 0.0)
    np.testing.assert_allclose(limits.capacity, 10.0)
    parts, _ = refine(Adjacency.of_edges(graph), np.array([0, 0, 0, 1, 1, 1]), weights, limits)
    np.testing.assert_array_equal(np.bincount(parts, weights), [10, 10])


def few_pairs():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 4, (90, 6))
    table = np.hstack([labels[:, [i]] == np.arange(4) for i in range(6)]).astype(float)
    mass = rng.integers(1, 4, 90).astype(float)
    return sp.csr_matrix(table), mass, rng


def test_pulls_of_a_complete_graph_are_corrected_exactly():
    table, mass, rng = few_pairs()
    adjacency = Adjacency.of_pairs(table, mass)
    assert adjacency.is_complete
    assert not Adjacency.of_nets(table, mass, CLIQUES).is_complete
    before, after = rng.integers(0, 5, (2, 90))
    tally = adjacency.tally(before, 5)
    pull = adjacency.pulls(before, tally, 5)
    adjacency.correct_pulls(before, after, pull)
    np.testing.assert_array_equal(pull, adjacency.pulls(after, tally, 5))


def test_a_complete_graph_and_its_nets_are_refined_to_the_same_cuts():
    table, mass, rng = few_pairs()
    limits = PartLimits.of(mass, 4, 0.05)
    for _ in range(5):
        groups = rng.integers(0, 4, 90)
        results = [
            refine(adjacency, groups, mass, limits)
            for adjacency in (
                Adjacency.of_pairs(table, mass),
                Adjacency.of_nets(table, mass, CLIQUES),
            )
        ]
        np.testing.assert_array_equal(results[0][0], results[1][0])
        assert results[0][1] == results[1][1]


def test_a_refinement_ends_in_a_state_that_an_earlier_one_passed_through():
    table, mass, rng = few_pairs()
    adjacency, limits = Adjacency.of_pairs(table, mass), PartLimits.of(mass, 4, 0.05)
    visited = {}
    groups = rng.integers(0, 4, 90)
    first = refine(adjacency, groups, mass, limits, visited=visited)
    assert np.isfinite(first[1][-1])
    assert refine(adjacency, groups, mass, limits, visited=visited)[1] == [np.inf]


def test_a_state_is_repeated_only_after_as_many_passes():
    """Fewer passes before it leave more passes, which may lead to a smaller cut."""
    table, mass, rng = few_pairs()
    limits = PartLimits.of(mass, 4, 0.05)
    adjacency, parts = Adjacency.of_pairs(table, mass), rng.integers(0, 4, 90)
    state = _refinement._PartitionState(adjacency, mass, limits, parts, 0.0)
    visited = {}
    passes = [0, 0, 3, 2, 2, 5]  # 0: before the sweeps
    repeated = [state.is_repeated(visited, n_passes) for n_passes in passes]
    assert repeated == [False, True, False, False, True, True]


def test_one_part_and_a_part_for_everyone():
    B = sp.csr_matrix(np.eye(4))
    for solve in (cut_cliques, cut_hypergraph):
        for n_parts, expected in ((1, [0, 0, 0, 0]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])):
            cut = solve(
                B, np.ones(4), n_parts, np.random.default_rng(0), partitioner="auto", **OPTIONS
            )
            np.testing.assert_array_equal(cut.labels, expected)
            assert cut.partitioner == "none"
