"""The figures of the papers: what is drawn, the tables beside the pictures, and their notes."""

from __future__ import annotations

import itertools
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.papers import _ensembles, _figures  # noqa: E402
from benchmarks.papers._figure_text import bar_table, figure_tables, number, value_text  # noqa: E402
from benchmarks.papers._figures import draw, draw_figures  # noqa: E402
from benchmarks.papers._fit import fit_task, matrix_scores  # noqa: E402
from benchmarks.papers._records import Records  # noqa: E402
from benchmarks.papers._run import unavailable  # noqa: E402
from benchmarks.papers._series import Point, series  # noqa: E402
from benchmarks.papers._tables import Table, Task, canonical, read_tables  # noqa: E402

from partita.matrices import locally_weighted_coassociation  # noqa: E402

TABLES = read_tables()
FIGURES = {k: table for k, table in TABLES.items() if table.kind not in ("table", "matrices")}
each_figure = pytest.mark.parametrize("table", FIGURES.values(), ids=FIGURES)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Keep generated ensembles of a test apart."""
    monkeypatch.setattr(_ensembles, "STORE", tmp_path / "ensembles")
    return tmp_path / "ensembles"


@cache
def kept(paper: str) -> Records:
    """Return the records of the repository, which tests only read."""
    return Records(paper)


@cache
def drawn(key: str) -> Figure:
    """Return a figure on its canvas, where texts have places."""
    figure = draw(TABLES[key], kept(TABLES[key].paper))
    FigureCanvasAgg(figure).draw()
    return figure


def test_figures_are_drawn_from_the_records() -> None:
    table = TABLES["004-figure3"]
    figure = draw(table, kept("004"))
    titles = [(axis.get_title(), axis.get_ylabel()) for axis in figure.axes]
    assert titles == [(data, measure) for measure in ("ACC", "NMI") for data in table.data]
    lines = [container.lines[0] for container in figure.axes[5].containers]
    assert [list(line.get_xdata()) for line in lines] == [table.content["x"]["values"]] * 2
    at = dict(table.points())[(0.2,)]
    tasks = at.fits("lung", table.methods[0], {})
    expected = np.mean([kept("004").get(task)["NMI_max"] for task in tasks])
    assert lines[0].get_ydata()[2] == pytest.approx(expected)


@each_figure
def test_the_legend_of_a_figure_covers_no_panel(table: Table) -> None:
    figure = drawn(table.key)
    assert [axis.get_legend() for axis in figure.axes] == [None] * len(figure.axes)
    names = {name for axis in figure.axes for name in axis.get_legend_handles_labels()[1]}
    if len(names) < 2:
        assert not figure.legends
        return
    [legend] = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == names
    box = legend.get_window_extent()
    assert not any(box.overlaps(axis.get_tightbbox()) for axis in figure.axes if axis.axison)
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


@each_figure
def test_the_ticks_of_a_figure_can_be_read(table: Table) -> None:
    figure = drawn(table.key)
    for axis in figure.axes:
        labels = [label for label in axis.get_xticklabels(which="both") if label.get_text()]
        boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes)), axis.get_title()


def test_only_the_named_measures_have_a_logarithmic_axis() -> None:
    figure = draw(TABLES["003-time"], kept("003"))
    scales = {axis.get_ylabel(): axis.get_yscale() for axis in figure.axes}
    assert scales == {"seconds": "log", "ARI": "linear"}


def test_a_constant_line_has_the_same_fits_at_every_point() -> None:
    table = TABLES["003-figure2"]
    eccms, lwea = table.methods
    points = [point for _, point in table.points()]
    assert len({tuple(point.fits("ecoli", eccms, eccms.grid[0])) for point in points}) == 6
    assert len({tuple(point.fits("ecoli", lwea, {})) for point in points}) == 1
    content = series(table, kept("003"))
    assert len({point.mean for point in content["ecoli", "LWEA", "ARI"]}) == 1
    figure = draw(table, kept("003"))
    styles = [line.get_linestyle() for line in figure.axes[0].get_lines()]
    assert styles == ["-", "--"]


def test_a_line_can_have_ensembles_of_its_own() -> None:
    table = TABLES["002-figure3"]
    line = next(method for method in table.methods if method.name == "k-means")
    [recipe] = {task.recipe for _, point in table.points() for task in point.fits("mm", line, {})}
    assert json.loads(recipe)["ratio"] == 1.0
    assert json.loads(recipe)["k_max"] == "K"
    assert json.loads(recipe)["metric"] == "cosine"


def test_an_override_of_another_kind_stands_alone() -> None:
    """The records of the authors' subsets of Lung belong to its table and to three figures."""
    tables = [TABLES[key] for key in ("004-lung", "004-figure2", "004-figure3", "004-ablation")]
    assert {table.recipe("lung") for table in tables} == {'{"kind":"subsets","n_partitions":20}'}


def test_bars_stand_beside_the_printed_values() -> None:
    table = TABLES["003-ablation"]
    figure = draw(table, kept("003"))
    heights = [bar.get_height() for bar in figure.axes[0].containers[1]]
    content = series(table, kept("003"))
    line = table.methods[0]
    expected = [content[data, line.name, "ARI"][0].mean for data in table.data]
    assert heights == pytest.approx(expected)
    marks = next(m for m in figure.axes[0].get_lines() if m.get_label() == "printed")
    printed = [table.printed[data, line.printed_as, "ARI"].mean for data in table.data]
    assert list(marks.get_ydata()) == printed
    text = bar_table(table, "ARI", content).replace("\N{NO-BREAK SPACE}", " ")
    assert f"| {line.name} | {expected[0]:.3f} ± " in text
    assert f"({printed[0]:.3f}" in text


