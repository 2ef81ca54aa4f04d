"""Orders of methods in the papers' tables: ranks, t-tests, and printed orders in the records."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.papers._orders import (
    contradictions,
    mean_ranks,
    order,
    ordered_pairs,
    ranked,
    reversed_pairs,
    significance,
    significant_sign,
)
from benchmarks.papers._verdicts import COMPARABLE, cells
from paper_tables import TABLES, kept


def test_ranks_and_tau() -> None:
    values = np.array([[0.9, 0.5, 0.5], [0.8, 0.9, 0.1]])
    np.testing.assert_allclose(mean_ranks(values), [1.5, 1.75, 2.75])


def test_a_paired_test_needs_a_difference_that_is_larger_than_its_spread() -> None:
    base = (0.50, 0.61, 0.42, 0.55, 0.70)
    assert significant_sign(tuple(v + 0.1 + 0.01 * i for i, v in enumerate(base)), base) == 1
    assert significant_sign(base, tuple(v + 0.1 for v in base)) == -1
    assert significant_sign(base, base[::-1]) == 0
    assert significant_sign(base, base) == 0


def test_data_that_differ_from_the_papers_have_no_rank() -> None:
    table = TABLES["000-table2"]
    ranking = order(table, cells(table, kept("000")), "ACC")
    assert ranking is not None
    assert {"iris", "ionosphere"} <= set(ranking.data)
    assert "wine" not in ranking.data


def test_cells_that_cannot_be_compared_have_no_rank() -> None:
    """In Table IV most lines of texture, ls and fct lack draws, and the line of all candidates."""
    table = TABLES["003-table4"]
    results = cells(table, kept("003"))
    results = [
        dataclasses.replace(cell, verdict="not comparable") if cell.data == "ecoli" else cell
        for cell in results
    ]
    for tuned in (False, True):
        ranking = order(table, results, "ARI", tuned=tuned)
        assert "umist" in ranking.data
        assert "ecoli" not in ranking.data
        for cell in results:
            names = [name for name, *_ in ranking.lines]
            if cell.data in ranking.data and cell.method.name in names:
                assert cell.verdict in COMPARABLE


def test_fixed_and_tuned_lines_are_ranked_apart() -> None:
    table = TABLES["003-table4"]
    results = cells(table, kept("003"))
    fixed, tuned = (order(table, results, "ARI", tuned=some) for some in (False, True))
    assert not any("tuned" in name for name, *_ in fixed.lines)
    assert all("tuned" in name for name, *_ in tuned.lines)
    # the print of SPCE is tuned: it is compared with the tuned line only
    assert "SPCE" in fixed.unranked
    assert "SPCE" not in [name for name, *_ in fixed.lines]
    assert "SPCE, tuned" in [name for name, *_ in tuned.lines]
    assert tuned.unranked == []


def test_a_quick_table_still_knows_which_prints_are_tuned() -> None:
    table = TABLES["003-table4"].limited(quick=True, data=None, draws=None)
    assert not any(method.tuned for method in table.methods)
    assert "SPCE" in table.tuned_prints
    names = {cell.method.name for cell in ranked(table, cells(table, kept("003")), tuned=False)}
    assert "LWEA" in names
    assert "SPCE" not in names


def test_no_test_compares_fixed_with_tuned_lines() -> None:
    for key in ("001-table2", "004-kmeans", "004-spectral"):
        table = TABLES[key]
        is_tuned = {method.name: bool(method.tuned) for method in table.methods}
        tests = significance(table, cells(table, kept(table.paper)), "ACC")
        assert tests
        assert [test for test in tests if is_tuned[test.own] != is_tuned[test.other]] == []


@pytest.mark.parametrize(
    "key", [key for key, table in TABLES.items() if table.printed and table.kind == "table"]
)
def test_a_printed_line_has_at_most_one_rank(key: str) -> None:
    methods = [m for m in TABLES[key].methods if m.has_rank and not m.data and not m.absent]
    lines = [(method.printed_as, bool(method.tuned)) for method in methods]
    assert sorted(set(lines)) == sorted(lines)


def test_a_tie_is_no_reversed_order() -> None:
    printed = np.array([1.0, 2.5, 2.5])
    assert reversed_pairs(printed, np.array([1.0, 2.0, 3.0])) == 0
    assert reversed_pairs(printed, np.array([3.0, 1.0, 2.0])) == 2


@pytest.mark.parametrize("key", ["000-table2", "001-table2", "004-kmeans"])
def test_the_records_have_the_printed_order(key: str) -> None:
    """Pairs of methods on a data set that the print decides, in cells that can be compared.

    Where both cells are within sampling error of the print, no pair is reversed. Over all pairs the
    printed order holds more often than by chance, by three standard errors. A reversed pair has a
    cell that is better or below, for which the page gives the reason.
    """
    table = TABLES[key]
    results = [c for c in cells(table, kept(table.paper)) if c.verdict in COMPARABLE]
    near = [cell for cell in results if cell.verdict in ("equal", "within")]
    assert len(ordered_pairs(table, near)) > 10
    assert contradictions(table, near) == []
    pairs = ordered_pairs(table, results)
    least = 0.5 + 3 * 0.5 / len(pairs) ** 0.5
    assert 1 - len(contradictions(table, results)) / len(pairs) > least
    opposite = [dataclasses.replace(c, values=tuple(-v for v in c.values)) for c in results]
    assert len(contradictions(table, opposite)) / len(pairs) > least


def test_spce_leads_its_ablations_where_the_print_does() -> None:
    """The learned matrix with all its components, theta the best of every measure."""
    table = TABLES["004-kmeans"]
    lines = [c for c in cells(table, kept("004")) if c.method.tuned and c.method.has_rank]
    pairs = [
        (first, second)
        for first, second in ordered_pairs(table, lines)
        if first.method.printed_as == "SPCE" and first.verdict in COMPARABLE
    ]
    assert len(pairs) >= 10
    worse = [np.subtract(second.values, first.values).mean() for first, second in pairs]
    assert max(worse) < 0.01


def test_eccms_leads_the_tuned_lines_as_printed() -> None:
    table = TABLES["003-table4"]
    ranking = order(table, cells(table, kept("003")), "ARI", tuned=True)
    assert ranking.same_order
    assert ranking.tau == 1.0
    assert min(ranking.lines, key=lambda line: line[2])[0] == "EC-CMS, tuned"
    assert len(ranking.data) >= 4
