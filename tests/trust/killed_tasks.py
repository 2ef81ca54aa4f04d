"""Tasks in processes that kill themselves (SIGKILL) at a chosen moment.

This file is a program: it reads orders from its standard input, one JSON record per line, and forks
a process for every order, so that imports are done once. A moment is a call that changes a file, or
a report of progress. Moments are counted, hence a kill does not depend on the speed of the machine.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["TASKS"]

FITS = ("SEC", "KCC", "LWGP", "CCGP")
PLACES = ("memory", "store", "dask")
COMMANDS = {
    "segment": ("segment", "X.npy", "-o", "out/s", "-k", "3", "-n", "6", "--jobs", "1", "-q"),
    "convert to a store": ("convert", "labels.csv", "out/labels.store", "-q"),
    "convert to csv": ("convert", "store", "out/labels.csv", "-q"),
    "convert to npz": ("convert", "labels.csv", "out/labels.npz", "-q"),
    "fuse -o csv": ("fuse", "labels.csv", "-k", "3", "-o", "out/consensus.csv", "-q"),
    "fuse -o npy": ("fuse", "store", "-k", "3", "-m", "sec", "-o", "out/consensus.npy", "-q"),
}
TASKS = (*(f"{method} {place}" for method in FITS for place in PLACES), *COMMANDS)
_CHANGES = {
    "open", "write", "writelines", "writerow", "writerows", "tofile", "flush", "fsync",
    "posix_fallocate", "ftruncate", "pwrite", "mkdir", "rmdir", "rename", "replace", "unlink",
}  # fmt: skip


class Moments:
    """Count moments, and kill the process at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.kill_at = kill_at
        self.n = 0

    def count(self, *_: Any) -> None:
        self.n += 1
        if self.n == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def profile(self, frame: Any, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in _CHANGES:
            self.count()


def fit(method: str, place: str, folder: Path, address: str) -> None:
    """Fit with a checkpoint, and keep the labels."""
    import partita
    from partita import Checkpoint, LabelStore

    arguments: dict[str, Any] = {}
    X: Any = np.load(folder / "labels.npy")
    if place != "memory":
        X = LabelStore.open(folder / "store")
    if place == "dask":
        from distributed import Client

        arguments["client"] = Client(address, set_as_default=False)
    estimator = getattr(partita, method)(3, n_init=2, random_state=0)
    if "checkpoint" in estimator.get_params():
        estimator.set_params(checkpoint=Checkpoint(folder / "state", every=0))
    elif place == "dask":  # such methods take what is in memory
        arguments = {}
    labels = estimator.fit_predict(X, **arguments)
    sys.setprofile(None)
    np.save(folder / "out" / "labels.npy", labels)


def perform(task: str, folder: Path, address: str, kill_at: int) -> None:
    """Do a task in this process, and write the number of its moments."""
    from partita import config_context

    warnings.simplefilter("ignore")
    os.chdir(folder)
    moments = Moments(kill_at)
    with config_context(n_threads=1, progress=moments.count):
        threading.setprofile(moments.profile)
        sys.setprofile(moments.profile)
        if task in COMMANDS:
            from partita.cli import app

            app(list(COMMANDS[task]), standalone_mode=False)
        else:
            fit(*task.split(), folder, address)
        sys.setprofile(None)
    (folder / "moments").write_text(str(moments.n))


def main() -> None:
    """Fork a process for every order, and answer with its exit code."""
    import partita.cli
    import partita.scale._store_rows
    from partita import fuse
    from partita.generators import segment  # noqa: F401 - imported before the processes fork

    partita.scale._store_rows._CHUNK_BYTES = 1 << 11
    fuse([[0, 0, 1], [0, 1, 1]], 2, random_state=0)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(500, exit=True)  # a task that hangs says where
            code = 1
            try:
                perform(order["task"], Path(order["folder"]), order["address"], order["kill_at"])
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
