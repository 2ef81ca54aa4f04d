"""The tables of methods, read from the registry. `write_pages.py` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[1]

MISSING = {
    "native": "in the model",
    "pairwise": "over pairs with labels",
    "disagree": "as disagreement",
    "refused": "refused",
}


def bibliography() -> dict[str, dict[str, str]]:
    """Return the fields of every entry of docs/references.bib."""
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    entries = {}
    for match in re.finditer(r"^@\w+\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        entries[match[1]] = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", match[2]))
    return entries


def reference(entry: dict[str, str]) -> str:
    """Return first author and year, with a link if there is a DOI."""
    authors = entry["author"].split(" and ")
    names = [author.split(",")[0] for author in authors]
    who = (
        names[0]
        if len(names) == 1
        else " & ".join(names)
        if len(names) == 2
        else f"{names[0]} et al."
    )
    text = f"{who} {entry['year']}"
    return f"[{text}](https://doi.org/{entry['doi']})" if "doi" in entry else text


def table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def short_table() -> str:
    """Return the table of README.md."""
    entries = bibliography()
    rows = [["method", "name", "family", "missing labels", "paper"]]
    for c in all_methods():
        paper = reference(entries[c.info.cite])
        rows.append([f"`{c.__name__}`", c.info.name, c.info.family, MISSING[c.info.missing], paper])
    return table(rows)


def full_table() -> str:
    """Return the table of docs/methods.md."""
    entries = bibliography()
    head = ["class", "key", "name", "family", "missing labels", "soft partitions", "random"]
    rows = [[*head, "time", "memory", "paper"]]
    for c in all_methods():
        info = c.info
        rows.append(
            [
                f"`{c.__name__}`",
                f"`{info.key}`",
                info.name,
                info.family,
                MISSING[info.missing],
                "yes" if info.soft else "no",
                "no" if info.deterministic else "yes",
                info.time,
                info.memory,
                reference(entries[info.cite]),
            ]
        )
    return table(rows)
