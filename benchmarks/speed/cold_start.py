"""First fit of every method in a new process with an empty cache, compared with the second fit.

Seconds are those of the processor: other load on the machine would hide the difference.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile

from benchmarks.speed._measure import Record
from partita import all_methods

SIZES = ((300, 20, 4), (5000, 50, 10))  # samples, partitions, clusters
LIMIT = 10  # seconds of a process after which a method is left out
ALLOWED = 1.0  # seconds by which the first fit may be slower

SCRIPT = """
import json
import resource
import sys
import time
import warnings

key, n, m, k, limit = json.loads(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

import numpy as np
import partita

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
planted, columns = rng.integers(k, size=n), []
for _ in range(m):
    n_base = int(rng.integers(k, 3 * k))
    column = rng.integers(n_base, size=(k, 2))[planted, rng.integers(2, size=n)]
    columns.append(np.where(rng.random(n) < 0.05, rng.integers(n_base, size=n), column))
labels = np.column_stack(columns)
method = partita.get_method(key)
settings = {"random_state": 0} if "random_state" in method().get_params() else {}
seconds = []
for _ in range(2):
    start = time.process_time()
    method(n_clusters=k, **settings).fit(labels)
    seconds.append(time.process_time() - start)
print(json.dumps(seconds))
"""


def fit_twice(key: str, size: tuple[int, int, int]) -> list[float] | None:
    """Return the seconds of two fits in a new process, None if they take too long."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps([key, *size, LIMIT])],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
        )
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return None
    done.check_returncode()
    result: list[float] = json.loads(done.stdout.splitlines()[-1])
    return result


def run() -> list[Record]:
    records = []
    for n, m, k in SIZES:
        for method in all_methods():
            seconds = fit_twice(method.info.key, (n, m, k))
            if seconds is None:
                print(f"{method.info.key}, {n} x {m}: more than {LIMIT} s, left out", flush=True)
                continue
            first, second = seconds
            print(f"{method.info.key}, {n} x {m}: {first:.2f} s, then {second:.2f} s", flush=True)
            name = f"first fit of {method.__name__}, {n} x {m}"
            records.append(Record(name, first, "second fit", second, second / (second + ALLOWED)))
    return records
