"""Read the sections of numpydoc docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Item:
    """One documented parameter or attribute: `name : kind`, and the text below it."""

    name: str
    kind: str
    text: str


def sections(documented: Any) -> dict[str, str]:
    """Return the text below every underlined heading of a docstring."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(documented) or "", flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def items(documented: Any, section: str) -> list[Item]:
    """Return the entries of a section; `a, b : int` is an entry for each name."""
    text = sections(documented).get(section, "")
    pieces = re.split(r"^(\*{0,2}\w[\w*, ]*?)(?: : (.*))?$", text, flags=re.MULTILINE)
    entries = zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True)
    return [
        Item(name.strip(" *"), kind or "", body.strip())
        for names, kind, body in entries
        for name in names.split(",")
    ]
