"""Kill tasks at random moments, repeat them, and compare with tasks that nobody killed.

`python -m tests.trust.kills --kills 50` from the root of the repository is the soak; the suite runs
a few kills (`test_kills.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from partita import LabelStore
from partita.exceptions import PartitaWarning
from planted_labels import planted

sys.path.insert(0, str(Path(__file__).resolve().parent))

from killed_tasks import TASKS

__all__ = ["Nursery", "check_task", "cluster"]


class Nursery:
    """A process that forks the tasks."""

    def __init__(self, address: str = "") -> None:
        self.address = address
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("killed_tasks.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        self._process.communicate()

    def perform(self, task: str, folder: Path, kill_at: int = 0) -> int:
        """Return the exit code of a task; 0 kills nothing."""
        order = {"task": task, "folder": str(folder), "address": self.address, "kill_at": kill_at}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def cluster() -> Iterator[str]:
    """Start a Dask cluster on the loopback address, and yield the address of its scheduler."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        yield local.scheduler_address


def prepare(folder: Path) -> Path:
    """Write the sources of all tasks into a new folder."""
    folder.mkdir()
    (folder / "out").mkdir()
    labels = planted(400, 6, 3, noise=0.5, missing=0.2)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "X.npy", np.random.default_rng(0).normal(size=(120, 2)))
    LabelStore.from_partitions(labels, folder / "store", rows_per_chunk=64)
    rows = [["" if v < 0 else str(v) for v in row] for row in labels]
    lines = [",".join(f"p{i}" for i in range(6)), *(",".join(row) for row in rows)]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder but hidden ones, which no reader takes for a result."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def is_incomplete_store(folder: Path) -> bool:
    """Return whether a folder is a store that says of itself that it is not complete."""
    return not LabelStore.open(folder).is_complete


def check_task(task: str, n_kills: int, nursery: Nursery, folder: Path, seed: int) -> int:
    """Kill a task at random moments, do it again each time, and check what is there.

    Return the number of processes that were killed.
    """
    expected_folder = prepare(folder / "expected")
    assert nursery.perform(task, expected_folder) == 0, task
    expected = content(expected_folder / "out")
    assert expected, task
    n_moments = int((expected_folder / "moments").read_text())
    assert n_moments > 0, task
    rng = random.Random(f"{task} {seed}")
    n_killed = 0
    for number in range(n_kills):
        killed = prepare(folder / str(number))
        sources = {k: v for k, v in content(killed).items() if not k.startswith("out/")}
        # every second one near the end, where results are written
        moment = rng.randint(1, n_moments) if number % 2 else n_moments - rng.randint(1, 5)
        code = nursery.perform(task, killed, max(1, moment))
        if code == 0 and task.endswith("dask"):
            continue  # a cluster reports its progress more or less often
        assert code == -signal.SIGKILL, (task, code)
        n_killed += 1
        for name, data in content(killed / "out").items():
            part = killed / "out" / Path(name).parts[0]
            complete = expected.get(name) == data
            assert complete or (part.is_dir() and is_incomplete_store(part)), (task, name)
        assert nursery.perform(task, killed) == 0, task
        assert content(killed / "out") == expected, task
        after = content(killed)
        assert {k: after[k] for k in sources} == sources, f"{task} changed its source"
        assert not (killed / "state" / "state.npz").exists(), f"{task}: the state is left"
    return n_killed


def main() -> int:
    """Kill as many processes as the command line says, spread over all tasks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total = 0
    with tempfile.TemporaryDirectory() as folder, cluster() as address, Nursery(address) as nursery:
        for i, task in enumerate(TASKS):
            n = options.kills // len(TASKS) + (i < options.kills % len(TASKS))
            place = Path(folder) / str(i)
            place.mkdir()
            n_killed = check_task(task, n, nursery, place, options.seed)
            total += n_killed
            sys.stdout.write(f"{task}: {n_killed} kills\n")
            sys.stdout.flush()
    sys.stdout.write(f"{total} processes killed; all results are those of undisturbed tasks\n")
    return 0


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore", PartitaWarning)
    sys.exit(main())
