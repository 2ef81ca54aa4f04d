"""Pages of the site that have no file in docs/: public names, and files of the project.

`write` makes them before sphinx reads its sources: reference/<name>.rst for every public name (a
consensus method begins with its description), reference/module-<name>.rst for every public module,
and project/ with CONTRIBUTING.md and others. The menus come from the lists in index.md.
"""

from __future__ import annotations

import inspect
import os
import posixpath
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pprint import pformat
from typing import Any

from methods_table import MISSING, source

import partita
from partita.consensus import BaseConsensus

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from public_names import exported, public_methods  # noqa: E402

DOCS = ROOT / "docs"
WRITTEN = ("reference", "project", "gallery")  # folders of pages that are not in the repository
PROJECT_FILES = {
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
    "security": "SECURITY.md",
}
PROJECT_PAGES = {file: name for name, file in PROJECT_FILES.items()}


def write(folder: Path) -> None:
    """Write all pages and remove those of names that no longer exist."""
    texts = {**reference_pages(), **project_pages()}
    for part in ("reference", "project"):
        (folder / part).mkdir(exist_ok=True)
        for path in (folder / part).iterdir():
            if path.relative_to(folder).as_posix() not in texts:
                path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# -- public names --------------------------------------------------------------------------------


def reference_pages() -> dict[str, str]:
    """Return the text of the page of every public name and every public module."""
    pages = {}
    modules: dict[str, list[str]] = {"partita": []}
    modules |= {f"partita.{name}": [] for name in partita._MODULES}
    for name, content in all_names():
        pages[f"reference/{page_name(name)}.rst"] = name_page(name, content)
        module = name.rpartition(".")[0]
        modules[module].append(name)
        if module == "partita":
            home = f"partita.{partita._PUBLIC[name.rpartition('.')[2]]}"
            modules[home].append(name)
    for module, names in modules.items():
        if module != "partita":
            pages[f"reference/module-{module.rpartition('.')[2]}.rst"] = module_page(module, names)
    entries = "\n".join(f"   module-{name}" for name in partita._MODULES)
    pages["reference/modules.rst"] = (
        f"{heading('Modules')}\n.. toctree::\n   :maxdepth: 1\n\n{entries}\n"
    )
    return pages


def page_name(name: str) -> str:
    """Return a name that is unique also where file names ignore case: `Plan` and `plan`."""
    same = [other for other, _ in all_names() if other.lower() == name.lower()]
    return name if name == min(same) else f"{name}-function"


@cache
def all_names() -> tuple[tuple[str, Any], ...]:
    return tuple(exported())


def heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def module_page(module: str, names: list[str]) -> str:
    """Return the page of a module: its docstring and the list of its names."""
    entries = "\n".join(f"   {short(name, module)} <{page_name(name)}>" for name in sorted(names))
    return (
        f"{heading(module)}\n.. automodule:: {module}\n   :no-members:\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{entries}\n"
    )


def short(name: str, module: str) -> str:
    return name.removeprefix(module + ".").removeprefix("partita.")


