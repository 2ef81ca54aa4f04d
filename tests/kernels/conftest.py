"""Without the compiler, integers of hashes overflow with a warning; compiled ones wrap around."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        for item in items:
            item.add_marker(pytest.mark.filterwarnings("ignore:overflow encountered"))
