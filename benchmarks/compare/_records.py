"""Records of a comparison, in a file that is written after every measurement."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from benchmarks.compare._measure import Limits
from benchmarks.json_lines import Record, read, write

RECORDS = Path(__file__).with_name("records.jsonl")
READ = (
    "`seconds` by the clock depend on what else the machine did (`load`, its load average when the "
    "call began), `cpu_seconds` of all threads hardly: compare those, in lines of one size."
)
Cell = tuple[int, int, str, str]  # samples, partitions, library, what


class Records:
    """Records by cell. A record of an earlier run stays until its cell is measured again.

    The first line of the file says how to read them, and what the last run was made with.
    """

    def __init__(self, file: Path, limits: Limits) -> None:
        self.file = file
        self.about = {
            "read": READ,
            "run": {"python": platform.python_version(), "cores": os.cpu_count()},
            "limits": {"seconds": limits.seconds, "gigabytes": limits.gigabytes},
        }
        self.by_cell: dict[Cell, Record] = {cell_of(r): r for r in read(file)[1:]}

    def add(self, record: Record) -> None:
        self.by_cell[cell_of(record)] = record
        write(self.file, [self.about, *self.by_cell.values()])

    def passed_a_limit(self, n: int, m: int, library: str, what: str) -> tuple[int, int] | None:
        """Return a size no larger than n x m at which the contender exceeded a limit."""
        for (n_then, m_then, *who), record in self.by_cell.items():
            within = n_then <= n and m_then <= m and (n_then, m_then) != (n, m)
            if within and who == [library, what] and record["passed_limit"]:
                return n_then, m_then
        return None


def cell_of(record: Record) -> Cell:
    return record["n"], record["m"], record["library"], record["what"]
