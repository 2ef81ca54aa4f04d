"""The harness of the papers' tables: its records, its verdicts, and a quick run of some fits."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.papers import (
    _ensembles,
    _pages,
    arithmetic,
    processor_features,
)
from benchmarks.papers.__main__ import main
from benchmarks.papers._baselines import BANDWIDTHS, SciPyEAC, Spectral, spectral_partitions
from benchmarks.papers._expect import by_size, hours
from benchmarks.papers._explanations import equal_text
from benchmarks.papers._fit import fit_task, matrix_scores, value_scores
from benchmarks.papers._orders import (
    contradictions,
    ordered_pairs,
)
from benchmarks.papers._pages import pages
from benchmarks.papers._records import Records, missing
from benchmarks.papers._run import expectation, run, unavailable
from benchmarks.papers._tables import Table, Task, canonical
from benchmarks.papers._verdicts import cells, reasons
from paper_tables import ROOT, TABLES, kept, small
from sklearn.metrics import adjusted_rand_score

from partita import EAC, SPCE
from partita.datasets import Dataset
from partita.exceptions import PartitaWarning
from partita.generators import SpectralBandwidths

each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Keep generated ensembles of a test apart."""
    monkeypatch.setattr(_ensembles, "STORE", tmp_path / "ensembles")
    return tmp_path / "ensembles"


@pytest.fixture(scope="module")
def texts():
    """Return the pages that the records give."""
    return pages()


@pytest.fixture(scope="module")
def expected():
    """Return the expected seconds of fits by the records."""
    return expectation()


# -- files -----------------------------------------------------------------------------------------


@each_table
def test_every_method_of_a_table_can_be_compared(table: Table) -> None:
    printed = {(data, method) for data, method, _ in table.printed}
    for method in table.methods:
        assert method.absent or method.key
        if printed and table.kind == "table" and not method.absent:
            assert any(method.printed_as == name for _, name in printed), method.name


@each_table
def test_rows_are_printed_or_missing_for_a_reason(table: Table) -> None:
    rows = {data for data, _, _ in table.printed}
    kept_apart = {"lung"} if table.content.get("printed") == "004-kmeans" else set()
    if table.key == "004-lung" or table.kind != "table":  # a figure may show a part
        return
    assert rows - set(table.data) - set(table.missing) - kept_apart - {"lung"} == set()


@each_table
def test_reasons_name_cells_that_exist(table: Table) -> None:
    names = {method.name for method in table.methods}
    for entry in reasons(table.paper):
        assert entry["because"]
        for key in entry.get("tables", []):
            assert key in TABLES
        if table.key in entry.get("tables", []) and "methods" in entry:
            assert names & set(entry["methods"]), entry


@each_table
def test_a_quick_run_takes_less_than_five_minutes(table: Table, expected) -> None:
    """By the seconds of the records, not by those of this machine."""
    quick = table.limited(quick=True, data=None, draws=None)
    assert quick.tasks()
    assert not any(method.tuned for method in quick.methods)
    assert hours(quick.tasks(), expected) < 5 / 60


def test_pages_are_what_the_records_say(texts) -> None:
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, "run python -m benchmarks.papers report"


# -- records ---------------------------------------------------------------------------------------


def test_spce_has_the_printed_accuracy_on_the_authors_partitions_of_lung() -> None:
    table = small("004-lung", ["lung"], 10, ["SPCE, tuned"])
    verdicts = {cell.measure: cell.verdict for cell in cells(table, kept("004"))}
    assert verdicts == {"ACC": "equal", "NMI": "within", "ARI": "within"}


def test_spce_has_the_printed_values_if_all_components_count() -> None:
    lines = ["SPCE, tuned", "SPCE, all components, tuned"]
    data = ["glioma", "warpar10p", "tox171", "medical"]
    table = small("004-kmeans", data, 10, lines)
    results = cells(table, kept("004"))
    verdicts = {line: [c.verdict for c in results if c.method.name == line] for line in lines}
    assert verdicts[lines[0]].count("below") == 7
    assert verdicts[lines[1]] == ["within"] * 12


def test_scaled_features_give_the_printed_line_of_base_partitions() -> None:
    """Rows of length 1 on glioma and umist, columns of deviation 1 on ar."""
    table = small("004-kmeans", ["glioma", "umist", "ar"], 10, ["KM"])
    assert [cell.verdict for cell in cells(table, kept("004"))] == ["within"] * 9


