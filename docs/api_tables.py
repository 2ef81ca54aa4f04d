"""The tables of public names, read from `partita`. `write_pages.py` writes them."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import partita


def tables() -> str:
    """Return one table per group of names in `partita`, and one of its public modules."""
    lines = []
    for heading, names in groups().items():
        lines += [f"## {heading}", "", "| name | module | |", "|---|---|---|"]
        for name in names:
            module = f"partita.{partita._PUBLIC[name]}"
            lines.append(f"| `{name}` | `{module}` | {summary(getattr(partita, name))} |")
        lines.append("")
    lines += ["## Modules", "", "| module | content | names that are not in `partita` |"]
    lines.append("|---|---|---|")
    for name in partita._MODULES:
        module = importlib.import_module(f"partita.{name}")
        others = [f"`{other}`" for other in module.__all__ if other not in partita._PUBLIC]
        lines.append(f"| `partita.{name}` | {summary(module)} | {', '.join(others)} |")
    return "\n".join(lines)


def groups() -> dict[str, list[str]]:
    """Return the public names under the comments of the dictionary in `partita/__init__.py`."""
    source = Path(partita.__file__).read_text(encoding="utf-8")
    body = source.partition("_PUBLIC = {\n")[2].partition("\n}\n")[0]
    names: dict[str, list[str]] = {}
    for line in body.splitlines():
        if line.strip().startswith("#"):
            group = names.setdefault(line.strip(" #"), [])
        else:
            group.append(ast.literal_eval(line.partition(":")[0].strip()))
    return names


def summary(content: Any) -> str:
    """Return the first paragraph of the docstring, as the text of a cell."""
    paragraph = (content.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")
