"""The page of promises names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_exists() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "|---" not in line]
    # the table of mutants has modules, not promises
    promises = [row for row in rows if not row.startswith(("| promise", "| module", "| `"))]
    assert len(promises) > 15
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for row in promises:
        tests = re.findall(r"`(tests/[\w/.]+)`", row)
        targets = re.findall(r"`make ([\w-]+)`", row)
        assert tests or targets, f"no test: {row}"
        for name in tests:
            assert (ROOT / name).exists(), name
        for target in targets:
            assert f"\n{target}:" in makefile, target


def test_all_tests_of_trust_are_named() -> None:
    for path in Path(__file__).parent.glob("test_*.py"):
        if path.name != Path(__file__).name:
            assert f"tests/trust/{path.name}" in PAGE, path.name
