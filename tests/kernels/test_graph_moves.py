"""Refinement of partitions in both forms, and against the same rules on pulls written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from forms import call_both

from partita import _kernels
from partita.solvers.graph_cut._adjacency import CLIQUES, EDGES, NETS, Adjacency
from partita.solvers.graph_cut._refinement import _Limits, _StateArrays

pytestmark = pytest.mark.kernel
KINDS = {"edges": EDGES, "cliques": CLIQUES, "nets": NETS}


def pulls_slowly(kind, graph, mass, parts, n_parts):
    """`graph` is a matrix of edges, or a 0/1 incidence of vertices and nets."""
    n = len(parts)
    pull = np.zeros((n, n_parts))
    for v in range(n):
        for k in range(n_parts):
            inside = (parts == k) & (np.arange(n) != v)
            if kind == EDGES:
                pull[v, k] = graph[v, inside].sum()
                continue
            for net in graph.T[graph[v] == 1]:
                others = (net == 1) & (np.arange(n) != v)
                if kind == CLIQUES:
                    pull[v, k] += mass[v] * mass[others & inside].sum()
                else:
                    pull[v, k] += np.all(inside[others])
    return pull


@pytest.fixture(params=KINDS, ids=lambda name: name)
def case(request):
    kind = KINDS[request.param]
    rng = np.random.default_rng(3)
    n, n_parts = 16, 3
    mass = rng.integers(1, 4, n).astype(float)
    if kind == EDGES:
        graph = np.triu(rng.integers(0, 4, (n, n)), 1).astype(float)
        graph += graph.T
        links = Adjacency.of_edges(graph)
    else:
        labels = rng.integers(0, 5, (n, 4))
        graph = np.hstack([labels[:, [i]] == np.arange(5) for i in range(4)]).astype(float)
        links = Adjacency.of_nets(graph, mass, kind)
    parts = np.arange(n) % n_parts
    rng.shuffle(parts)
    weights = rng.integers(1, 4, n).astype(float)
    return links, graph, mass, parts, weights, n_parts


def cut_slowly(kind, graph, mass, parts):
    apart = parts[:, None] != parts
    if kind == EDGES:
        return graph[apart].sum() / 2
    if kind == CLIQUES:
        return ((graph @ graph.T) * np.outer(mass, mass))[apart].sum() / 2
    return sum(len(np.unique(parts[net == 1])) > 1 for net in graph.T)


def test_pulls_and_cut(case):
    links, graph, mass, parts, _, n_parts = case
    tally = links.tally(parts, n_parts)
    expected = pulls_slowly(links.kind, graph, mass, parts, n_parts)
    np.testing.assert_array_equal(links.pulls(parts, tally, n_parts), expected)
    assert links.cut(parts, n_parts) == cut_slowly(links.kind, graph, mass, parts)


def test_a_move_lowers_the_cut_by_the_difference_of_pulls(case):
    links, _, _, parts, _, n_parts = case
    pull = links.pulls(parts, links.tally(parts, n_parts), n_parts)
    before = links.cut(parts, n_parts)
    for v in range(len(parts)):
        for k in range(n_parts):
            moved = parts.copy()
            moved[v] = k
            assert before - links.cut(moved, n_parts) == pull[v, k] - pull[v, parts[v]]


def sweep_slowly(kind, graph, mass, weights, capacity, movable, order, parts):
    parts, n_moves = parts.copy(), 0
    for v in order:
        loads = np.bincount(parts, weights, minlength=len(capacity))
        source = parts[v]
        if not movable[v] or np.sum(parts == source) == 1:
            continue
        pull = pulls_slowly(kind, graph, mass, parts, len(capacity))[v]
        open_to = [
            k for k in range(len(capacity)) if k != source and loads[k] + weights[v] <= capacity[k]
        ]
        if not open_to:
            continue
        best = max(open_to, key=lambda k: pull[k])
        if loads[source] > capacity[source] or pull[best] > pull[source]:
            parts[v] = best
            n_moves += 1
    return parts, n_moves


def climb_slowly(kind, graph, mass, weights, capacity, slack, movable, patience, parts):
    parts, locked = parts.copy(), ~movable
    best, best_total, total, n_kept, n_moves = parts.copy(), 0.0, 0.0, 0, 0
    while n_moves - n_kept <= patience and n_moves < len(parts):
        loads = np.bincount(parts, weights, minlength=len(capacity))
        sizes = np.bincount(parts, minlength=len(capacity))
        over = loads > capacity
        pull = pulls_slowly(kind, graph, mass, parts, len(capacity))
        moves = [
            (v, k)
            for v in range(len(parts))
            for k in range(len(capacity))
            if k != parts[v]
            and not locked[v]
            and sizes[parts[v]] > 1
            and (not over.any() or over[parts[v]])
            and loads[k] + weights[v] <= capacity[k] + (0.0 if over.any() else slack)
        ]
        if not moves:
            break
        gains = [pull[v, k] - pull[v, parts[v]] for v, k in moves]
        v, k = moves[int(np.argmax(gains))]
        parts[v], locked[v] = k, True
        total += max(gains)
        n_moves += 1
        loads = np.bincount(parts, weights, minlength=len(capacity))
        if total > best_total and np.all(loads <= capacity):
            best, best_total, n_kept = parts.copy(), total, n_moves
    return best, best_total


@pytest.mark.parametrize("room", [1.05, 1.5, 0.9], ids=["tight", "wide", "overloaded"])
def test_sweep(case, room):
    links, graph, mass, parts, weights, n_parts = case
    capacity = np.full(n_parts, room * weights.sum() / n_parts)
    movable = np.ones(len(parts), np.bool_)
    movable[3] = False
    order = np.random.default_rng(0).permutation(len(parts))
    expected, n_expected = sweep_slowly(
        links.kind, graph, mass, weights, capacity, movable, order, parts
    )
    moved, tally = parts.copy(), links.tally(parts, n_parts)
    loads, sizes = np.bincount(parts, weights), np.bincount(parts)
    limits, state = _Limits(weights, capacity, movable), _StateArrays(moved, loads, sizes, tally)
    pull = links.pulls(parts, tally, n_parts)
    n_moves, (*_, state) = call_both(
        _kernels.graph_moves.sweep, links, limits, order, 1e-9, pull, state
    )
    moved, loads, _, tally = state
    np.testing.assert_array_equal(moved, expected)
    assert n_moves == n_expected
    np.testing.assert_array_equal(loads, np.bincount(moved, weights))
    np.testing.assert_array_equal(tally, links.tally(moved, n_parts))


@pytest.mark.parametrize("patience", [2, 100])
@pytest.mark.parametrize("slack", [0.0, 3.0])
def test_climb(case, patience, slack):
    links, graph, mass, parts, weights, n_parts = case
    capacity = np.full(n_parts, 1.1 * np.bincount(parts, weights).max())
    movable = np.ones(len(parts), np.bool_)
    movable[3] = False
    expected, gain_expected = climb_slowly(
        links.kind, graph, mass, weights, capacity, slack, movable, patience, parts
    )
    moved, tally = parts.copy(), links.tally(parts, n_parts)
    loads, sizes = np.bincount(parts, weights), np.bincount(parts)
    pull = links.pulls(parts, tally, n_parts)
    limits, state = _Limits(weights, capacity, movable), _StateArrays(moved, loads, sizes, tally)
    gain, (*_, state) = call_both(
        _kernels.graph_moves.climb,
        *(links, limits, slack, 1e-9, patience, 1000, pull, state),
        scratch=(6,),
    )
    moved, loads, _, tally = state
    assert gain == gain_expected > 0
    np.testing.assert_array_equal(moved, expected)
    assert links.cut(parts, n_parts) - links.cut(moved, n_parts) == gain
    np.testing.assert_array_equal(loads, np.bincount(moved, weights))
    np.testing.assert_array_equal(tally, links.tally(moved, n_parts))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_integer", [True, False])
def test_both_forms_round_alike(kind, is_integer):
    """Fractional masses and weights, missing labels, and parts that are overloaded."""
    rng = np.random.default_rng(5)
    n, m, n_parts = 300, 6, 4
    mass = rng.integers(1, 4, n) * (1.0 if is_integer else 0.1)
    if kind == "edges":
        graph = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 1)
        links = Adjacency.of_edges(graph + graph.T)
    else:
        # small nets, which can lie in one part
        labels = rng.integers(0, 60 if kind == "nets" else 8, (n, m))
        labels[rng.random((n, m)) < 0.2] = -1
        nets = np.hstack([labels[:, [i]] == np.unique(labels[:, i])[1:] for i in range(m)])
        links = Adjacency.of_nets(nets.astype(float), mass, KINDS[kind])
    cuts, moves = _kernels.graph_cut, _kernels.graph_moves
    for _ in range(3):
        parts = rng.integers(0, n_parts, n)
        loads, sizes = np.bincount(parts, mass), np.bincount(parts)
        capacity = rng.uniform(0.9, 1.1, n_parts) * mass.sum() / n_parts
        limits = _Limits(mass, capacity, rng.random(n) < 0.9)
        tally = np.empty((len(links.pin_start) - 1, n_parts))
        _, (*_, tally) = call_both(cuts.count_pins, links, parts, tally)
        pull = np.zeros((n, n_parts))
        for share in ((0, 100), (100, n), (n, n)):
            _, (*_, pull) = call_both(cuts.pulls, links, parts, tally, *share, pull)
        if kind == "edges":
            call_both(cuts.edges_cut, links, parts)
        state = _StateArrays(parts, loads, sizes, tally)
        order = rng.permutation(n)
        n_moves, (*_, state) = call_both(moves.sweep, links, limits, order, 1e-9, pull, state)
        assert n_moves
        state = _StateArrays(*state)
        pull = links.pulls(state.parts, state.tally, n_parts)
        arguments = links, limits, mass.max(), 1e-9, 50, 1000, pull, state
        call_both(moves.climb, *arguments, scratch=(6,))


@pytest.fixture
def few_rows():
    """Labels of some rows, with missing ones, as nets and as a complete graph."""
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 5, (120, 7))
    labels[rng.random(labels.shape) < 0.1] = -1
    nets = sp.csr_matrix(np.hstack([labels[:, [i]] == np.arange(5) for i in range(7)]) * 1.0)
    mass = rng.integers(1, 4, 120).astype(float)
    complete = Adjacency.of_pairs(nets, mass)
    assert complete is not None
    return Adjacency.of_nets(nets, mass, CLIQUES), complete, mass


def test_a_complete_graph_is_refined_like_its_nets(few_rows):
    """The same moves in the same order, in both forms."""
    nets, complete, mass = few_rows
    cuts, moves = _kernels.graph_cut, _kernels.graph_moves
    rng, n_parts = np.random.default_rng(7), 4
    assert complete.cut(np.zeros(120, np.int64), n_parts) == 0
    np.testing.assert_array_equal(complete.matrix().toarray(), nets.matrix().toarray())
    for _ in range(3):
        parts = rng.integers(0, n_parts, 120)
        limits = _Limits(mass, rng.uniform(0.9, 1.1, 4) * mass.sum() / 4, rng.random(120) < 0.9)
        results = []
        for links in (nets, complete):
            assert call_both(cuts.edges_cut, complete, parts)[0] == nets.cut(parts, n_parts)
            tally = links.tally(parts, n_parts)
            pull = np.zeros((120, n_parts))
            for share in ((0, 50), (50, 120)):
                _, (*_, pull) = call_both(cuts.pulls, links, parts, tally, *share, pull)
            loads, sizes = np.bincount(parts, mass), np.bincount(parts)
            state = _StateArrays(parts.copy(), loads, sizes, tally)
            order = np.argsort(pull[:, 0], kind="stable")
            n_moves, (*_, state) = call_both(moves.sweep, links, limits, order, 1e-9, pull, state)
            state = _StateArrays(*state)
            again = links.pulls(state.parts, state.tally, n_parts)
            arguments = links, limits, mass.max(), 1e-9, 50, 1000, again, state
            gain, (*_, state) = call_both(moves.climb, *arguments, scratch=(6,))
            results.append((pull, n_moves, gain, *state[:3]))
        for of_nets, of_pairs in zip(*results, strict=True):
            np.testing.assert_array_equal(of_nets, of_pairs)


def test_a_graph_is_complete_only_if_sums_are_exact_and_rows_few(few_rows):
    nets = sp.csr_matrix(np.ones((30, 2)))
    assert Adjacency.of_pairs(nets, np.ones(30)) is not None
    assert Adjacency.of_pairs(nets, np.full(30, 0.5)) is None
    assert Adjacency.of_pairs(nets, np.full(30, 1000.0)) is None  # 5.8e7 edges of a vertex
    assert Adjacency.of_pairs(sp.csr_matrix(np.ones((501, 50))), np.ones(501)) is None
    assert Adjacency.of_pairs(sp.csr_matrix(np.ones((501, 51))), np.ones(501)) is not None


def test_a_graph_without_edges():
    cuts, moves = _kernels.graph_cut, _kernels.graph_moves
    links = Adjacency.of_edges(np.zeros((3, 3)))
    parts = np.array([0, 0, 1])
    assert call_both(cuts.edges_cut, links, parts)[0] == 0
    limits = _Limits(np.ones(3), np.array([1.5, 2.5]), np.ones(3, np.bool_))
    tally = np.empty((0, 2))
    state = _StateArrays(parts, np.bincount(parts, np.ones(3)), np.bincount(parts), tally)
    pull = links.pulls(parts, tally, 2)
    n_moves, (*_, (moved, *_)) = call_both(
        moves.sweep, links, limits, np.arange(3), 0.0, pull, state
    )
    assert n_moves == 1  # out of the overloaded part
    assert moved.tolist() == [1, 0, 1]