def name_page(name: str, content: Any) -> str:
    """Return the page of one public name."""
    module, _, base = name.rpartition(".")
    lines = [heading(base if module == "partita" else short(name, "partita"))]
    lines += [f"``from {module} import {base}``", "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(content):
        if issubclass(content, BaseConsensus) and hasattr(content, "info"):
            lines += description(content)
        kind = "autoexception" if issubclass(content, BaseException) else "autoclass"
        lines += [f".. {kind}:: {base}", ""]
        lines += [f"   .. automethod:: {member}" for member in methods(content)]
        lines += [f"   .. autoproperty:: {member}" for member in properties(content)]
    elif inspect.isroutine(content):
        lines.append(f".. autofunction:: {base}")
    else:
        lines += [f".. py:data:: {base}", "", "   ::", ""]
        lines += [f"      {line}" for line in pformat(content, width=90).splitlines()]
    return "\n".join(lines) + "\n"


def methods(cls: type) -> Iterator[str]:
    """Yield the public methods that the library defines and documents."""
    for name, member in public_methods(cls):
        if inspect.getdoc(member):
            yield name


def properties(cls: type) -> Iterator[str]:
    for name, member in sorted(inspect.getmembers(cls)):
        if isinstance(member, property) and not name.startswith("_") and member.__doc__:
            yield name


def description(cls: type[BaseConsensus]) -> list[str]:
    """Return the facts of `MethodInfo` as a list of fields."""
    info = cls.info
    cited = re.sub(r"\[(.*)\]\((.*)\)", r"`\1 <\2>`__", source(info))
    facts = {
        "Key": f"``{info.key}``",
        "Family": info.family,
        "Missing labels": MISSING[info.missing],
        "Random": "no" if info.deterministic else "yes, see ``random_state``",
        "Soft partitions": "yes" if info.soft else "no",
        "Out of core": "yes" if info.out_of_core else "no",
        "Time": f"``{info.time}``",
        "Memory": f"``{info.memory}``",
        "Paper": cited,
    }
    return [*(f":{name}: {fact}" for name, fact in facts.items()), ""]


# -- files beside docs/, and links ---------------------------------------------------------------


def project_pages() -> dict[str, str]:
    """Return the files of the project as pages, with links that lead to pages of the site."""
    pages = {}
    for name, file in PROJECT_FILES.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        pages[f"project/{name}.md"] = relink(text, ROOT, f"project/{name}")
    return pages


def relink(text: str, folder: Path, page: str) -> str:
    """Lead the links of a text of `folder` to pages of the site, seen from `page`.

    A file that is no page is named instead.
    """

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[2])).relative_to(ROOT).as_posix()
        if target in PROJECT_PAGES:
            place = f"project/{PROJECT_PAGES[target]}.md"
        elif target == "examples":
            place = "gallery/index.rst"
        elif target.startswith("examples/") and target.endswith(".py"):
            place = f"gallery/{Path(target).stem}.rst"
        elif target.startswith("docs/"):
            place = target.removeprefix("docs/")
        else:
            return f"{match[1]} (`{target}`)"
        return f"[{match[1]}]({posixpath.relpath(place, posixpath.dirname(page))}{match[3] or ''})"

    return re.sub(r"\[([^\]]*)\]\(([^):#\s]+)(#[^)]*)?\)", link, text)


def adapt(app: Any, page: str, source: list[str]) -> None:
    """Lead links out of docs/ to pages of the site, and add menus to the pages named index."""
    folder, name = posixpath.split(page)
    if folder not in WRITTEN:
        source[0] = relink(source[0], DOCS / folder, page)
        if page == app.config.root_doc:
            source[0] += "\n".join(menus(source[0]))
        elif name == "index":
            source[0] += "\n" + menu(folder, sorted(p.stem for p in (DOCS / folder).glob("*.md")))


def menu(title: str, pages: list[str]) -> str:
    """Return a hidden table of contents."""
    lines = [page for page in pages if page != "index"]
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *lines, "```", ""])


def folders() -> list[str]:
    """Return the folders of docs/ that have a first page."""
    names = sorted(path.parent.name for path in DOCS.glob("*/index.md"))
    return [name for name in names if name not in WRITTEN]


def menus(index: str) -> Iterator[str]:
    """Yield one menu for every list of pages in index.md, then one for the folders of pages."""
    yield "\n"
    linked = set()
    for group in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = group.partition("\n")
        items = re.findall(r"^- (.*)", body, re.MULTILINE)
        pages = [p for item in items for p in re.findall(r"\]\(([^):#]+)\.(?:md|rst)\)", item)]
        linked.update(pages)
        # the first page of a folder has a menu of its own
        pages = [
            p
            for p in pages
            if "/" not in p or f"{posixpath.dirname(p)}/index" not in linked or p.endswith("/index")
        ]
        if "api" in pages:
            pages.append("reference/modules")
        if pages:
            yield menu(title, pages)
    if others := [f"{name}/index" for name in folders() if f"{name}/index" not in linked]:
        yield menu("More", others)


@cache
def public_targets() -> dict[str, str]:
    """Return the full name of every public name without `partita.`."""
    return {name.removeprefix("partita."): name for name, _ in all_names()}


def link_names(app: Any, doctree: Any) -> None:
    """Link a literal in a Markdown page that is a public name to the page of the name."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    # commands of the harness, such as `report`, have the names of functions
    if app.env.docname.startswith(("reference/", "gallery/", "papers/")):
        return
    targets = public_targets()
    for literal in list(doctree.findall(nodes.literal)):
        name = targets.get(literal.astext().removeprefix("partita."))
        if name and not isinstance(literal.parent, nodes.reference | nodes.title | pending_xref):
            link = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refdoc=app.env.docname
            )
            literal.replace_self(link)
            link += literal
