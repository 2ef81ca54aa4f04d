"""Records as JSON lines, appended as they come; a run that was killed continues from them.

All benchmarks write their records with this module, and the docs read them with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Record", "append", "read", "write"]

Record = dict[str, Any]


def read(file: Path) -> list[Record]:
    """Return the records, none without a file, without a last line that a kill cut off."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def append(file: Path, records: Iterable[Record]) -> None:
    """Add records at the end of a file, in place of a last line that a kill cut off."""
    with open(file, "ab+") as stream:
        if end := stream.tell():
            stream.seek(end - 1)
            if stream.read() != b"\n":
                stream.truncate(file.read_bytes().rfind(b"\n") + 1)
        stream.write(_lines(records))


def write(file: Path, records: Iterable[Record]) -> None:
    """Replace the records of a file."""
    file.write_bytes(_lines(records))


def _lines(records: Iterable[Record]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()
