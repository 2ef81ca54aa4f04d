"""Records of the papers' tables: none too many, the time of what is left, and the overview."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from benchmarks.papers import _generation, _run
from benchmarks.papers.__main__ import asked_tasks
from benchmarks.papers._data_page import data_page, known_sets
from benchmarks.papers._expect import ensemble_of, hours
from benchmarks.papers._index import records_text
from benchmarks.papers._records import Records, missing
from benchmarks.papers._run import expectation, expected_work, run
from benchmarks.papers._tables import HERE, Task
from paper_tables import TABLES, kept, small


@pytest.fixture(scope="module")
def expected():
    return expectation()


@pytest.mark.parametrize("paper", sorted({table.paper for table in TABLES.values()}))
def test_every_record_is_asked_for_by_a_table(paper: str) -> None:
    asked = {task.cell for task in asked_tasks()[paper]}
    lost = {record["method"] for cell, record in kept(paper).by_cell.items() if cell not in asked}
    assert lost == set(), "run python -m benchmarks.papers prune"
    used = {r[name] for r in kept(paper).by_cell.values() for name in ("recipe", "versions")}
    assert set(kept(paper).about) == used


def test_records_that_no_table_asks_for_are_deleted(tmp_path) -> None:
    records = Records("none", tmp_path)
    tasks = [Task("none", "a", recipe, 0, "sec", "{}", 0) for recipe in ('{"m":1}', '{"m":2}')]
    for task in tasks:
        records.add(task, {"ensemble": "features", "ARI": 0.5})
    text = records.path.read_text()
    records.path.write_text(text + text.splitlines()[-1][:30])  # a run was stopped inside a line
    assert records.prune(tasks) == 0
    assert Records("none", tmp_path).prune(tasks[:1]) == 1
    again = Records("none", tmp_path)
    assert list(again.by_cell) == [tasks[0].cell]
    recipes = [about["recipe"] for about in again.about.values() if "recipe" in about]
    assert recipes == [{"m": 1}]
    assert len(again.path.read_text().splitlines()) == 3  # recipe, versions, record


def test_hours_contain_base_partitions_once_per_draw(expected, monkeypatch) -> None:
    table = small("002-table3", ["la12"], 2, ["SEC", "CCC"])
    tasks = table.tasks()
    fits = sum(expected.seconds(task) for task in tasks)
    (entry,) = (one for one in _generation.timed() if one["data"] == "la12")
    assert entry["n_partitions"] == 100
    ensembles = 2 * 100 * entry["seconds"]
    assert hours(tasks, expected) == pytest.approx((fits + ensembles) / 3600)
    assert ensembles > fits  # sparse text: most of the time
    pools = small("003-table4", ["ecoli"], 2, ["LWEA"]).tasks()
    assert [expected.ensemble_seconds(task) for task in pools] == [0.0, 0.0]


def test_partitions_that_were_not_timed_are_extrapolated(expected, monkeypatch) -> None:
    entry = {"generator": "random_k", "data": "a", "recipe": "", "n_samples": 100}
    entries = [entry | {"n_partitions": 10, "seconds": 2.0}]
    entries.append(entry | {"generator": _generation.SLOW, "n_partitions": 9, "seconds": 2.0})
    monkeypatch.setattr(_generation, "timed", lambda: entries)
    recipe = {"kind": "generator", "generator": "random_k", "n_partitions": 5}
    task = Task("none", "b", json.dumps(recipe), 0, "sec", "{}", 0)
    assert _generation.ensemble_seconds(task, 200) == pytest.approx(5 * 4.0)
    slow = Task("none", "b", json.dumps({"kind": "generator", "generator": _generation.SLOW}), 0,
                "sec", "{}", 0)  # fmt: skip
    assert _generation.ensemble_seconds(slow, 200) == pytest.approx(9 * 16.0)
    other = recipe | {"generator": "random_rows"}
    assert _generation.ensemble_seconds(Task("none", "b", json.dumps(other), 0, "", "", 0), 9) == 0


def test_base_partitions_are_timed_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_generation, "PATH", tmp_path / "partitions.json")
    _generation.timed.cache_clear()
    tasks = small("002-table3", ["iris"], 2, ["SEC", "CCC"]).tasks()
    (line,) = _generation.time_partitions(tasks)
    assert line.startswith("iris, random_k: ")
    (entry,) = _generation.timed()
    assert entry["seconds"] > 0
    assert (entry["n_samples"], entry["n_partitions"]) == (150, 100)
    assert list(_generation.time_partitions(tasks)) == []
    assert _generation.ensemble_seconds(tasks[0], 150) == 100 * entry["seconds"]
    _generation.timed.cache_clear()


def test_every_recipe_of_what_is_left_has_a_time(expected) -> None:
    left = [t for p, tasks in asked_tasks().items() for t in missing(tasks, {p: kept(p)})]
    made = [t for t in left if '"kind":"generator"' in t.recipe and not ensemble_of(t)[3]]
    assert made
    no_time = {(t.data, t.recipe) for t in made if expected.ensemble_seconds(t) == 0}
    assert no_time == set(), "run python -m benchmarks.papers time"


def test_progress_counts_expected_seconds(expected, tmp_path, monkeypatch) -> None:
    """The cheap fits come first; counted as fits they would promise too early an end."""
    shown = []

    class Watched(_run.Progress):
        def add_task(self, description, **options):
            shown.append(options)
            return super().add_task(description, **options)

        def update(self, bar, **options):
            shown.append(options)
            super().update(bar, **options)

    monkeypatch.setattr(_run, "Progress", Watched)
    monkeypatch.setattr("benchmarks.papers._ensembles.STORE", tmp_path / "ensembles")
    table = small("002-table3", ["iris"], 1, ["SEC", "HCC average", "CSPA"])
    tasks = sorted(table.tasks(), key=expected.seconds)
    work = expected_work(tasks, expected)
    assert work[tasks[0]] > expected.seconds(tasks[0])  # it makes the base partitions
    assert [work[task] for task in tasks[1:]] == [expected.seconds(task) for task in tasks[1:]]
    monkeypatch.setattr(_run, "expectation", lambda folder: expected)
    assert run(table, folder=tmp_path) == {}
    start, *steps = shown
    assert start["total"] == pytest.approx(sum(work.values()))
    assert [step["advance"] for step in steps] == [work[task] for task in tasks]
    assert [step["done"] for step in steps] == [1, 2, 3]
    assert start["fits"] == 3


def test_the_overview_says_what_records_lack() -> None:
    papers = sorted({table.paper for table in TABLES.values()})
    text = records_text({paper: kept(paper) for paper in papers})
    every = [(kept(p), record) for p in papers for record in kept(p).by_cell.values()]
    made_with = [some.about[record["versions"]]["versions"] for some, record in every]
    no_machine = sum("machine" not in versions for versions in made_with)
    assert f"There are {len(every)} records. {no_machine} of them do not say" in text
    no_python = sum("python" not in versions for versions in made_with)
    assert 0 < no_python < no_machine
    assert f"{no_python} of these do not say the versions of Python" in text


def test_every_file_has_a_source() -> None:
    sets = known_sets()
    text = data_page("")
    for name, facts in sets.items():
        assert (f"| {name} | {facts['n_samples']} | " in text) == ("sha256" in facts), name
    notes = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))["notes"]
    assert set(notes) <= set(sets)


def test_printed_tables_come_first_and_in_the_order_of_the_paper() -> None:
    tables = [table for table in TABLES.values() if table.paper == "003"]
    titles = [table.title for table in tables]
    is_figure = [table.kind != "table" for table in tables]
    assert is_figure == sorted(is_figure)
    assert [title.split(":")[0] for title in titles[:7]] == [
        f"Table {number}" for number in ("III", "IV", "V", "VI", "VII", "VIII", "IX")
    ]
    keys = list(TABLES)
    assert keys.index("002-table3") < keys.index("002-table3-seconds") < keys.index("002-table5")
    papers = [table.paper for table in TABLES.values()]
    assert np.all(np.diff([int(paper) for paper in papers]) >= 0)
