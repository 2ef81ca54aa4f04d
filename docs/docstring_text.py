"""Make reStructuredText of docstrings: formulas become literal blocks, marks in prose are escaped.

Docstrings are written for `help()`: a formula is an indented paragraph, and `*`, `|` or a trailing
underscore outside of backquotes are characters, not markup.
"""

from __future__ import annotations

import re
from typing import Any

PROSE = ("Notes", "References", "Warnings")
FIELDS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Other Parameters")
MARKS = re.compile(r"(``.*?``|`[^`]*`)|(?<![\\*])(\*\*?|\|)|(?<=\w)(_+)(?![\w`])")


def escape(app: Any, what: str, name: str, content: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place, before numpydoc reads them."""
    section = ""
    result: list[str] = []
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line and re.fullmatch(r"-{3,}", following.strip()) and not line.startswith(" "):
            section = line.strip()
        if re.fullmatch(r"-{3,}", line.strip()) or line.strip() == section:
            result.append(line)
        elif section in FIELDS:
            name, colon, kind = line.partition(" : ")  # numpydoc escapes the name itself
            is_head = line and not line.startswith(" ")
            result.append(name + colon + plain(kind) if is_head else plain(line))
        elif section == "" or section in PROSE:
            indented = line.startswith("    ")
            if indented and not result[-1].strip() and not in_formula(result):
                result += [".. code-block:: none", ""]
            result.append(line if indented else plain(line))
        else:
            result.append(line)
    lines[:] = result


def in_formula(lines: list[str]) -> bool:
    """Return whether the last line that is not empty belongs to a formula."""
    texts = [line for line in lines if line.strip()]
    return bool(texts) and texts[-1].startswith("    ")


def plain(line: str) -> str:
    """Escape marks outside of backquotes."""
    return MARKS.sub(lambda match: match[1] or f"\\{match[2] or match[3]}", line)