def test_a_figure_without_data_or_records_says_so(tmp_path, monkeypatch) -> None:
    chosen = {key: TABLES[key] for key in ("003-figure4", "004-figure1", "004-figure3")}
    nothing = Table("004-figure0", chosen["004-figure3"].content | {"data": ["yale"]})
    monkeypatch.setattr(_figures, "read_tables", lambda: chosen | {"004-figure0": nothing})
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    lines = list(draw_figures(tmp_path / "images"))
    _ensembles.read.cache_clear()
    assert [line.split(".")[0] for line in lines] == [
        "003-figure4 is not drawn",
        "004-figure1 is not drawn",
        "004-figure3",
        "004-figure0 is not drawn",
    ]
    assert "has no pool_aggregation.npz" in lines[0]
    assert "has no k1b.npz" in lines[1]
    assert lines[3].endswith("No records.")
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["004-figure3.png"]


def test_data_sets_of_two_kinds_are_sought_where_each_kind_is(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    _ensembles.read.cache_clear()
    reasons = unavailable(TABLES["004-figure3"])
    _ensembles.read.cache_clear()
    assert "has no spce_author_table.npz" in reasons["lung"]
    assert "has no ar.npz" in reasons["ar"]


def test_a_heat_map_has_one_image_per_data_set_and_measure() -> None:
    table = TABLES["001-figure1"]
    figure = draw(table, kept("001"))
    images = [axis.images[0].get_array() for axis in figure.axes if axis.images]
    assert len(images) == len(table.data) * len(table.measures)
    shape = len(table.content["y"]["values"]), len(table.content["x"]["values"])
    assert {image.shape for image in images} == {shape}
    # one parameter down the rows, the other along the columns, as the records say
    x, y = table.content["x"]["values"][1], table.content["y"]["values"][2]
    tasks = table.fits("jaffe", table.methods[0], {"lambda1": x, "lambda2": y})
    expected = np.mean([kept("001").get(task)["ACC"] for task in tasks])
    assert images[0][2, 1] == pytest.approx(expected)


def test_a_curve_is_the_course_of_one_record() -> None:
    table = TABLES["000-figure3"]
    figure = draw(table, kept("000"))
    record = kept("000").get(table.fits("iris", table.methods[0], {})[0])
    drawn = figure.axes[0].get_lines()[0]
    assert list(drawn.get_ydata()) == record["history"]
    assert len(record["history"]) == record["n_iter"]
    assert record["history"][-1] < 1e-3 * record["history"][0]


def test_learned_matrices_are_drawn_from_a_new_fit(store) -> None:
    table = TABLES["000-figure2"]
    chosen = [m for m in table.content["methods"] if m["name"] in ("co-association", "RCE")]
    differences = [["RCE", "co-association"]]
    table = Table(table.key, table.content | {"methods": chosen, "differences": differences})
    figure = draw(table, kept("000"))
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        "co-association",
        "RCE",
        "RCE minus co-association",
        "true classes",
    ]
    first, second, difference = (figure.axes[i].images[0].get_array() for i in range(3))
    np.testing.assert_allclose(difference, second - first, atol=1e-12)


def test_the_matrix_of_lwea_needs_no_fit(store) -> None:
    recipe = canonical({"kind": "generator", "generator": "random_k", "n_partitions": 10})
    task = Task("003", "iris", recipe, 0, "matrix.lwca", "{}", 0)
    drawn = _ensembles.draw_ensemble("iris", recipe, 0)
    matrix = locally_weighted_coassociation(drawn.partitions)
    assert fit_task(task) == {"ensemble": drawn.content, **matrix_scores(drawn.y, matrix)}


def test_tables_of_figures_have_labels_and_parameters_as_drawn() -> None:
    [text] = figure_tables(TABLES["000-figure8"], kept("000"))
    assert text.startswith("| data | method | measure | base partitions = RPS | RFS |")
    tables = figure_tables(TABLES["000-figure5"], kept("000"))
    assert tables[0].startswith("| tr12, RSEC, NMI: lambda2 | lambda1 = 0.0001 | 0.001 |")
    [text] = figure_tables(TABLES["000-figure3"], kept("000"))
    history = kept("000").get(TABLES["000-figure3"].tasks()[0])["history"]
    assert f"| iris | RSEC | relative error | 1 | {history[0]:.3f} | {len(history)} | " in text


NOTED = {
    ("a", "M", "ARI"): [Point((0.1,), (0.2, 0.4)), Point((0.5,), (0.6, 0.6))],
    ("b", "M", "ARI"): [Point((0.1,), (0.9,)), Point((0.5,), (0.0005,))],
}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("a; M; ARI; 0.1", "0.300"),
        ("a; M; ARI", "0.300 to 0.600"),
        ("a | b; *; *; 0..0.2", "0.300 to 0.900"),
        ("b; M; ARI; 0.5", "5.0e-04"),
        ("best: a; M; ARI", "0.5"),
        ("last: *; M", "0.5"),
        ("best: *; M", "0.1 to 0.5"),
    ],
)
def test_a_place_in_a_note_is_filled_from_the_records(place: str, text: str) -> None:
    assert value_text(place, NOTED) == text


def test_large_and_small_numbers_have_few_digits() -> None:
    values = [0.0, 0.5, -0.04567, 0.00456, 999.9996, 138300000.0, -384000.0]
    texts = ["0.000", "0.500", "-0.046", "4.6e-03", "1000.000", "1.38e+08", "-3.84e+05"]
    assert [number(value) for value in values] == texts


@pytest.mark.parametrize("place", ["c; M; ARI", "a; N; ARI", "a; M; ARI; 0.7"])
def test_a_place_in_a_note_that_names_nothing_is_an_error(place: str) -> None:
    with pytest.raises(ValueError, match="No record belongs to"):
        value_text(place, NOTED)
