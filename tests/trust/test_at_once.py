"""Fits in several processes and threads at once, and processes that are interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import psutil
import pytest
from sklearn.base import clone

from partita import LabelStore, config_context
from partita.datasets import make_partitions
from partita.exceptions import InvalidStoreError
from partita.registry import prepare

pytestmark = pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
KEYS = ("ccgp", "eac", "sec", "kcc", "lwgp", "voting", "trce", "mcla")


def fit(number: int) -> list[int]:
    """Fit the method with this number to partitions of its own."""
    table = make_partitions(50, 6, noise=0.3, random_state=number)[0]
    with config_context(n_threads=2):
        return clone(prepare(KEYS[number], 3, 0)).fit_predict(table).tolist()


@cache
def one_after_another() -> list[list[int]]:
    """Return the labels of all methods; kernels and threads of this process are in use then."""
    return [fit(number) for number in range(8)]


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.filterwarnings("ignore:.*:UserWarning:joblib")  # a worker that was slow to start
def test_joblib(backend):
    with joblib.parallel_config(backend=backend, n_jobs=8 if backend == "threading" else 4):
        labels = joblib.Parallel()(joblib.delayed(fit)(number) for number in range(8))
    assert labels == one_after_another()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes(start):
    """In a process of its own, which has used kernels and threads before it starts others."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"THIS SYSTEM CANNOT {start.upper()}: fits in such processes are not tested")
    script = f"""
import faulthandler, multiprocessing, sys, warnings

sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_at_once import fit, one_after_another

if __name__ == "__main__":
    faulthandler.dump_traceback_later(500, exit=True)
    warnings.simplefilter("ignore")
    expected = one_after_another()
    with multiprocessing.get_context({start!r}).Pool(2) as pool:
        assert pool.map_async(fit, range(8), chunksize=1).get(400) == expected
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_command_ends_its_processes(tmp_path):
    """`segment` works in several processes; the signal reaches only the first of them."""
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(20_000, 8)))
    program = (sys.executable, "-c", "from partita.cli import main; main()")
    options = ("-o", str(tmp_path / "store"), "-n", "500", "-k", "50", "--jobs", "2", "-q")
    command = [*program, "segment", str(tmp_path / "X.npy"), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        parent = psutil.Process(process.pid)
        deadline = time.monotonic() + 600
        while len(children := parent.children(recursive=True)) < 3:  # two, and their tracker
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=600)[1] == "interrupted\n"
        finally:  # of a command that hangs nothing may stay, nor may the test wait for it
            process.kill()
        assert process.returncode == 130
    assert psutil.wait_procs(children, timeout=600)[1] == []
    with pytest.raises(InvalidStoreError, match="is not complete"):
        LabelStore.open(tmp_path / "store").require_complete()
