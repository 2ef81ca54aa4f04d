"""The tables of speed, read from the records of `make bench`. `write_pages.py` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parents[1] / "benchmarks" / "speed" / "records.json"
# Starts of the names of the records that the README shows.
SHORT = (
    "coassociation, n = 8000, m = 100, K_i = 50, float64",
    "EAC average",
    "CCGP, n = 50000, m = 20, K = 10, 3 restarts each",
    "CCGP, n = 20000, m = 100, K = 10, 3 restarts each",
    "SEC whole fit, n = 50000",
    "EC-CMS, n = 1797",
    "RCE, n = 1797",
    "SPCE, n = 1797",
    "scan_k, n = 1000, K = 2..12, against the published loop",
    "one partition of RandomK, noise, n_jobs=1",
)


def short_table() -> str:
    chosen = [r for r in records() if r["name"].startswith(SHORT)]
    return table([r for r in chosen if not r["name"].endswith("(cut alone)")])


def full_table() -> str:
    return table(records())


def first_fit_table() -> str:
    """Return a table of the first and the second fit of every method in a new process."""
    start = "first fit of "
    rows: dict[str, dict[str, str]] = {}
    for record in stored():
        if record["name"].startswith(start):
            method, _, size = record["name"].removeprefix(start).partition(", ")
            first, second = record["seconds"], record["reference_seconds"]
            rows.setdefault(method, {})[size] = f"{first:.2f} | {second:.2f}"
    sizes = list(dict.fromkeys(size for row in rows.values() for size in row))
    titles = [f"{size}, {fit} fit" for size in sizes for fit in ("first", "second")]
    lines = ["| method | " + " | ".join(titles) + " |", "| --- " * (len(titles) + 1) + "|"]
    for method in sorted(rows, key=str.lower):
        cells = [rows[method].get(size, "- | -") for size in sizes]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def records() -> list[dict[str, Any]]:
    """Return the records of time; the others have tables of their own or compare something else."""
    others = ("plan of", "memory of", "first fit of")
    return [record for record in stored() if not record["name"].startswith(others)]


def stored() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return content


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| task | seconds | reference | seconds | ratio |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {r['name']} | {r['seconds']:.2g} | {r['reference']} | {r['reference_seconds']:.2g} "
        f"| {r['ratio']:.3g}x |"
        for r in rows
    ]
    return "\n".join(lines)
