"""`python -m benchmarks.speed [name ...]`: print every target as a ratio, keep the records."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks.speed as package

RECORDS = Path(__file__).parent / "records.json"


def main(names: list[str]) -> None:
    found = [m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")]
    kept = {r["name"]: r for r in json.loads(RECORDS.read_text())} if RECORDS.exists() else {}
    table = Table("what", "seconds", "reference", "its seconds", "ratio", "target", "peak MB", "")
    for name in names or found:
        for record in importlib.import_module(f"benchmarks.speed.{name}").run():
            kept[record.name] = asdict(record) | {"ratio": record.ratio, "met": record.met}
            table.add_row(
                record.name,
                f"{record.seconds:.3g}",
                record.reference,
                f"{record.reference_seconds:.3g}",
                f"{record.ratio:.1f}x",
                f">= {record.target:g}x",
                "" if record.peak_mb is None else f"{record.peak_mb:.0f}",
                "met" if record.met else "MISSED",
            )
    Console(width=150).print(table)
    RECORDS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
