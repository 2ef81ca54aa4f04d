"""Costs by look-up equal sums written out; both forms of `assign` take the same groups."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import SEC, _kernels
from partita._kernels.records import CodeTable, Moves
from partita.scale import Chunk
from partita.solvers.label_kmeans import RowTerms, Tables
from partita.solvers.label_kmeans._bounded_search import BoundedSearch, TypicalRow
from partita.solvers.label_kmeans._search import ExactSearch, assignment_of

pytestmark = pytest.mark.kernel
MISSING = 255


class Case:
    """Random labels and tables, and every cost as a sum written out."""

    def __init__(self, missing: float, groups: int, m: int = 11, n: int = 150) -> None:
        rng = np.random.default_rng(2)
        k = 4
        self.labels = rng.integers(0, k, (n, m)).astype(np.uint8)
        self.labels[rng.random((n, m)) < missing] = MISSING
        self.offsets = np.arange(m + 1) * k
        self.table = CodeTable.of(self.labels, MISSING, self.offsets)
        self.tables = Tables(rng.normal(size=(m * k, groups)), rng.random((m, groups)))
        self.entries: type[np.signedinteger] = np.int16
        self.constant, self.scale = rng.random(n), rng.random(n) + 0.5
        self.n_labeled = np.count_nonzero(self.labels != MISSING, axis=1).astype(np.int32)
        self.complete = missing == 0.0
        self.terms = RowTerms(self.constant, self.scale, self.scale, self.n_labeled)

    def costs(self, tables: Tables) -> np.ndarray:
        costs = np.zeros((len(self.labels), tables.lookup.shape[1]))
        for x, row in enumerate(self.labels):
            for i, label in enumerate(row):
                if label != MISSING:
                    costs[x] += tables.lookup[self.offsets[i] + label]
                    costs[x] += self.scale[x] * tables.slope[i]
        return costs

    def start(self, tables: Tables | None = None) -> BoundedSearch:
        pytest.importorskip("numba")
        typical = TypicalRow(int(np.median(self.n_labeled)), 1.0)
        tables, entries = tables or self.tables, np.dtype(self.entries)
        return BoundedSearch.start(tables, self.offsets, self.complete, typical, entries)

    def chunk(self) -> Chunk:
        return Chunk(0, self.labels, np.ones(len(self.labels)))


@pytest.fixture(params=[0.0, 0.3, 0.9], ids=["complete", "incomplete", "sparse"])
def missing(request):
    return request.param


@pytest.fixture(params=[1, 3, 8, 13, 40])
def case(request, missing):
    return Case(missing, request.param)


def test_costs(case):
    expected = case.costs(case.tables) + case.constant[:, None]
    n, groups = expected.shape
    arguments = case.table, case.complete, case.tables, case.constant, case.scale
    out = np.zeros((n, groups))
    for start, stop in ((0, 7), (7, 7), (7, n)):
        _, (*_, out) = call_both(_kernels.label_kmeans.row_costs, *arguments, start, stop, out)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)
    own, chosen = np.zeros(n), (np.arange(n) % (groups + 1) - 1).astype(np.int32)
    for start, stop in ((0, 7), (7, n)):
        share = *arguments, chosen, start, stop, own
        _, (*_, own) = call_both(_kernels.label_kmeans.own_costs, *share)
    there = chosen >= 0
    np.testing.assert_allclose(
        own[there], expected[np.arange(n), chosen][there], rtol=0, atol=1e-12
    )
    assert np.all(own[~there] == -np.inf)


def test_assign_takes_the_cheapest_and_its_bounds_hold(case):
    chunk = case.chunk()
    search = case.start()
    moved = search.assign(chunk, MISSING, case.terms)
    labeled = case.n_labeled > 0
    check_assignment(case, search, chunk)
    assert moved == labeled.sum()


def check_assignment(case, search, chunk):
    expected = case.costs(search.tables)
    labeled = case.n_labeled > 0
    groups, upper, lower = assignment_of(chunk)
    exact = case.chunk()
    ExactSearch.start(search.tables, case.offsets, case.complete).assign(exact, MISSING, case.terms)
    np.testing.assert_array_equal(assignment_of(exact).groups, groups)
    np.testing.assert_array_equal(groups[labeled], expected.argmin(axis=1)[labeled])
    assert np.all(groups[~labeled] == -1)
    ordered = np.sort(search.unit * expected, axis=1)[labeled]
    assert np.all(upper[labeled] >= ordered[:, 0])
    if expected.shape[1] > 1:
        assert np.all(lower[labeled] <= ordered[:, 1])


@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.1])
def test_rows_held_by_their_bounds_are_where_they_belong(case, step):
    """Tables that wander: after every step labels are the cheapest and bounds hold."""
    rng = np.random.default_rng(5)
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    for _ in range(5):
        old = search.tables
        calm = np.where(rng.random(old.slope.shape[1]) < 0.2, 1.0, 1e-3)  # few groups are active
        lookup = old.lookup + step * calm * rng.normal(size=old.lookup.shape)
        slope = old.slope + step * calm * rng.normal(size=old.slope.shape)
        search = search.next(Tables(lookup, slope))
        search.assign(chunk, MISSING, case.terms)
        check_assignment(case, search, chunk)


@pytest.fixture
def always_bounds(monkeypatch):
    """Let the search in NumPy use bounds for few labels too."""
    monkeypatch.setattr("partita.solvers.label_kmeans._search._MANY_LABELS", 0)


@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.1])
def test_bounds_of_the_definition_hold(case, step, always_bounds):
    rng = np.random.default_rng(5)
    search = ExactSearch.start(case.tables, case.offsets, case.complete)
    chunk, labeled = case.chunk(), case.n_labeled > 0
    assert search.assign(chunk, MISSING, case.terms) == labeled.sum()
    for _ in range(5):
        old = search.tables
        lookup = old.lookup + step * rng.normal(size=old.lookup.shape)
        search = search.next(Tables(lookup, old.slope + step * rng.normal(size=old.slope.shape)))
        search.assign(chunk, MISSING, case.terms)
        expected = case.costs(search.tables)
        groups, upper, lower = assignment_of(chunk)
        np.testing.assert_array_equal(groups[labeled], expected.argmin(axis=1)[labeled])
        assert np.all(groups[~labeled] == -1)
        if expected.shape[1] > 1:
            ordered = np.sort(search.unit * expected, axis=1)[labeled]
            assert np.all(upper[labeled] >= ordered[:, 0])
            assert np.all(lower[labeled] <= ordered[:, 1])


def test_rows_decided_by_bounds_by_active_groups_and_by_all_groups(missing):
    rng = np.random.default_rng(6)
    case = Case(missing, 40, m=6, n=1_500)
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    for step in (0.3, 0.1, 0.03):
        old = search.tables
        calm = np.where(np.arange(40) < 6, 1.0, 1e-2)
        lookup = old.lookup + step * calm * rng.normal(size=old.lookup.shape)
        search = search.next(Tables(lookup, old.slope))
        search.assign(chunk, MISSING, case.terms)
        check_assignment(case, search, chunk)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize(("groups", "m"), [(130, 9), (300, 5), (6, 150), (50, 70), (20, 64)])
def test_more_groups_and_more_labels_than_registers_and_batches_hold(missing, groups, m, dtype):
    rng = np.random.default_rng(7)
    case = Case(missing, groups, m=m, n=300)
    case.entries = dtype
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    check_assignment(case, search, chunk)
    old = search.tables
    calm = np.where(np.arange(groups) < groups // 3, 1.0, 1e-3)
    lookup = old.lookup + 0.1 * calm * rng.normal(size=old.lookup.shape)
    search = search.next(Tables(lookup, old.slope))
    search.assign(chunk, MISSING, case.terms)
    check_assignment(case, search, chunk)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_a_group_of_another_size_does_not_blur_the_others(missing, dtype):
    """Every group has a step of its own: huge entries in one make no other less precise."""
    case = Case(missing, 20)
    case.entries = dtype
    case.tables.lookup[:, 3] *= 1e7
    search, chunk = case.start(), case.chunk()
    assert search.quantized.entries.dtype == dtype
    search.assign(chunk, MISSING, case.terms)
    check_assignment(case, search, chunk)
    _, _, reach = search.quantized.columns[0]
    ordinary = np.delete(reach[:20], 3)
    assert ordinary.max() < 0.01 * search.unit * np.abs(np.delete(case.tables.lookup, 3, 1)).max()


@pytest.mark.parametrize("is_compiled", [False, True])
def test_bounds_spare_look_ups(missing, is_compiled, always_bounds):
    """Where nothing changes no row is looked at: it stays even where it does not belong."""
    case = Case(missing, 3)
    exact = ExactSearch.start(case.tables, case.offsets, case.complete)
    search, chunk = case.start() if is_compiled else exact, case.chunk()
    search.assign(chunk, MISSING, case.terms)
    labeled = case.n_labeled > 0
    groups, upper, lower = assignment_of(chunk)
    clear = labeled & (lower - upper > 1e-3)
    assert clear.mean() > 0.5
    groups[clear] = (groups[clear] + 1) % 3
    wrong = groups.copy()
    assert search.next(search.tables).assign(chunk, MISSING, case.terms) == 0
    np.testing.assert_array_equal(groups, wrong)


def test_the_cost_in_the_own_group_spares_other_look_ups(missing):
    """A row stays where its own cost is below a lower bound of the others, even a wrong one."""
    case = Case(missing, 50)
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    labeled = np.flatnonzero(case.n_labeled > 0)
    groups, upper, lower = assignment_of(chunk)
    own = (search.unit * case.costs(case.tables))[labeled, 7]
    held, free = np.arange(len(labeled)) % 2 == 0, np.arange(len(labeled)) % 2 == 1
    cheapest = groups[labeled]
    groups[labeled], upper[labeled] = 7, np.inf
    lower[labeled] = np.where(held, own + 1.0, -1e3)
    search.next(search.tables).assign(chunk, MISSING, case.terms)
    assert (cheapest != 7).any()
    np.testing.assert_array_equal(groups[labeled][held], 7)
    np.testing.assert_array_equal(groups[labeled][free], cheapest[free])
    assert np.all(upper[labeled][held] >= own[held])
    assert np.all(upper[labeled][held] < own[held] + 0.5)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("m", [8, 63, 64, 65, 128])
def test_sums_of_the_largest_entries_do_not_overflow(missing, m, dtype):
    """All look-ups of a row are extreme ones of their columns."""
    case = Case(missing, 17, m=m)
    case.entries = dtype
    first = np.resize([True, False, False, False], (4 * m, 1))
    case.labels[::2][case.labels[::2] != MISSING] = 0
    case.labels[1::2][case.labels[1::2] != MISSING] = 3
    sizes = 1.0 + np.arange(17) / 32
    case.tables = Tables(np.where(first, sizes, -sizes), case.tables.slope)
    search, chunk = case.start(), case.chunk()
    search.assign(chunk, MISSING, case.terms)
    check_assignment(case, search, chunk)


def test_a_tie_goes_to_the_first_group():
    """Single precision cannot tell the two groups apart, double precision can."""
    case = Case(0.0, 2)
    lookup = np.repeat(case.tables.lookup[:, :1], 3, axis=1)
    lookup[0::4, 1] -= 1e-12
    tables = Tables(lookup, np.repeat(case.tables.slope[:, :1], 3, axis=1))
    lower = (case.labels == 0).any(axis=1)
    assert 0 < lower.sum() < len(lower)
    for search in (ExactSearch.start(tables, case.offsets, case.complete), case.start(tables)):
        chunk = case.chunk()
        search.assign(chunk, MISSING, case.terms)
        np.testing.assert_array_equal(assignment_of(chunk).groups, lower)


@pytest.mark.parametrize("groups", [2, 5, 60])
def test_costs_that_differ_by_rounding_tie(missing, groups):
    """Costs are equal up to rounding, except for rows with label 0 in partition 0."""
    rng = np.random.default_rng(groups)
    case = Case(missing, groups)
    m = len(case.offsets) - 1
    lookup = np.repeat(rng.random((4 * m, 1)), groups, axis=1)
    slope = np.repeat(rng.random((m, 1)), groups, axis=1)
    lookup[:, 1:] += 2.0**-52 * rng.integers(-2, 3, (4 * m, groups - 1))
    lookup[0, -1] -= 1e-11
    tables = Tables(lookup, slope)
    bounded, exact = case.chunk(), case.chunk()
    ExactSearch.start(tables, case.offsets, case.complete).assign(exact, MISSING, case.terms)
    case.start(tables).assign(bounded, MISSING, case.terms)
    taken = assignment_of(exact).groups
    np.testing.assert_array_equal(assignment_of(bounded).groups, taken)
    labeled = case.n_labeled > 0
    expected = np.where(case.labels[:, 0] == 0, groups - 1, 0)
    np.testing.assert_array_equal(taken[labeled], expected[labeled])


def test_one_row_and_no_rows():
    case = Case(0.0, 3, n=1)
    chunk = case.chunk()
    search = ExactSearch.start(case.tables, case.offsets, case.complete)
    assert search.assign(chunk, MISSING, case.terms) == 1
    assert search.assign(chunk, MISSING, case.terms) == 0
    check_assignment(case, case.start(), chunk)
    empty = Chunk(0, case.labels[:0], np.ones(0))
    assert search.assign(empty, MISSING, RowTerms(*(term[:0] for term in case.terms))) == 0


def test_move_keeps_the_statistics(missing):
    case, groups = Case(missing, 3), 3
    rng = np.random.default_rng(3)
    n, m = case.labels.shape
    weights, mass = rng.random(n), rng.random(n)
    old, new = (rng.integers(-1, groups, n).astype(np.int32) for _ in range(2))
    old[:20] = new[:20]

    def statistics(chosen):
        counts, masses = np.zeros((case.offsets[-1], groups)), np.zeros((m, groups))
        for x in range(n):
            for i in range(m):
                if case.labels[x, i] != MISSING and chosen[x] >= 0:
                    counts[case.offsets[i] + case.labels[x, i], chosen[x]] += weights[x]
                    masses[i, chosen[x]] += weights[x] * mass[x]
        return counts, masses

    counts, masses = statistics(old)
    for first, last in ((0, 2), (2, 2), (2, m)):
        moves = Moves(np.flatnonzero(old != new), old, new)
        _, (*_, counts, masses) = call_both(
            _kernels.label_kmeans.move,
            *(case.table, case.complete, weights, mass, moves, first, last, counts, masses),
        )
    expected_counts, expected_masses = statistics(new)
    np.testing.assert_allclose(counts, expected_counts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(masses, expected_masses, rtol=0, atol=1e-12)


@pytest.mark.parametrize("share_of_groups", [0.02, 1.0])
def test_move_counts_rows_of_weight_one(missing, share_of_groups):
    """The compiled form counts them in single bytes, which overflow in large groups."""
    case, groups = Case(missing, 3, n=9000), 3
    rng = np.random.default_rng(5)
    n, m = case.labels.shape
    weights, mass = np.ones(n), rng.random(n)
    old, new = np.full(n, -1, np.int32), rng.integers(-1, groups, n).astype(np.int32)
    new[rng.random(n) >= share_of_groups] = -1
    counts, masses = rng.integers(0, 9, (case.offsets[-1], groups)) + 0.0, rng.random((m, groups))
    expected = counts.copy()
    for first, last in ((0, 2), (2, 2), (2, m)):
        moves = Moves(np.flatnonzero(old != new), old, new)
        _, (*_, counts, masses) = call_both(
            _kernels.label_kmeans.move,
            *(case.table, case.complete, weights, mass, moves, first, last, counts, masses),
        )
    x, i = np.nonzero((case.labels != MISSING) & (new >= 0)[:, None])
    np.add.at(expected, (case.offsets[i] + case.labels[x, i], new[x]), 1.0)
    np.testing.assert_array_equal(counts, expected)
    if share_of_groups == 1.0 and missing < 0.5:
        assert counts.max() > 256


def test_ratio_tables():
    rng = np.random.default_rng(4)
    offsets, groups = np.array([0, 3, 5]), 4
    counts, masses = rng.random((5, groups)), rng.random((2, groups))
    masses[1, 2] = counts[3:, 2].sum() * 0.0
    overall, mu = rng.random(5), np.array([0.5, 2.0])
    lookup, slope = np.zeros((5, groups)), np.zeros((2, groups))
    for share in ((0, 1), (1, 2)):
        arguments = counts, masses, overall, mu, offsets, *share, lookup, slope
        _, (*_, lookup, slope) = call_both(_kernels.label_kmeans.ratio_tables, *arguments)
    for i in range(2):
        for k in range(groups):
            rows = slice(offsets[i], offsets[i + 1])
            center = counts[rows, k] / masses[i, k] if masses[i, k] > 0 else overall[rows]
            np.testing.assert_allclose(lookup[rows, k], -2 * mu[i] * center, rtol=0, atol=1e-13)
            np.testing.assert_allclose(slope[i, k], mu[i] * (center**2).sum(), rtol=0, atol=1e-13)


def test_all_searches_of_a_fit_have_entries_of_one_type(monkeypatch):
    """Otherwise the search is compiled once more, for the groups that are merged."""
    pytest.importorskip("numba")
    monkeypatch.setattr("partita._kernels._dispatch.COMPILED_FROM", 0.0)
    monkeypatch.setattr("partita.solvers.label_kmeans._tables._CACHE_BYTES", 2 * 16 * 4 * 200)
    types, start = [], BoundedSearch.start

    def record(tables, offsets, complete, typical, dtype):
        types.append((tables.lookup.shape[1], dtype))
        return start(tables, offsets, complete, typical, dtype)

    monkeypatch.setattr(BoundedSearch, "start", record)
    labels = np.random.default_rng(0).integers(0, 200, (400, 4))
    SEC(10, n_init=1, random_state=0).fit(labels)
    assert {n_groups for n_groups, _ in types} == {10, 40}
    assert {dtype for _, dtype in types} == {np.dtype(np.int16)}
