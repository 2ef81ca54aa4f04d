"""The tables of speed, read from the records of `make bench`. `write_pages.py` writes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.json_lines import read  # noqa: E402

FOLDER = ROOT / "benchmarks" / "speed"
RECORDS = FOLDER / "records.jsonl"
TEXTS = FOLDER / "text.jsonl"
WEIBO = FOLDER / "weibo.jsonl"
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
    for record in read(RECORDS):
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


def compilation_table() -> str:
    """Return a table of the seconds that the compiler takes for every method."""
    start = "compilation of "
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for record in read(RECORDS):
        if record["name"].startswith(start):
            method, _, labels = record["name"].removeprefix(start).partition(", ")
            rows.setdefault(method, {})[labels] = record
    titles = list(dict.fromkeys(labels for row in rows.values() for labels in row))
    lines = [
        "| method | " + " | ".join(titles) + " | kernels that take longest |",
        "| --- " * (len(titles) + 2) + "|",
    ]
    for method in sorted(rows, key=str.lower):
        row = rows[method]
        cells = [f"{row[labels]['seconds']:.1f}" if labels in row else "-" for labels in titles]
        longest = max(row.values(), key=lambda record: record["seconds"])["note"]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {longest} |")
    return "\n".join(lines)


def texts_table() -> str:
    """Return a table of the runs of `benchmarks.speed.text`."""
    lines = [
        "| documents | files | a partition | the same in memory | fused in | keywords in | memory "
        "| ARI | ARI of one k-means | keywords of the main topic |",
        "| --- " * 10 + "|",
    ]
    lines += [
        f"| {r['documents']:,} | {r['file_mb']:.0f} MB | {r['seconds_per_partition']:.1f} s "
        f"| {r['seconds_in_memory']:.1f} s | {r['seconds_to_fuse']:.0f} s "
        f"| {r['seconds_for_keywords']:.1f} s | {r['peak_mb']:.0f} MB | {r['ari']:.2f} "
        f"| {r['ari_in_memory']:.2f} | {r['own_keywords']:.0%} |"
        for r in read(TEXTS)
    ]
    return "\n".join(lines)


def weibo_table() -> str:
    """Return the records as a table, and an extrapolation to 1,000,000,000 rows on workers."""
    records = read(WEIBO)
    lines = [
        "| rows | fused in | iterations | seconds each | labels/s | limits | ratio | peak | ARI |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r['rows']:,} | {r['seconds_to_fit']:.0f} s | {r['iterations']} "
        f"| {r['seconds_per_iteration']:.2f} (first {r['first_iteration']:.2f}) "
        f"| {r['look_ups_per_second']:.2g} "
        f"| {r['read_seconds']:.2f} + {r['look_up_seconds']:.2f} s "
        f"| {r['ratio_to_limits']:.1f} | {r['peak_gb']:.2f} GB | {r['ari']:.3f} |"
        for r in records
    ]
    largest = records[-1]
    per_row = 2 * largest["seconds_per_iteration"] / largest["rows"]  # on two cores
    lines += [
        "",
        "| 1,000,000,000 rows on | labels a worker | scratch a worker | seconds per iteration |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {w} worker{'s' * (w > 1)} of {c} cores | {100 / w:.3g} GB | {40 / w:.3g} GB "
        f"| {1e9 * per_row / w / c:.2g} |"
        for w, c in ((1, 2), (1, 32), (10, 16), (100, 16))
    ]
    return "\n".join(lines)


def records() -> list[dict[str, Any]]:
    """Return the records of time; the others have tables of their own or compare something else."""
    others = ("plan of", "memory of", "first fit of", "compilation of")
    return [record for record in read(RECORDS) if not record["name"].startswith(others)]


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| task | seconds | reference | seconds | ratio |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {r['name']} | {r['seconds']:.2g} | {r['reference']} | {r['reference_seconds']:.2g} "
        f"| {r['ratio']:.3g}x |"
        for r in rows
    ]
    return "\n".join(lines)
