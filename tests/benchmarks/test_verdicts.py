"""The verdicts of the papers' tables: what is equal, near, better, below or not comparable."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.papers._explanations import also_equal_text, because
from benchmarks.papers._pages import cell_text, digits_of
from benchmarks.papers._printed import Printed
from benchmarks.papers._records import Records
from benchmarks.papers._tables import Table
from benchmarks.papers._verdicts import Values, best_values, cells, judge, reasons
from paper_tables import TABLES, kept, small


def verdict(values, mean, deviation, *, same_draws=True, draws=4, printed_draws=4):
    content = {
        "paper": "none", "data": ["a"], "methods": [{"name": "M", "method": "eac"}],
        "draws": draws, "same_draws": same_draws, "printed_draws": printed_draws,
        "measures": {"ARI": "ARI"},
    }  # fmt: skip
    table = Table("none", content)
    table.__dict__["printed"] = {("a", "M", "ARI"): Printed(mean, deviation, 3)}
    return judge(table, "a", table.methods[0], "ARI", Values(tuple(values)))


def test_equal_needs_the_same_draws_and_the_same_digits() -> None:
    values = [0.4, 0.5, 0.6, 0.5]
    spread = round(float(np.std(values, ddof=1)), 3)
    assert verdict(values, 0.5, spread).verdict == "equal"
    assert verdict(values, 0.5, spread, same_draws=False).verdict == "within"
    assert verdict(values[:3], 0.5, 0.1).verdict == "not comparable"  # a draw is missing
    assert verdict(values[:1], 0.5, 0.1, same_draws=False).verdict == "not comparable"
    assert verdict(values, 0.5, spread + 0.001).verdict == "within"


def test_draws_that_cover_half_of_the_range_decide_nothing() -> None:
    wide = verdict([0.05, 0.8, 0.1, 0.75], 0.9, 0.4, same_draws=False)
    assert (wide.verdict, wide.reason) == (
        "not comparable",
        "the draws differ too much to decide",
    )
    assert verdict([0.5, 0.8, 0.6, 0.75], 0.9, 0.4, same_draws=False).verdict == "within"


def test_within_means_two_standard_errors_of_the_difference() -> None:
    values = [0.4, 0.5, 0.6, 0.5]
    error = np.hypot(np.std(values, ddof=1) / 2, 0.1 / 2)
    inside, outside = 0.5 + 1.9 * error, 0.5 + 2.1 * error
    assert verdict(values, round(inside, 3), 0.1).verdict == "within"
    assert verdict(values, round(outside, 3), 0.1).verdict == "below"
    assert verdict(values, round(1 - outside, 3), 0.1).verdict == "better"
    assert verdict(values, round(outside, 3), 0.1).reason == "no reason has been found"


def test_tuned_values_are_the_best_of_complete_grids(tmp_path) -> None:
    entry = {"name": "M", "method": "spce", "grid": {"theta": [0.1, 0.2]}, "tuned": "set"}
    content = {
        "paper": "none", "data": ["a"], "methods": [entry], "draws": 3,
        "ensembles": {"kind": "pool"}, "measures": {"ARI": "ARI"},
    }  # fmt: skip
    table, records = Table("none", content), Records("none", tmp_path)
    method = table.methods[0]
    values = {0.1: [0.1, 0.9, 0.2], 0.2: [0.3, 0.4]}
    for theta, scores in values.items():
        for task, score in zip(table.fits("a", method, {"theta": theta}), scores, strict=False):
            records.add(task, {"ensemble": "not recorded", "ARI": score})
    per_set = best_values(table, records, "a", method, "ARI")
    assert (per_set.values, per_set.parameters) == ((0.1, 0.9), {"theta": 0.1})
    assert per_set.others == (({"theta": 0.2}, (0.3, 0.4)),)  # the third draw lacks a combination
    per_draw = dataclasses.replace(method, tuned="draw")
    assert best_values(table, records, "a", per_draw, "ARI").values == (0.3, 0.9)


def test_fewer_draws_than_the_paper_has_are_not_comparable() -> None:
    """A quick run and `--draws` make fewer draws; LWEA on aggregation once was "better" there."""
    whole = small("003-table4", ["aggregation"], 20, ["LWEA"])
    assert [cell.verdict for cell in cells(whole, kept("003"))] == ["equal"]
    few = small("003-table4", ["aggregation"], 5, ["LWEA"])
    (cell,) = cells(few, kept("003"))
    assert len(cell.values) == few.draws == 5
    assert cell.verdict == "not comparable"
    assert cell.mean > cell.printed.mean + 0.05


def two_measures(tmp_path, tuned: str, **content) -> tuple[Table, Records]:
    """Return a table whose best parameters differ between its two measures."""
    entry = {"name": "M", "method": "spce", "grid": {"theta": [0.1, 0.2]}, "tuned": tuned}
    content |= {
        "paper": "none", "data": ["a"], "methods": [entry], "draws": 2,
        "ensembles": {"kind": "pool"}, "measures": {"ARI": "ARI", "F-score": "F"},
    }  # fmt: skip
    table, records = Table("none", content), Records("none", tmp_path)
    values = {0.1: [(0.9, 0.2), (0.1, 0.3)], 0.2: [(0.4, 0.6), (0.5, 0.7)]}
    for theta, scores in values.items():
        tasks = table.fits("a", table.methods[0], {"theta": theta})
        for task, (ari, f) in zip(tasks, scores, strict=True):
            records.add(task, {"ensemble": "not recorded", "ARI": ari, "F": f})
    return table, records


def test_tuned_parameters_are_chosen_once_by_the_first_measure(tmp_path) -> None:
    table, records = two_measures(tmp_path, "set")
    method = table.methods[0]
    for measure, values in {"ARI": (0.9, 0.1), "F-score": (0.2, 0.3)}.items():
        found = best_values(table, records, "a", method, measure)
        assert (found.values, found.parameters) == (values, {"theta": 0.1})
    per_draw = dataclasses.replace(method, tuned="draw")
    assert best_values(table, records, "a", per_draw, "F-score").values == (0.2, 0.7)


def test_a_table_can_choose_for_each_measure_by_itself(tmp_path) -> None:
    table, records = two_measures(tmp_path, "set", chosen_by="each measure")
    found = best_values(table, records, "a", table.methods[0], "F-score")
    assert (found.values, found.parameters) == ((0.6, 0.7), {"theta": 0.2})


def test_tuned_cells_of_a_data_set_have_one_parameter() -> None:
    table = TABLES["003-table6"]
    chosen: dict[str, set[tuple[float, float]]] = {}
    for cell in cells(table, kept("003")):
        if cell.method.tuned:
            pair = cell.parameters["alpha"], cell.parameters["lam"]
            chosen.setdefault(cell.data, set()).add(pair)
    assert set(chosen) == set(table.data)
    assert {len(pairs) for pairs in chosen.values()} == {1}


def test_points_of_the_grid_with_the_printed_digits_are_named() -> None:
    """On caltech20 the printed theta is not the best one of the same draws."""
    (cell,) = cells(small("003-table4", ["caltech20"], 20, ["SPCE, tuned"]), kept("003"))
    assert cell.verdict == "within"
    assert cell.also_equal == ({"theta": 0.2},)
    text = also_equal_text([cell])
    assert text.endswith('caltech20 ("SPCE, tuned") at theta = 0.2 in ARI.')
    results = cells(small("003-table6", ["spf"], 20, ["EC-CMS, tuned"]), kept("003"))
    point = "alpha = 0.75, lam = 0.01 in ARI, NMI, F-score"
    assert f'spf ("EC-CMS, tuned") at {point}' in also_equal_text(results)
    assert also_equal_text([dataclasses.replace(cell, also_equal=())]) == ""


def test_a_best_point_with_the_printed_digits_needs_no_other() -> None:
    results = cells(small("003-table4", ["ecoli"], 20, ["SPCE, tuned"]), kept("003"))
    assert [cell.verdict for cell in results] == ["equal"]
    assert also_equal_text(results) == ""


def test_a_reason_that_is_none_has_no_because() -> None:
    assert because("the data are others") == "because the data are others"
    for text in ("not tested; these are the defaults", "no reason has been found"):
        assert because(text) == text


@pytest.mark.parametrize("paper", sorted({table.paper for table in TABLES.values()}))
def test_every_written_reason_is_that_of_a_cell(paper: str) -> None:
    tables = [t for t in TABLES.values() if t.paper == paper and t.kind in ("table", "matrices")]
    used = {cell.reason for table in tables for cell in cells(table, kept(paper))}
    texts = [entry["because"] for entry in reasons(paper)]
    assert [text for text in texts if not any(text in reason for reason in used)] == []


def test_a_cell_shows_one_draw_and_the_digits_of_its_table() -> None:
    table = small("000-table2", ["iris"], 5, ["SEC"])
    (cell,) = cells(table, kept("000"))
    not_printed = Printed(None, None, 0, "N/A")
    one = dataclasses.replace(cell, values=(73.343,), printed=not_printed, verdict="not printed")
    assert digits_of(table, one) == 2
    assert cell_text(table, one).replace("\u00a0", " ") == "73.34 [1 draw] (N/A)"
    two = dataclasses.replace(one, values=(73.343, 73.343))
    assert "[2 draws]" in cell_text(table, two).replace("\u00a0", " ")
