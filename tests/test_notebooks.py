"""What a notebook shows of results: tables and pictures, not pages of data."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from partita import cluster_tree, compare, fuse, plan, report
from partita._data_frames import html_of_records
from partita._pictures import draw_bars, draw_curve
from partita.datasets import make_partitions
from partita.plotting import ConfidenceDisplay


class Cells(HTMLParser):
    """Text of the cells of every row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        self.is_cell = tag in ("td", "th")
        if self.is_cell:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_cell = False

    def handle_data(self, data: str) -> None:
        if self.is_cell:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def fusion():
    partitions = make_partitions(60, 10, 3, noise=0.2)[0]
    return fuse(partitions, k_range=range(2, 5), random_state=0)


def test_cells_are_escaped_and_short():
    page = html_of_records([{"<b>": "x & y", "v": 0.123456, "n": None, "nan": float("nan")}])
    assert "<b>" not in page
    assert Cells(page).rows == [["<b>", "v", "n", "nan"], ["x & y", "0.123", "", ""]]


def test_results_are_short_in_a_console(fusion):
    tree = cluster_tree([[0, 0, 0, 1], [0, 0, 1, 2]])
    assert repr(tree) == "ClusterTree of 4 samples; clusters per partition: 0: 2, 1: 3"
    assert repr(fusion.scan) == str(fusion.scan)
    assert "<- suggested" in repr(fusion.scan)
    prediction = plan(1000, 10, 3)
    assert repr(prediction) == str(prediction)


def test_results_show_tables(fusion):
    for result, n_rows in ((fusion, 3), (fusion.diagnosis, 3), (fusion.scan, 3)):
        head, *rows = Cells(result._repr_html_()).rows
        assert len(rows) == n_rows
        assert all(len(row) == len(head) for row in rows)
    assert "Suggested: K = 3" in fusion.scan._repr_html_()
    assert repr(fusion).startswith("Fusion of 10 partitions of 60 samples into 3 clusters")
    methods = compare(fusion.partitions, ["eac", "sec"], n_clusters=3)
    assert [row[0] for row in Cells(methods._repr_html_()).rows] == ["method", "eac", "sec"]


def test_results_show_pictures(fusion):
    methods = compare(fusion.partitions, ["eac", "sec"], n_clusters=3)
    tree = cluster_tree(fusion.scan.labels)
    pictures = {}
    for result in (fusion, fusion.diagnosis, fusion.scan, fusion.partitions, methods, tree):
        page = ElementTree.fromstring(result._repr_html_())
        pictures[type(result).__name__] = page.find("svg")
    assert None not in pictures.values()
    assert len(pictures["Diagnosis"].findall("rect")) == 60  # samples
    assert len(pictures["Ensemble"].findall("rect")) == 10  # partitions
    assert len(pictures["Comparison"].findall("rect")) == 2  # methods
    assert len(pictures["KScan"].findall("circle")) == 3  # numbers of clusters
    assert len(pictures["ClusterTree"].findall("circle")) == 2 + 3 + 4  # clusters
    assert len(pictures["ClusterTree"].findall("path")) == len(tree.edge_records())


def test_heights_of_a_picture():
    picture = ElementTree.fromstring(draw_bars([1.0, 0.5, float("nan")], "a < b", [0, 1, 2]))
    first, second = picture.findall("rect")
    assert float(first.get("height")) == pytest.approx(2 * float(second.get("height")))
    assert first.get("fill") != second.get("fill")
    assert picture.find("title").text == "a < b"
    assert len(ElementTree.fromstring(draw_bars(range(5000), "many")).findall("rect")) == 200
    curve = ElementTree.fromstring(draw_curve([2, 3, 4], [0.1, 0.5, -0.2], [0, 0, 0.1], "", 3))
    heights = [float(point.get("cy")) for point in curve.findall("circle")]
    assert heights[1] < heights[0] < heights[2]
    assert [point.get("r") for point in curve.findall("circle")] == ["2.5", "4", "2.5"]


def test_a_display_shows_its_picture(fusion):
    pytest.importorskip("matplotlib")
    display = ConfidenceDisplay.from_diagnosis(fusion.diagnosis)
    assert display._repr_png_().startswith(b"\x89PNG")


def test_a_report_as_last_line_is_short(fusion, tmp_path: Path):
    pytest.importorskip("jinja2")
    summary = report(fusion.partitions, fusion, tmp_path / "report.html")
    assert isinstance(summary, dict)
    assert len(repr(summary)) < 3000 < len(str(dict(summary)))
    questions = [finding["question"] for finding in summary["findings"]]
    assert [row[0] for row in Cells(summary._repr_html_()).rows[1:]] == questions
