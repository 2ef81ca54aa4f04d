"""The documentation site: its menus, its generated pages and the checks of a built site.

`make docs` builds the site, with warnings as errors, and checks it. These tests are the quick part
that needs no sphinx.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import partita
from partita.registry import all_methods
from public_names import exported

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import check_site  # noqa: E402
import docstring_text  # noqa: E402
import site_pages  # noqa: E402

PAGES = site_pages.reference_pages()
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")


def test_every_public_name_has_a_page_in_the_menu_of_a_module() -> None:
    entries = "\n".join(text for page, text in PAGES.items() if "/module-" in page)
    for name, _ in exported():
        page = site_pages.page_name(name)
        assert f".. currentmodule:: {name.rpartition('.')[0]}\n" in PAGES[f"reference/{page}.rst"]
        assert entries.count(f"<{page}>\n") == 1, name
    modules = PAGES["reference/modules.rst"].split()
    assert [name for name in partita._MODULES if f"module-{name}" not in modules] == []


def test_pages_differ_where_file_names_ignore_case() -> None:
    assert len({page.lower() for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.__name__)
def test_page_of_a_method_begins_with_its_description(method: type) -> None:
    page = PAGES[f"reference/partita.{method.__name__}.rst"]
    assert f":Key: ``{method.info.key}``" in page
    assert f":Family: {method.info.family}" in page
    assert f".. autoclass:: {method.__name__}" in page
    assert ".. automethod:: fit\n" in page


def test_menus_have_every_page_once() -> None:
    entries = "\n".join(site_pages.menus(adapted(INDEX))).splitlines()
    pages = [path.stem for path in DOCS.glob("*.md") if path.name != "index.md"]
    pages += [f"project/{name}" for name in site_pages.PROJECT_FILES]
    pages += ["gallery/index", "reference/modules"]
    assert {page: entries.count(page) for page in pages} == dict.fromkeys(pages, 1)


def adapted(text: str, page: str = "page") -> str:
    """Return the source of a page as sphinx reads it."""

    class App:
        class config:  # noqa: N801
            root_doc = ""

    source = [text]
    site_pages.adapt(App, page, source)
    return source[0]


def test_links_out_of_the_folder_lead_to_pages_of_the_site() -> None:
    text = "[a](../examples/choosing_k.py) [b](../examples) [c](../CONTRIBUTING.md#release)"
    text += " [d](speed.md#memory) [e](../benchmarks/speed) [f](https://x.org)"
    assert adapted(text) == (
        "[a](gallery/choosing_k.rst) [b](gallery/index.rst) [c](project/contributing.md#release)"
        " [d](speed.md#memory) e (`benchmarks/speed`) [f](https://x.org)"
    )
    contributing = site_pages.project_pages()["project/contributing.md"]
    assert "](../reduction.md)" in contributing
    assert "](docs/" not in contributing
    assert "](tests/" not in contributing


def test_page_of_a_folder_leads_to_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_pages, "ROOT", tmp_path)
    monkeypatch.setattr(site_pages, "DOCS", tmp_path / "docs")
    (tmp_path / "docs" / "papers").mkdir(parents=True)
    for name in ("index", "one", "two"):
        (tmp_path / "docs" / "papers" / f"{name}.md").touch()
    text = adapted("[a](one.md) [b](../speed.md) [c](../../CHANGELOG.md)", "papers/index")
    assert text.startswith("[a](one.md) [b](../speed.md) [c](../project/changes.md)\n")
    assert text.split()[-3:] == ["one", "two", "```"]
    assert "\npapers/index\n" in "".join(site_pages.menus("## A\n\n- [b](speed.md)\n"))
    index = "## A\n\n- [p](papers/index.md)\n- [q](papers/one.md), [b](speed.md)\n"
    assert "".join(site_pages.menus(index)).split()[-3:] == ["papers/index", "speed", "```"]


def test_settings_of_the_site_need_no_network() -> None:
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("extensions", "sphinx_gallery_conf", "html_css_files")
    }
    assert not {"sphinx.ext.intersphinx", "sphinx.ext.mathjax"} & set(values["extensions"])
    assert values["sphinx_gallery_conf"]["abort_on_example_error"]
    assert [f for f in values["html_css_files"] if not (DOCS / "site" / f).is_file()] == []


def test_packages_of_the_site_are_the_docs_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {line.partition(">=")[0] for line in project["optional-dependencies"]["docs"]}
    needed = {"sphinx", "pydata-sphinx-theme", "numpydoc", "sphinx-gallery", "myst-parser"}
    assert needed <= names


def test_every_example_has_a_title_and_a_header() -> None:
    assert (ROOT / "examples" / "GALLERY_HEADER.rst").is_file()
    for path in sorted((ROOT / "examples").glob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        title, underline, *_ = docstring.splitlines()
        assert underline == "=" * len(title), path.name


def test_formulas_become_literal_blocks_and_marks_are_escaped() -> None:
    lines = """Cut a graph.

    It minimizes |x|* over `labels_`:

        A = B * C_
        D

        E

    Parameters
    ----------
    **options
        More, with |marks|.

    Attributes
    ----------
    history_ : array of shape (n_iter_,)
        One entry per step.
    """.replace("\n    ", "\n").splitlines()
    docstring_text.escape(None, "class", "X", None, None, lines)
    text = "\n".join(lines)
    assert r"It minimizes \|x\|\* over `labels_`:" in text
    assert ".. code-block:: none\n\n    A = B * C_\n    D\n\n    E\n" in text
    assert text.count("code-block") == 1
    assert "\n**options\n    More, with \\|marks\\|." in text
    assert r"history_ : array of shape (n_iter\_,)" in text


GOOD = """<html><head><link rel="stylesheet" href="style.css"><link rel="canonical" href="https://x.org">
</head><body id="top"><a href="https://x.org">out</a> <a href="b.html#there">b</a></body></html>"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD, ""),
        (GOOD.replace('"style.css"', '"https://x.org/a.css"'), "loads https://x.org/a.css"),
        (GOOD + '<script src="//x.org/a.js"></script>', "loads //x.org/a.js"),
        (GOOD + "<style>@import 'https://x.org/f.css';</style>", "loads https://x.org/f.css"),
        (GOOD.replace("b.html", "c.html"), "which does not exist"),
        (GOOD.replace("#there", "#nowhere"), "no such anchor"),
    ],
)
def test_check_of_a_built_site(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "style.css").write_text("a { background: url(data:x) }", encoding="utf-8")
    problems = [*check_site.foreign_requests(tmp_path), *check_site.dead_links(tmp_path)]
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)


def test_check_misses_pages_of_names(tmp_path: Path) -> None:
    assert len(list(check_site.missing_names(tmp_path))) == len(PAGES)


@pytest.mark.skipif(
    not (ROOT / "build" / "docs" / "html" / "searchindex.js").is_file(),
    reason="`make docs` has not built the site here",
)
def test_built_site_loads_nothing_from_other_hosts() -> None:
    assert list(check_site.foreign_requests(ROOT / "build" / "docs" / "html")) == []
