"""Write the table of methods, read from the registry, into README.md and docs/methods.md.

python docs/methods_table.py            write
python docs/methods_table.py --check    exit with 1 if a file is out of date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from partita.consensus import BaseConsensus
from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- methods:start -->", "<!-- methods:end -->"

MISSING = {
    "native": "in the model",
    "pairwise": "over pairs with labels",
    "disagree": "as disagreement",
    "refused": "refused",
}


def bibliography() -> dict[str, dict[str, str]]:
    """Fields of every entry of docs/references.bib."""
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    entries = {}
    for match in re.finditer(r"^@\w+\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        entries[match[1]] = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", match[2]))
    return entries


def reference(entry: dict[str, str]) -> str:
    """First author and year, linked where there is a DOI."""
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


def short_table(methods: list[type[BaseConsensus]]) -> str:
    """What a reader of the README wants: which there are, and where they come from."""
    entries = bibliography()
    rows = [["method", "name", "family", "missing labels", "paper"]]
    for c in methods:
        paper = reference(entries[c.info.cite])
        rows.append([f"`{c.__name__}`", c.info.name, c.info.family, MISSING[c.info.missing], paper])
    return table(rows)


def full_table(methods: list[type[BaseConsensus]]) -> str:
    entries = bibliography()
    rows = [
        ["class", "key", "name", "family", "missing labels", "random", "time", "memory", "paper"]
    ]
    for c in methods:
        info = c.info
        rows.append(
            [
                f"`{c.__name__}`",
                f"`{info.key}`",
                info.name,
                info.family,
                MISSING[info.missing],
                "no" if info.deterministic else "yes",
                info.time,
                info.memory,
                reference(entries[info.cite]),
            ]
        )
    return table(rows)


def filled(text: str, content: str) -> str:
    """The text with `content` between the markers."""
    before, _, rest = text.partition(START)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the markers {START} and {END} are not both there")
    return f"{before}{START}\n{content}\n{END}{after}"


def pages() -> dict[Path, str]:
    """Every file with a table, as it should read."""
    methods = all_methods()
    contents = {
        ROOT / "README.md": short_table(methods),
        ROOT / "docs" / "methods.md": full_table(methods),
    }
    return {p: filled(p.read_text(encoding="utf-8"), text) for p, text in contents.items()}


def main() -> int:
    stale = [p for p, text in pages().items() if p.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is out of date: run python docs/methods_table.py", file=sys.stderr)
        return int(bool(stale))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
