"""Every method has all its files, and CONTRIBUTING's recipe adds one that passes the battery."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from references import FOLDER

from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[1]
KEYS = [method.info.key for method in all_methods()]
BIBLIOGRAPHY = runpy.run_path(str(ROOT / "docs" / "methods_table.py"))["bibliography"]()


@pytest.mark.parametrize("key", KEYS)
def test_method_has_its_files(key: str) -> None:
    files = [
        ROOT / "src" / "partita" / "consensus" / f"{key}.py",
        ROOT / "tests" / "consensus" / f"test_{key}.py",
        FOLDER / f"{key}.json",
    ]
    missing = [str(path.relative_to(ROOT)) for path in files if not path.exists()]
    assert missing == [], "see CONTRIBUTING.md"


@pytest.mark.parametrize("method", all_methods(), ids=lambda m: m.__name__)
def test_method_cites_an_entry_of_the_bibliography(method) -> None:
    assert method.info.cite in BIBLIOGRAPHY, "add it to docs/references.bib"
    entry = BIBLIOGRAPHY[method.info.cite]
    assert {"author", "title", "year"} <= set(entry)
    words = re.findall(r"\w{4,}", entry["title"].lower())
    text = " ".join((method.__doc__ or "").lower().split())
    assert all(word in text for word in words), "the docstring cites the same title"


def test_every_entry_of_the_bibliography_is_complete() -> None:
    incomplete = [
        key for key, entry in BIBLIOGRAPHY.items() if not {"author", "title", "year"} <= set(entry)
    ]
    assert incomplete == []
