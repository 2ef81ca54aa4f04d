"""First fit of every method in a new process with an empty cache, compared with the second fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.speed._measure import Record
from partita import all_methods

SIZES = ((300, 20, 4), (5000, 50, 10))  # samples, partitions, clusters
LIMIT = 20  # seconds after which a method is left out
ALLOWED = 1.0  # seconds by which the first fit may be slower

SCRIPT = """
import json
import sys
import time
import warnings

import numpy as np
import partita

warnings.simplefilter("ignore")
key, n, m, k = json.loads(sys.argv[1])
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
    start = time.perf_counter()
    method(n_clusters=k, **settings).fit(labels)
    seconds.append(time.perf_counter() - start)
print(json.dumps(seconds))
"""


def fit_twice(key: str, size: tuple[int, int, int]) -> list[float] | None:
    """Return the seconds of two fits in a new process, None if they take too long."""
    with tempfile.TemporaryDirectory() as cache:
        try:
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT, json.dumps([key, *size])],
                capture_output=True,
                text=True,
                check=True,
                timeout=LIMIT,
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
            )
        except subprocess.TimeoutExpired:
            return None
    result: list[float] = json.loads(done.stdout.splitlines()[-1])
    return result


def run() -> list[Record]:
    records = []
    for n, m, k in SIZES:
        for method in all_methods():
            seconds = fit_twice(method.info.key, (n, m, k))
            if seconds is None:
                print(f"{method.info.key}, {n} x {m}: more than {LIMIT} s, left out")
                continue
            first, second = seconds
            name = f"first fit of {method.__name__}, {n} x {m}"
            records.append(Record(name, first, "second fit", second, second / (second + ALLOWED)))
    return records