@pytest.mark.parametrize(("key", "n_cells"), [("003-table4", 16), ("003-table5", 12)])
def test_mean_deviation_and_best_of_all_candidates_are_as_printed(key: str, n_cells: int) -> None:
    lines = ["Base clusterings (average)", "Base clusterings (best)"]
    results = cells(small(key, TABLES[key].data, 100, lines), kept("003"))
    assert [cell.verdict for cell in results] == ["equal"] * n_cells
    fewer = cells(small(key, TABLES[key].data, 99, lines[:1]), kept("003"))
    assert {cell.verdict for cell in fewer} == {"not comparable"}


def test_a_line_has_its_own_draws_and_ensembles() -> None:
    table = TABLES["003-table4"]
    average, best, other = table.methods[:3]
    assert [table.draws_of(method, "ecoli") for method in (average, best, other)] == [100, 1, 20]
    assert len(table.fits("ecoli", average, {})) == 100
    recipe = json.loads(table.fits("ecoli", best, {})[0].recipe)
    assert recipe == {"kind": "pool", "n_partitions": 100}
    fewer = table.limited(quick=False, data=None, draws=5)
    assert [fewer.draws_of(method, "ecoli") for method in fewer.methods[:3]] == [5, 1, 5]


def test_one_random_start_gives_the_printed_line_of_kc() -> None:
    table = small("001-table2", ["jaffe", "orl"], 10, ["KC", "KC, one random start"])
    verdicts = [(c.method.name, c.verdict) for c in cells(table, kept("001"))]
    assert sorted(verdicts) == [("KC", "better")] * 4 + [("KC, one random start", "within")] * 4


@pytest.mark.parametrize(("key", "measure"), [("000-table2", "ACC"), ("000-table3", "NMI")])
def test_clustering_of_the_features_alone_has_the_printed_digits(key: str, measure: str) -> None:
    table = small(key, ["iris", "ionosphere"], 5, ["spectral"])
    for cell in cells(table, kept("000")):
        assert cell.printed is not None
        assert f"{cell.mean:.2f}" == f"{cell.printed.mean:.2f}"


@pytest.mark.shared
def test_a_pool_without_a_seed_is_read_in_the_order_of_the_file() -> None:
    pool = _ensembles.read("ecoli", "pool").partitions
    drawn = _ensembles.draw_ensemble("ecoli", canonical({"kind": "pool", "n_partitions": 3}), 2)
    assert np.array_equal(drawn.partitions, pool[:, 6:9])


def test_an_override_with_a_kind_is_a_whole_recipe() -> None:
    assert TABLES["004-table9"].recipe("lung") == TABLES["004-lung"].recipe("lung")
    assert json.loads(TABLES["004-table9"].recipe("glioma"))["scale"] == "rows"


def test_spectral_clustering_finds_rings_and_does_not_depend_on_units() -> None:
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = np.vstack([ring, 4 * ring]), np.repeat([0, 1], 60)
    for unit in (1.0, 1000.0):
        labels = Spectral(2, width=0.2, random_state=0).fit(unit * X).labels_
        assert adjusted_rand_score(y, labels) == 1.0


BLOBS = np.random.default_rng(0).normal(size=(60, 5)) + 12 * np.repeat(np.eye(3, 5), 20, axis=0)


def test_spectral_partitions_are_those_of_the_generator_unless_asked_otherwise() -> None:
    ours = spectral_partitions(BLOBS, n_clusters=4, draw=0)  # four clusters cut a blob
    theirs = SpectralBandwidths(4, random_state=0).fit_transform(BLOBS)
    agreement = [adjusted_rand_score(a, b) for a, b in zip(ours.T, theirs.T, strict=True)]
    assert ours.shape == (60, len(BANDWIDTHS))
    assert np.mean(agreement[2:]) > 0.95  # narrower kernels are the identity up to rounding


@pytest.mark.parametrize(
    "change",
    [{"kernel": "distance"}, {"diagonal": False}, {"normalized": False}, {"unit_rows": False}],
)
def test_variants_of_spectral_partitions_find_clusters(change: dict[str, object]) -> None:
    y = np.repeat([0, 1, 2], 20)
    usual = spectral_partitions(BLOBS, n_clusters=4, draw=0)
    changed = spectral_partitions(BLOBS, n_clusters=4, draw=0, **change)
    assert not np.array_equal(usual, changed)
    three = spectral_partitions(BLOBS, n_clusters=3, draw=0, **change)
    assert [adjusted_rand_score(y, three[:, i]) for i in (4, 5)] == [1.0, 1.0]


