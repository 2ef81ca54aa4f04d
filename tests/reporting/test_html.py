"""The page is one small file without external resources, and names in it are text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from report_cases import HOSTILE, full_case, hostile_case, summary_of

import partita
from partita.datasets import make_partitions
from partita.reporting import report, summarize, write_html, write_json

MOST_BYTES = 5_000_000


class Page(HTMLParser):
    """Elements with their attributes, and the text of each kind of element."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open = [""]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1], data))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [data for name, data in self.texts if name == tag]


def page_of(summary: dict[str, Any], folder: Path) -> tuple[str, Page]:
    html = write_html(summary, folder / "report.html").read_text(encoding="utf-8")
    return html, Page(html)


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> tuple[dict[str, Any], str, Page]:
    summary = summary_of(full_case())
    return summary, *page_of(summary, tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[dict[str, Any], str, Page]:
    summary = summary_of(hostile_case())
    return summary, *page_of(summary, tmp_path_factory.mktemp("hostile"))


def test_nothing_is_fetched(full) -> None:
    _, html, page = full
    for tag, attributes in page.elements:
        for name in ("src", "href", "xlink:href", "data", "action"):
            target = attributes.get(name)
            assert target is None or target.startswith(("#", "data:image/png;base64,")), (tag, name)
    assert not {"link", "iframe", "object", "embed", "base"} & {tag for tag, _ in page.elements}
    assert "@import" not in html
    addresses = {part.split('"')[0] for part in html.split("http")[1:]}
    assert {a for a in addresses if "w3.org" not in a} == {"-equiv="}  # names of XML, nothing else


def test_names_of_functions_are_code(full, tmp_path) -> None:
    summary, _, _ = full
    finding = {
        "question": "?",
        "mark": "look",
        "answer": "<b>",
        "advice": "Call `fuse` & `scan_k`.",
    }
    summary = {**summary, "findings": [finding], "figures": []}
    page = write_html(summary, tmp_path / "code.html").read_text("utf-8")
    assert "Call <code>fuse</code> &amp; <code>scan_k</code>." in page
    assert "<td>&lt;b&gt;<p" in page


def test_names_stay_text(hostile) -> None:
    summary, _, page = hostile
    scripts = page.all("script")
    assert [s.get("type") for s in scripts] == ["application/json", None]
    assert page.all("img") == []
    assert [(t, a) for t, a in page.elements if any(n.startswith("on") for n in a)] == []
    assert len(page.all("svg")) == len(summary["figures"]) + 1  # two panels of the embedding
    shown = "".join(data for tag, data in page.texts if tag not in ("script", "style"))
    for name in HOSTILE[:7]:
        assert name in shown
    assert summary["title"] in "".join(page.text("title"))
    assert "49" not in "".join(page.text("title"))


def test_names_in_figures_stay_text(hostile) -> None:
    _, html, _ = hostile
    pictures = [part.partition("</svg>")[0] for part in html.split("<svg ")[1:]]
    trees = [ElementTree.fromstring(f"<svg {picture}</svg>") for picture in pictures]
    tags = {element.tag.rpartition("}")[2] for tree in trees for element in tree.iter()}
    assert not tags & {"script", "img", "style", "metadata", "foreignObject"}
    drawn = {element.text for tree in trees for element in tree.iter() if element.text}
    assert "<script>window.hacked=1</sc…" in drawn
    assert not any("<!--" in picture for picture in pictures)


def test_the_embedded_json_is_the_summary(hostile) -> None:
    summary, html, page = hostile
    embedded = html.partition('id="summary-json">')[2].partition("</script>")[0]
    assert not set("<>&") & set(embedded)
    assert json.loads(embedded) == summary
    assert page.text("script")[0] == embedded


def test_json_makes_the_same_page(full, tmp_path: Path) -> None:
    summary, html, _ = full
    path = write_json(summary, tmp_path / "report.json")
    again = json.loads(path.read_text(encoding="utf-8"))
    assert again == summary
    assert page_of(again, tmp_path)[0] == html


def test_only_the_script_of_the_page_may_run(full) -> None:
    import base64
    import hashlib

    _, _, page = full
    (policy,) = (m["content"] for m in page.all("meta") if "http-equiv" in m)
    digest = hashlib.sha256(page.text("script")[1].encode()).digest()
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in str(policy)
    assert str(policy).startswith("default-src 'none'")


def test_structure_for_screen_readers(full) -> None:
    summary, _, page = full
    assert page.all("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main"):
        assert len(page.all(landmark)) == 1
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    links = [str(a["href"]) for a in page.all("a")]
    assert links[0] == "#main"  # the skip link comes first
    assert {link[1:] for link in links} <= set(ids)
    assert len(page.all("caption")) == len(page.all("table")) == 9
    assert all(th.get("scope") in ("row", "col") for th in page.all("th"))
    pictures = [svg for svg in page.all("svg") if svg.get("role") == "img"]
    assert [svg["aria-label"] for svg in pictures] == [
        figure["text"] for figure in sorted(summary["figures"], key=lambda f: place(page, f))
    ]
    labeled = {a.get("for") for a in page.all("label")}
    assert {a["id"] for a in page.all("input")} <= labeled
    assert len(page.all("h1")) == 1


def place(page: Page, figure: dict[str, Any]) -> int:
    ids = [a.get("id") for _, a in page.elements]
    return ids.index(f"figure-{figure['key']}")


def test_the_text_of_figures_follows_the_theme(full) -> None:
    _, html, _ = full
    for picture in html.split("<svg ")[1:]:
        tree = ElementTree.fromstring(f"<svg {picture.partition('</svg>')[0]}</svg>")
        for element in tree.iter():
            if element.tag.endswith("}text") and (element.text or "").strip():
                style = element.get("style", "")
                on_a_band = "fill: #ffffff" in style or "fill: #111111" in style
                assert "fill: var(--" in style or on_a_band, (element.text, style)


def test_many_samples_make_a_small_page(tmp_path: Path) -> None:
    labels, truth = make_partitions(300_000, 12, 6, noise=0.3)
    summary = report(labels, truth, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < MOST_BYTES
    assert summary["samples"]["n_left_out"] == 299_500


@pytest.mark.first
def test_many_clusters_and_long_names_make_a_small_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(3000) % 1000
    labels = (truth[:, None] + (rng.random((3000, 320)) < 0.2)) % 5
    ensemble = partita.Ensemble.from_partitions(
        labels,
        partition_names=[f"{i} " + "<&\"'" * 3000 for i in range(320)],
        sample_ids=[f"{i} " + "\u2028<" * 500 for i in range(3000)],
    )
    summary = summarize(ensemble, truth, title="x" * 100_000)
    _, page = page_of(summary, tmp_path)
    assert (tmp_path / "report.html").stat().st_size < MOST_BYTES
    assert summary["clusters"]["n_left_out"] == 700
    assert summary["partitions"]["n_left_out"] == 20
    assert "700 smaller clusters are left out." in page.text("strong")


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("report.pdf", ValueError, r"must end in one of \.html, \.json"),
        ("nowhere/report.html", FileNotFoundError, "No folder .*nowhere"),
    ],
)
def test_a_report_that_cannot_be_written_is_not_computed(tmp_path, path, error, words):
    with pytest.raises(error, match=words):
        report("no partitions", "no labels", tmp_path / path)
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_chooses_the_format(tmp_path: Path) -> None:
    partitions = [[0, 0, 1, 1], [0, 0, 1, 2]]
    summary = report(partitions, [0, 0, 1, 1], tmp_path / "r.json", title="T")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == summary
    assert summary["title"] == "T"


def test_every_title_is_there_once(full) -> None:
    _, html, page = full
    headings = [text.strip() for tag in ("h1", "h2", "h3") for text in page.text(tag)]
    assert len(headings) == len(set(headings))
    drawn = set()
    for picture in html.split("<svg ")[1:]:
        tree = ElementTree.fromstring(f"<svg {picture.partition('</svg>')[0]}</svg>")
        drawn |= {(element.text or "").strip() for element in tree.iter()}
    assert not drawn & set(headings)
    assert not drawn & {"Confidence of the samples", "Clusters tracked over K"}


def test_the_day_is_written_for_people(full, tmp_path: Path) -> None:
    summary, _, page = full
    provenance = {**summary["provenance"], "created": "2026-11-07T06:30:46"}
    again = {**summary, "provenance": provenance, "figures": []}
    _, page = page_of(again, tmp_path)
    assert any(text.endswith(", 7 November 2026") for text in page.text("p"))


def test_every_look_has_advice_on_the_page(full) -> None:
    summary, html, _ = full
    looks = [finding for finding in summary["findings"] if finding["mark"] == "look"]
    assert looks
    assert html.count('class="advice"') == len(looks)
