"""Records as JSON lines, appended as they come; a run that was killed continues from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["KEY", "RECORDS", "Record", "append", "key_of", "read"]

RECORDS = Path(__file__).with_name("records.jsonl")
# What one unit of work has in common. "data" is a hash of the set. The number of partitions is None
# where no generator makes them, the largest K where nothing is scanned.
KEY = ("set", "data", "source", "seed", "k_rule", "n_partitions", "largest_k")
Record = dict[str, Any]


def key_of(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in KEY)


def read(file: Path) -> list[Record]:
    """Return the records, without a last line that a kill cut off."""
    if not file.exists():
        return []
    *lines, rest = file.read_text(encoding="utf-8").split("\n")
    if rest:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [json.loads(line) for line in lines]


def append(file: Path, records: list[Record]) -> None:
    with open(file, "a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)