def test_scipy_and_our_linkage_agree_without_ties() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    noise = rng.random((60, 25)) < 0.3
    partitions = np.where(noise, rng.integers(0, 3, (60, 25)), y[:, None])
    ours, theirs = EAC(3).fit(partitions), SciPyEAC(3, random_state=0).fit(partitions)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert adjusted_rand_score(y, theirs.labels_) > 0.9


def test_a_fit_can_start_at_the_true_classes(store) -> None:
    recipe = {"kind": "generator", "generator": "random_k", "n_partitions": 20, "k_min": "K"}
    task = Task("002", "iris", canonical(recipe), 0, "sec", '{"init":"classes"}', 0)
    started, free = fit_task(task), fit_task(dataclasses.replace(task, parameters="{}"))
    assert started["objective"] >= free["objective"] - 1e-9
    assert started["ARI"] != free["ARI"]


def test_pseudo_views_are_random_halves_of_each_view() -> None:
    views = (np.arange(40.0).reshape(4, 10), 100 + np.arange(12.0).reshape(4, 3))
    halves = _ensembles.pseudo_views(views, 5, draw=3)
    assert [half.shape for half in halves] == [(4, 5)] * 5 + [(4, 2)] * 5
    assert all(np.isin(half[0], views[i // 5][0]).all() for i, half in enumerate(halves))
    assert len({tuple(half[0]) for half in halves[:5]}) > 1
    assert _ensembles.pseudo_views(views, 0, draw=3) is views


def test_components_of_the_learned_matrix_take_the_place_of_labels(store) -> None:
    recipe = {"kind": "generator", "generator": "random_starts", "n_partitions": 10}
    task = Task("004", "iris", canonical(recipe | {"n_clusters": "2K"}), 0, "", "{}", 0)
    task = dataclasses.replace(task, key="components.spce", parameters='{"theta":0.9}')
    drawn = _ensembles.draw_ensemble("iris", task.recipe, 0)
    with pytest.warns(PartitaWarning, match="connected components"):
        method = SPCE(3, theta=0.9).fit(drawn.partitions)
    result = fit_task(task)
    assert result["n_clusters"] == method.n_components_ > 3
    assert result["ARI"] != adjusted_rand_score(drawn.y, method.labels_)


def test_the_index_counts_every_fit_that_was_not_run_once(texts, expected) -> None:
    left = {
        task
        for table in TABLES.values()
        for task in missing(table.tasks(), {table.paper: kept(table.paper)})
    }
    text = next(text for path, text in texts.items() if path.name == "index.md")
    assert f"figures {len(left)} fits have no record" in text
    numbers = [
        line.split(" | ")[2]
        for line in text.split("| methods |")[1].splitlines()[2:-1]
        if "|" in line
    ]
    assert sum(map(int, numbers)) == len(left)
    small, large = by_size(left, expected).values()
    assert f"These are {len(small)} fits" in text
    assert f" h, on data sets of up to 3000 samples and {len(large)} fits" in text


def test_eccms_has_the_printed_values_of_umist_in_table_3() -> None:
    table = small("003-table3", ["umist"], 20, ["gamma1 = gamma2 = 1"])
    assert [cell.verdict for cell in cells(table, kept("003"))] == ["equal"] * 3


@pytest.mark.parametrize("method", ["DREC, tuned", "TRCE, tuned"])
def test_tuned_parameters_give_the_printed_digits_on_ecoli(method: str) -> None:
    table = small("003-table4", ["ecoli"], 20, [method])
    assert [cell.verdict for cell in cells(table, kept("003"))] == ["equal"]


def test_the_precision_of_the_largest_value_is_that_of_unanimous_pairs() -> None:
    """Two partitions of five samples, counted by hand."""
    partitions = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]])
    data = Dataset("five", np.array([0, 0, 0, 1, 1]))
    scores = value_scores(_ensembles.Drawn(data, partitions, ""))
    assert scores["coassociation"] == [0.0, 0.5, 1.0]
    assert scores["share"] == [0.4, 0.4, 0.2]
    assert scores["precision"] == [0.0, 0.5, 1.0]
    assert scores["recall"] == [0.0, 0.5, 0.5]


def test_a_matrix_that_equals_the_classes_has_full_contrast() -> None:
    y = np.array([0, 0, 1, 1, 1])
    assert matrix_scores(y, (y[:, None] == y) * 0.7) == {"contrast": 1.0, "AUC": 1.0}
    assert matrix_scores(y, np.ones((5, 5))) == {"contrast": 0.0, "AUC": 0.5}


