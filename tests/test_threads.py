"""Blocks on several threads: each runs once, exceptions are raised, a fork has its own threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from partita import DREC, config_context
from partita._threads import _pools, blas_threads_for, run_blocks, run_shares, thread_pools


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("n", "block"), [(0, 4), (3, 4), (4, 4), (103, 4)])
def test_every_block_runs_once(threads: int, n: int, block: int) -> None:
    done: list[tuple[int, int]] = []
    with config_context(n_threads=threads):
        run_blocks(lambda start, stop: done.append((start, stop)), n, block)
    assert sorted(done) == [(i, min(i + block, n)) for i in range(0, n, block)]


@pytest.mark.parametrize("work", [10, 10**9])
def test_shares_cover_everything(work: int) -> None:
    done: list[tuple[int, int]] = []
    with config_context(n_threads=2):
        run_shares(lambda first, last: done.append((first, last)), 7, work)
    done.sort()
    assert (done[0][0], done[-1][1]) == (0, 7)
    assert all(one[1] == other[0] for one, other in pairwise(done))
    assert (len(done) == 1) == (work == 10)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_reaches_the_caller_and_ends_the_rest(threads: int) -> None:
    done = []

    def kernel(start: int, stop: int) -> None:
        if start == 3:
            raise KeyError("block 3")
        done.append(start)
        time.sleep(0.001)

    with config_context(n_threads=threads), pytest.raises(KeyError, match="block 3"):
        run_blocks(kernel, 1_000, 1)
    assert len(done) < 1_000
    with config_context(n_threads=threads):  # nothing is left behind
        run_blocks(lambda start, stop: done.append(start), 10, 1)


def test_an_interruption_between_two_blocks_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other thread ends its block and begins no further one."""
    began, raised, done = threading.Event(), threading.Event(), []

    class InterruptedLock:
        """A lock in which the main thread is interrupted once the other one has a block."""

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __enter__(self) -> None:
            if threading.current_thread() is threading.main_thread():
                assert began.wait(600)
                raise KeyboardInterrupt
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    def kernel(start: int, stop: int) -> None:
        began.set()
        done.append(start)
        assert raised.wait(600)

    monkeypatch.setattr("partita._threads.Lock", InterruptedLock)
    with config_context(n_threads=2):
        with pytest.raises(KeyboardInterrupt):
            run_blocks(kernel, 100, 1)
        raised.set()
        monkeypatch.undo()
        run_blocks(lambda start, stop: None, 2, 1)  # after what the other thread still does
    _pools[2].submit(lambda: None).result(600)
    assert done == [0]


def test_blocks_inside_blocks() -> None:
    done = []

    def outer(start: int, stop: int) -> None:
        run_blocks(lambda a, b: done.append((start, a)), 5, 1)

    with config_context(n_threads=2):
        run_blocks(outer, 20, 1)
    assert sorted(done) == [(i, j) for i in range(20) for j in range(5)]


def test_two_threads_work_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=600)
    with config_context(n_threads=2):
        run_blocks(lambda start, stop: together.wait(), 2, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """In a process of its own: a child of the process that runs the tests would have its pipes."""
    script = """
import faulthandler, os, threading
from partita import config_context
from partita._threads import run_blocks

with config_context(n_threads=2):
    run_blocks(lambda start, stop: None, 8, 1)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(200, exit=True)
        code, done = 1, []
        try:
            together = threading.Barrier(2, timeout=100)
            run_blocks(lambda start, stop: (together.wait(), done.append(start)), 2, 1)
            code = 0 if sorted(done) == [0, 1] else 2
        finally:
            os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def two_blas_threads() -> Iterator[None]:
    with thread_pools().limit(limits=2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip(f"BLAS does not take two threads here, but {blas_threads() or 'others'}")
        yield


def blas_threads() -> set[int]:
    """Return the numbers of threads of all libraries of BLAS."""
    return {pool["num_threads"] for pool in thread_pools().select(user_api="blas").info()}


@pytest.mark.usefixtures("two_blas_threads")
def test_small_computations_use_one_thread_of_blas() -> None:
    with blas_threads_for(2000), blas_threads_for(10):
        assert blas_threads() == {1}
    with blas_threads_for(2001):
        assert blas_threads() == {2}
    with pytest.raises(ValueError, match="stop"), blas_threads_for(10):
        raise ValueError("stop")
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_of_few_rows_uses_one_thread_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    solve = DREC._solve

    def observe(self: DREC, *arguments: Any) -> Any:
        seen.append(blas_threads())
        return solve(self, *arguments)

    monkeypatch.setattr(DREC, "_solve", observe)
    DREC(n_clusters=2, random_state=0).fit([[0, 0, 1, 1, 2], [0, 0, 1, 2, 2], [5, 5, 5, 7, 7]])
    assert seen == [{1}]
    assert blas_threads() == {2}
