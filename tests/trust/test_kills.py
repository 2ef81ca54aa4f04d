"""Tasks that are killed and done again give the same result; `kills.py` is the soak."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_tasks import TASKS
from kills import Nursery, check_task

pytestmark = pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    if not hasattr(os, "fork"):
        pytest.skip("THIS SYSTEM CANNOT FORK: tasks that are killed are not tested here")
    with Nursery() as nursery:
        yield nursery


@pytest.mark.parametrize(
    "task", ["KCC store", "LWGP memory", "segment", "convert to a store", "fuse -o csv"]
)
def test_a_killed_task_is_done_again(task: str, nursery: Nursery, tmp_path: Path) -> None:
    assert task in TASKS
    assert check_task(task, 1, nursery, tmp_path, seed=1) == 1
