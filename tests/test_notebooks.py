"""What a notebook shows of results: tables and pictures, not pages of data."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from partita import compare, fuse, report
from partita._data_frames import html_of_records
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


def test_results_show_tables(fusion):
    for result, n_rows in ((fusion, 3), (fusion.diagnosis, 3), (fusion.scan, 3)):
        head, *rows = Cells(result._repr_html_()).rows
        assert len(rows) == n_rows
        assert all(len(row) == len(head) for row in rows)
    assert "Suggested: K = 3" in fusion.scan._repr_html_()
    assert repr(fusion).startswith("Fusion of 10 partitions of 60 samples into 3 clusters")
    methods = compare(fusion.partitions, ["eac", "sec"], n_clusters=3)
    assert [row[0] for row in Cells(methods._repr_html_()).rows] == ["method", "eac", "sec"]


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
