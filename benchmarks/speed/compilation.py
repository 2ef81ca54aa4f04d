"""Seconds that the compiler takes for every method in a new process with an empty cache.

Kernels are compiled whatever the size of the work: the set is that of the largest fits, and a small
table of distinct rows shows it. The reference is a limit. Seconds are those of the processor, the
least of some processes; the load of the machine still changes them, by up to a half.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.speed._measure import Record
from partita import all_methods

SHARES = {"no label missing": 0.0, "15 % missing": 0.15}
LIMITS = {"sec": 8.0}  # seconds
LIMIT = 4.0  # of every other method
REPEATS = 2  # processes
SHOWN = 5  # kernels with the most seconds

SCRIPT = """
import json
import sys
import time
import warnings

key, share = json.loads(sys.argv[1])

import numpy as np
import partita
from numba.core import event
from partita._kernels import _dispatch

_dispatch.COMPILED_FROM = 0
warnings.simplefilter("ignore")


class Timer(event.Listener):
    def __init__(self):
        self.running, self.kernels = [], {}

    def on_start(self, event):
        self.running.append(time.process_time())

    def on_end(self, event):
        seconds = time.process_time() - self.running.pop()
        if not self.running:  # of a kernel, with the functions that are compiled for it
            name = event.data["dispatcher"].py_func.__name__
            self.kernels[name] = self.kernels.get(name, 0.0) + seconds


timer = Timer()
event.register("numba:compile", timer)
rng = np.random.default_rng(0)
planted = rng.integers(4, size=300)
labels = np.column_stack([
    np.where(rng.random(300) < 0.3, rng.integers(8, size=300), rng.permutation(8)[planted])
    for _ in range(20)
])
labels[rng.random(labels.shape) < share] = -1
method = partita.get_method(key)
settings = {"random_state": 0} if "random_state" in method().get_params() else {}
method(n_clusters=4, **settings).fit(labels)
print(json.dumps(timer.kernels))
"""


def compile_once(key: str, share: float) -> dict[str, float]:
    """Return the kernels that a fit in a new process compiles, with their seconds."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps([key, share])],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
        )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def run() -> list[Record]:
    records = []
    for method in all_methods():
        limit = LIMITS.get(method.info.key, LIMIT)
        for title, share in SHARES.items():
            runs = [compile_once(method.info.key, share) for _ in range(REPEATS)]
            kernels = min(runs, key=lambda run: sum(run.values()))
            longest = sorted(kernels, key=kernels.__getitem__, reverse=True)[:SHOWN]
            note = ", ".join(f"{name.lstrip('_')} {kernels[name]:.1f}" for name in longest)
            seconds = sum(kernels.values())
            name = f"compilation of {method.__name__}, {title}"
            print(f"{name}: {len(kernels)} kernels, {seconds:.1f} s ({note})", flush=True)
            records.append(Record(name, seconds, "limit", limit, 1.0, note=note))
    return records
