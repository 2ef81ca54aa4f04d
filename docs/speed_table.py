"""The tables of speed, read from the records of `make bench`. `write_pages.py` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parents[1] / "benchmarks" / "speed" / "records.json"
# Starts of the names of the records that the README shows.
SHORT = (
    "co-association counts, n = 10000, m = 100, K_i = 50 (GEMM)",
    "EAC average",
    "EC-CMS, n = 1797",
    "one partition of RandomK, noise, n_jobs=1",
    "LWGP, n = 50000",
    "RCE, n = 1797",
    "SEC whole fit, n = 50000",
    "SPCE, n = 1797",
)


def short_table() -> str:
    return table([r for r in records() if r["name"].startswith(SHORT)])


def full_table() -> str:
    return table(records())


def records() -> list[dict[str, Any]]:
    """Return the records of time; the others compare a prediction or memory."""
    content = json.loads(RECORDS.read_text(encoding="utf-8"))
    others = ("plan of", "memory of")
    return [record for record in content if not record["name"].startswith(others)]


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| task | seconds | reference | seconds | ratio |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {r['name']} | {r['seconds']:.2g} | {r['reference']} | {r['reference_seconds']:.2g} "
        f"| {r['ratio']:.3g}x |"
        for r in rows
    ]
    return "\n".join(lines)
