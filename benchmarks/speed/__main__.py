"""`python -m benchmarks.speed [name ...]`: print times and targets as ratios, store the records.

`python docs/write_pages.py` writes the records into README.md and docs/speed.md.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import benchmarks.speed as package
from benchmarks.json_lines import read, write

RECORDS = Path(__file__).parent / "records.jsonl"


def main(argv: list[str]) -> None:
    modules = [m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed")
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of: {', '.join(modules)}")
    names = parser.parse_args(argv).names
    if unknown := sorted(set(names) - set(modules)):
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(modules)}")
    records = {}
    for name in names or modules:
        for record in importlib.import_module(f"benchmarks.speed.{name}").run():
            records[record.name] = asdict(record) | {"ratio": record.ratio, "met": record.met}
    show(list(records.values()))
    if names:
        records = {record["name"]: record for record in read(RECORDS)} | records
    write(RECORDS, records.values())


def show(records: list[dict[str, Any]]) -> None:
    table = Table(
        "what", "seconds", "reference", "reference seconds", "ratio", "target", "peak MB", ""
    )
    for r in records:
        table.add_row(
            r["name"],
            f"{r['seconds']:.3g}",
            r["reference"],
            f"{r['reference_seconds']:.3g}",
            f"{r['ratio']:.1f}x",
            f">= {r['target']:g}x",
            "" if r["peak_mb"] is None else f"{r['peak_mb']:.0f}",
            "met" if r["met"] else "MISSED",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
