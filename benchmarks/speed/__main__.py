"""`python -m benchmarks.speed [--readme] [name ...]`: print targets as ratios, keep the records.

`--readme` writes the table of all records between the README's speed markers.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import benchmarks.speed as package

RECORDS = Path(__file__).parent / "records.json"
README = Path(__file__).parents[2] / "README.md"
MARKERS = ("<!-- speed:start -->", "<!-- speed:end -->")


def main(arguments: list[str]) -> None:
    names = [a for a in arguments if not a.startswith("--")]
    found = [m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")]
    kept = {r["name"]: r for r in json.loads(RECORDS.read_text())} if RECORDS.exists() else {}
    if "--readme" not in arguments or names:
        fresh = {}
        for name in names or found:
            for record in importlib.import_module(f"benchmarks.speed.{name}").run():
                fresh[record.name] = asdict(record) | {"ratio": record.ratio, "met": record.met}
        show(list(fresh.values()))
        kept = kept | fresh if names else fresh
        RECORDS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
    if "--readme" in arguments:
        write_readme(list(kept.values()))


def show(records: list[dict[str, Any]]) -> None:
    table = Table("what", "seconds", "reference", "its seconds", "ratio", "target", "peak MB", "")
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


def write_readme(records: list[dict[str, Any]]) -> None:
    lines = ["| what | seconds | beside | its seconds | ratio |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {r['name']} | {r['seconds']:.2g} | {r['reference']} | {r['reference_seconds']:.2g} "
        f"| {r['ratio']:.3g}x |"
        for r in records
        if not r["name"].startswith("plan of")  # how well a plan predicts is no speed
    ]
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    table = "\n".join(lines)
    README.write_text(f"{before}{MARKERS[0]}\n{table}\n{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