@pytest.mark.parametrize("paper", sorted({table.paper for table in TABLES.values()}))
def test_all_methods_of_a_draw_had_the_same_ensemble(paper: str) -> None:
    contents: dict[tuple[str, str, int], set[str]] = {}
    for record in kept(paper).by_cell.values():
        if record["ensemble"] not in ("features", "not recorded"):
            where = record["data"], record["recipe"], record["draw"]
            contents.setdefault(where, set()).add(record["ensemble"])
    assert [where for where, content in contents.items() if len(content) > 1] == []


@pytest.mark.shared
@pytest.mark.first
def test_a_quick_run_repeats_the_records_and_the_printed_order(
    shared, tmp_path, monkeypatch, capsys, compiled_kernels
) -> None:
    """The command of a researcher: three small data sets, five draws, every method."""
    command = ["benchmarks.papers", "run", "003-table4", "--quick", "--records", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    assert main() == 0
    assert "EC-CMS (0.8, 0.4)" in capsys.readouterr().out

    table = TABLES["003-table4"].limited(quick=True, data=None, draws=None)
    assert len(table.data) == 3
    fresh, stored = Records("003", tmp_path), kept("003")
    assert missing(table.tasks(), {"003": fresh}) == []
    repeated = [task for task in table.tasks() if stored.get(task)]
    assert len(repeated) > 150
    for task in repeated:
        assert fresh.get(task)["ARI"] == pytest.approx(stored.get(task)["ARI"], abs=2e-6), task

    results = cells(table, fresh)
    assert len(ordered_pairs(table, results)) > 25
    assert contradictions(table, results) == []
    # the order can be wrong: without the lead of ECPCS-HC it is
    worst = [
        dataclasses.replace(cell, values=(0.0,))
        if cell.method.name == "ECPCS-HC" and cell.data == "ecoli"
        else cell
        for cell in results
    ]
    assert ("ecoli", "ECPCS-HC", "LWEA") in contradictions(table, worst)


def test_without_a_folder_the_sets_of_scikit_learn_are_run(tmp_path, store, monkeypatch) -> None:
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    table = small("002-table3", ["iris", "tr12"], 1, ["SEC", "HCC average"])
    assert list(unavailable(table)) == ["tr12"]
    assert "has no tr12.npz" in unavailable(table)["tr12"]
    assert run(table, folder=tmp_path) == {}
    results = {cell.method.name: cell.mean for cell in cells(table, Records("002", tmp_path))}
    assert set(results) == {"SEC", "HCC average"}
    assert min(results.values()) > 0.5
    assert len(list(store.glob("*.npz"))) == 1  # both methods had the same ensemble
    _ensembles.read.cache_clear()


def test_a_damaged_file_is_listed_and_left_out(tmp_path, store, monkeypatch) -> None:
    (tmp_path / "iris.npz").write_bytes(b"no archive")
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    table = small("002-table3", ["iris"], 1, ["SEC"])
    assert "iris.npz has the SHA-256 checksum" in unavailable(table)["iris"]
    assert run(table, folder=tmp_path) == {}
    assert cells(table, Records("002", tmp_path)) == []
    _ensembles.read.cache_clear()


def test_features_are_scaled_as_the_recipe_says() -> None:
    X = np.array([[3.0, 4.0, 1.0], [6.0, 8.0, 1.0], [0.0, 3.0, 1.0]])
    rows = _ensembles.features(X, {"scale": "rows"})
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    np.testing.assert_allclose(rows[0] / rows[0, 0], X[0] / X[0, 0])
    columns = _ensembles.features(X, {"scale": "columns"})
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(columns.std(axis=0), [1.0, 1.0, 0.0])  # a constant column stays
    assert _ensembles.features(X, {}) is X
    with pytest.raises(ValueError, match="not 'both'"):
        _ensembles.features(X, {"scale": "both"})


def test_columns_are_left_out_as_the_recipe_says() -> None:
    whole = _ensembles.read_clipped("wine", {"kind": "generator"}).X
    part = _ensembles.read_clipped("wine", {"kind": "generator", "without": [12]}).X
    np.testing.assert_array_equal(part, whole[:, :12])
    assert whole.shape == (178, 13)


def test_a_figure_has_fewer_draws_of_the_data_sets_that_it_names() -> None:
    table = TABLES["003-figure2"]
    counts = {
        data: {len(point.fits(data, line, line.grid[0])) for _, point in table.points()}
        for data in table.data
        for line in table.methods
    }
    assert counts["ecoli"] == counts["caltech20"] == {5}
    assert counts["fct"] == counts["ls"] == {1}
    fewer = table.limited(quick=False, data=None, draws=2)
    assert [fewer.draws_of(table.methods[0], data) for data in ("ecoli", "fct")] == [2, 1]


def test_a_run_continues_where_it_was_stopped(tmp_path, store, monkeypatch) -> None:
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    table = small("002-table3", ["iris"], 2, ["SEC"])
    run(table, folder=tmp_path)
    path = tmp_path / "002.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:40])  # stopped inside a line
    left = missing(table.tasks(), {"002": Records("002", tmp_path)})
    assert [task.draw for task in left] == [1]
    run(table, folder=tmp_path)
    assert missing(table.tasks(), {"002": Records("002", tmp_path)}) == []
    again = Records("002", tmp_path).get(left[0])
    old = json.loads(lines[-1])
    for name in ("seconds", "cpu_seconds"):
        old.pop(name), again.pop(name)
    assert again == old
    _ensembles.read.cache_clear()


def test_every_processor_with_avx2_uses_the_same_arithmetic() -> None:
    for machine in ("x86_64", "AMD64"):
        assert arithmetic(machine, {"sse2", "avx2"}) == {"OPENBLAS_CORETYPE": "Haswell"}
    chosen = arithmetic("x86_64", {"avx2", "avx512f"})
    assert chosen["OPENBLAS_CORETYPE"] == "Haswell"
    assert "AVX512F" in chosen["NPY_DISABLE_CPU_FEATURES"].split()
    assert arithmetic("x86_64", {"sse2"}) == arithmetic("aarch64", {"avx2"}) == {}


@pytest.mark.skipif(
    not arithmetic(platform.machine(), processor_features()), reason="needs x86-64 with AVX2"
)
@pytest.mark.parametrize("first", ["benchmarks.papers", "numpy"])
def test_the_arithmetic_is_chosen_before_numpy_is_loaded(first: str) -> None:
    script = (
        f"import os, {first}, benchmarks.papers; print(os.environ.get('OPENBLAS_CORETYPE', ''))"
    )
    environment = {n: v for n, v in os.environ.items() if n != "OPENBLAS_CORETYPE"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ("Haswell" if first == "benchmarks.papers" else "")


def test_a_draw_with_other_partitions_than_on_record_is_left(tmp_path, store, monkeypatch) -> None:
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    run(small("002-table3", ["iris"], 1, ["SEC"]), folder=tmp_path)
    path = tmp_path / "002.jsonl"
    (record,) = Records("002", tmp_path).by_cell.values()
    text = path.read_text()
    path.write_text(text.replace(record["ensemble"], "of another machine"))
    both = small("002-table3", ["iris"], 2, ["SEC", "CCC", "HCC average"])
    failures = run(both, folder=tmp_path)
    assert len(failures) == 1  # the first of two methods; the second is not tried
    assert "other partitions here than in the records" in str(*failures.values())
    left = missing(both.tasks(), {"002": Records("002", tmp_path)})
    assert [task.draw for task in left] == [0, 0]
    _ensembles.read.cache_clear()


def test_tasks_are_parted_at_3000_samples(expected) -> None:
    tasks = TABLES["002-table3"].tasks()
    small, large = by_size(tasks, expected).values()
    assert len(small) + len(large) == len(tasks)
    assert {"iris", "tr11"} <= {task.data for task in small}
    assert {"letter", "mnist"} <= {task.data for task in large}


def test_the_list_is_printed(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.papers", "list"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert [key for key in TABLES if key not in printed] == []


def test_the_report_names_pages_that_are_out_of_date(texts, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.papers", "report", "--check"])
    monkeypatch.setattr(_pages, "pages", lambda: texts)
    assert main() == 0
    assert capsys.readouterr().out == ""
    changed = next(path for path in texts if path.name == "index.md")
    monkeypatch.setattr(_pages, "pages", lambda: texts | {changed: "no page"})
    assert main() == 1
    assert capsys.readouterr().out.startswith("docs/papers/index.md is out of date")


def test_lwea_has_the_printed_digits_in_all_cells_of_the_first_line_of_table_8(texts) -> None:
    table = small("003-table8", TABLES["003-table8"].data, 20, ["w/o Laplacian term (LWEA)"])
    results = cells(table, kept("003"))
    assert [cell.verdict for cell in results] == ["equal"] * 24
    sentence = "The printed digits on the same draws: w/o Laplacian term (LWEA) in 24 of 24 cells"
    assert equal_text(results) == f"{sentence}."
    text = next(text for path, text in texts.items() if path.name == "003-ec-cms.md")
    assert sentence in text
