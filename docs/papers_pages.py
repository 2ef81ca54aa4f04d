"""The pages of docs/papers, from records of the papers' tables. `write_pages.py` writes them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # benchmarks are no part of the package

from benchmarks.papers._pages import pages

__all__ = ["pages"]
