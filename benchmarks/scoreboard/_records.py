"""The records of the scoreboard, and what one unit of its work has in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.json_lines import Record

__all__ = ["KEY", "RECORDS", "key_of"]

RECORDS = Path(__file__).with_name("records.jsonl")
# "data" is a hash of the set. The number of partitions is None where no generator makes them, the
# largest K where nothing is scanned.
KEY = ("set", "data", "source", "seed", "k_rule", "n_partitions", "largest_k")


def key_of(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in KEY)
