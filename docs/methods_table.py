"""The tables of methods, read from the registry. `write_pages.py` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from partita.consensus.base import BaseConsensus, MethodInfo, Size
from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[1]
BUDGET = 4_000_000_000  # bytes
LIMIT = 10_000_000  # rows; above it, memory is not what decides

MISSING = {
    "native": "in the model",
    "pairwise": "over pairs with labels",
    "disagree": "as disagreement",
    "refused": "refused",
}

FAMILIES = {
    "graph": "cut a graph of samples and base clusters",
    "k-means": "k-means on the labels",
    "linkage": "a tree of samples from a co-association matrix",
    "learned matrix": "learn a cleaner co-association matrix, then cut it",
    "factorization": "factorize the co-association matrix",
    "probabilistic": "fit a mixture model to the labels",
    "median": "search the partition with the smallest loss; needs no K",
    "voting": "match the clusters of all partitions, then vote",
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
    return link(f"{who} {entry['year']}", entry)


def link(text: str, entry: dict[str, str]) -> str:
    """Return the text, as a link to the paper if it has a DOI."""
    return f"[{text}](https://doi.org/{entry['doi']})" if "doi" in entry else text


def source(info: MethodInfo) -> str:
    """Return the paper that defines a method, or what a method of our own takes from a paper."""
    paper = reference(bibliography()[info.cite])
    return f"partita; {info.cited_part} of {paper}" if info.cited_part else paper


def table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def short_table() -> str:
    """Return the table of README.md: one line per family."""
    entries = bibliography()
    rows = [["family", "idea", "methods"]]
    for family, idea in FAMILIES.items():
        names = [
            f"`{c.__name__}`"
            if c.info.cited_part
            else link(f"`{c.__name__}`", entries[c.info.cite])
            for c in all_methods(family=family)
        ]
        rows.append([family, idea, ", ".join(names)])
    return table(rows)


def full_table() -> str:
    """Return the table of docs/methods.md."""
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
                source(info),
            ]
        )
    return table(rows)


def choice_table() -> str:
    """Return the table of docs/which-method.md, sorted by family and then by size."""
    rows = []
    for c in all_methods():
        info, limit = c.info, largest_rows(c)
        rows.append(
            [
                info.family,
                f"`{c.__name__}`",
                "any" if limit is None else rounded(limit),
                "yes" if info.out_of_core else "",
                MISSING[info.missing],
                "yes" if info.soft else "",
                "no" if info.deterministic else "yes",
                "yes" if info.balanced else "",
            ]
        )
    rows.sort(key=lambda row: row[:2])
    head = [
        "family",
        "method",
        "largest n'",
        "disk",
        "missing labels",
        "soft",
        "random",
        "balanced",
    ]
    return table([head, *rows])


def largest_rows(method: type[BaseConsensus]) -> int | None:
    """Return the distinct rows whose dense arrays fit into the budget, None if above LIMIT."""

    def fits(n_rows: int) -> bool:
        size = Size(n_rows=n_rows, n_partitions=100, n_base_clusters=2000, n_clusters=10)
        return method().bytes_needed(size) <= BUDGET

    if fits(LIMIT):
        return None
    low, high = 1, LIMIT
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def rounded(number: int) -> str:
    """Return a number with two digits: 23170 is 23,000."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{number // unit * unit:,}"
