"""Records are JSON lines, and a line that a kill cut off is lost alone."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.json_lines import append, read, write  # noqa: E402


def test_a_file_is_continued_after_a_line_that_was_cut_off(tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    assert read(file) == []
    append(file, [{"a": 1, "é": None}, {"a": 2}])
    with open(file, "ab") as stream:
        stream.write(b'{"a": ')
    cut_off = file.read_bytes()
    assert read(file) == [{"a": 1, "é": None}, {"a": 2}]
    assert file.read_bytes() == cut_off, "reading changes nothing: another process may be writing"
    append(file, [{"a": 3}])
    assert read(file) == [{"a": 1, "é": None}, {"a": 2}, {"a": 3}]
    write(file, [{"a": 4}])
    assert read(file) == [{"a": 4}]


def test_a_first_line_that_was_cut_off_is_replaced(tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"a"')
    assert read(file) == []
    append(file, [])
    append(file, [{"a": 1}])
    assert file.read_bytes() == b'{"a": 1}\n'
