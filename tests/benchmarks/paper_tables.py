"""Tables of the papers and their records, for tests, which only read them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.papers._records import Records  # noqa: E402
from benchmarks.papers._tables import Table, read_tables  # noqa: E402

TABLES = read_tables()


@cache
def kept(paper: str) -> Records:
    """Return the records of the repository."""
    return Records(paper)


def small(key: str, data: list[str], draws: int, methods: list[str]) -> Table:
    """Return a part of a table."""
    table = TABLES[key].limited(quick=False, data=data, draws=draws)
    chosen = [entry for entry in table.content["methods"] if entry["name"] in methods]
    return Table(key, table.content | {"methods": chosen})
