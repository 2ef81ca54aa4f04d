"""Pages of the site that have no file in docs/: public names, and files of the project.

`write` makes them before sphinx reads its sources: reference/<name>.rst for every public name (a
consensus method begins with its description), reference/module-<name>.rst for every public module,
and project/ with CONTRIBUTING.md and others. The menus come from the lists in index.md.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pprint import pformat
from typing import Any

from methods_table import MISSING, bibliography, reference

import partita
from partita.consensus import BaseConsensus

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from public_names import exported, public_methods  # noqa: E402

PROJECT_FILES = {
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
}


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
    paper = bibliography()[info.cite]
    cited = re.sub(r"\[(.*)\]\((.*)\)", r"`\1 <\2>`__", reference(paper))
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
        pages[f"project/{name}.md"] = re.sub(r"\[([^\]]*)\]\(([^):#]+)(#[^)]*)?\)", _relink, text)
    return pages


def _relink(match: re.Match[str]) -> str:
    text, target, anchor = match[1], match[2], match[3] or ""
    names = {file: f"{name}.md" for name, file in PROJECT_FILES.items()}
    if target in names:
        return f"[{text}]({names[target]}{anchor})"
    if target.startswith("docs/"):
        return f"[{text}](../{target.removeprefix('docs/')}{anchor})"
    return f"{text} (`{target}`)"


def adapt(app: Any, page: str, source: list[str]) -> None:
    """Lead links out of docs/ to pages of the site, and add the menus to the first page."""
    text = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])
    text = text.replace("](../examples)", "](gallery/index.rst)")
    for name, file in PROJECT_FILES.items():
        text = text.replace(f"](../{file}", f"](project/{name}.md")
    if page == app.config.root_doc:
        text += "\n".join(menus(text))
    source[0] = text


def menus(index: str) -> Iterator[str]:
    """Yield one hidden table of contents for every list of pages in index.md."""
    yield "\n"
    for group in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = group.partition("\n")
        items = re.findall(r"^- (.*)", body, re.MULTILINE)
        pages = [p for item in items for p in re.findall(r"\]\(([^):#]+)\.(?:md|rst)\)", item)]
        if "api" in pages:
            pages.append("reference/modules")
        if pages:
            yield "```{toctree}\n:hidden:\n:caption: " + title + "\n"
            yield "\n".join(pages)
            yield "```\n"


@cache
def public_targets() -> dict[str, str]:
    """Return the full name of every public name without `partita.`."""
    return {name.removeprefix("partita."): name for name, _ in all_names()}


def link_names(app: Any, doctree: Any) -> None:
    """Link a literal in a Markdown page that is a public name to the page of the name."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    if "reference/" in app.env.docname or "gallery/" in app.env.docname:
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
