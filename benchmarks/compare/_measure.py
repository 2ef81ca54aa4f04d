"""Run one contender in its own process: seconds, peak memory, or why it did not finish."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

WORKER = Path(__file__).with_name("_worker.py")
SECONDS_TO_START = 300  # for imports and compilation, which are not counted
SAMPLING_SECONDS = 0.005
CLOCK_FACTOR = 8  # times the limit, by the clock, for a process that waits for a core
GB = 2**30


@dataclass(frozen=True)
class Limits:
    """Limits of CPU time, of all threads together, and of memory."""

    seconds: float = 30
    gigabytes: float = 12


@dataclass(frozen=True)
class Outcome:
    """Labels with their cost, or the reason why there are none."""

    labels: np.ndarray | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_mb: float | None = None
    reason: str = ""
    missing: bool = False  # the library is not installed
    beyond: bool = False  # a limit was exceeded; more samples would exceed it too


class _LimitError(Exception):
    """A limit was exceeded."""


def run(python: str, key: str, folder: Path, n_clusters: int, limits: Limits) -> Outcome:
    """Run a contender on `folder/labels.npy` with an interpreter."""
    command = [python, str(WORKER), key, str(folder), str(n_clusters)]
    budget = {"PARTITA_MEMORY_BUDGET": str(int(limits.gigabytes * GB))}
    with (
        open(folder / "stderr.txt", "w+", encoding="utf-8") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | budget,
        ) as process,
    ):
        try:
            return _watched(process, folder, limits)
        except _LimitError as limit:
            return Outcome(reason=str(limit), beyond=True)
        except EOFError:
            code = process.wait()
            errors.seek(0)
            reason = _reason(errors.read(), code)
            missing = reason.startswith(("ModuleNotFoundError", "ImportError"))
            return Outcome(reason=reason, missing=missing)
        finally:
            process.kill()


def _watched(process: subprocess.Popen[bytes], folder: Path, limits: Limits) -> Outcome:
    process_memory = psutil.Process(process.pid)
    start = Limits(SECONDS_TO_START, limits.gigabytes)
    _line(process, process_memory, start, "importing and warming up")
    before = process_memory.memory_info().rss
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()
    line, peak = _line(process, process_memory, limits, "running")
    seconds, cpu_seconds = map(float, line.split())
    return Outcome(np.load(folder / "consensus.npy"), seconds, cpu_seconds, (peak - before) / 2**20)


def _line(
    process: subprocess.Popen[bytes], memory: psutil.Process, limits: Limits, doing: str
) -> tuple[str, int]:
    """Return the next line that the worker prints, and its peak memory until then."""
    assert process.stdout is not None
    peak = memory.memory_info().rss
    start, cpu_start = time.monotonic(), _cpu_seconds(memory)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not selector.select(SAMPLING_SECONDS):
            peak = max(peak, memory.memory_info().rss)
            if peak > limits.gigabytes * GB:
                raise _LimitError(f"more than {limits.gigabytes:g} GB, {doing}")
            if _cpu_seconds(memory) - cpu_start > limits.seconds:
                raise _LimitError(f"more than {limits.seconds:g} s of computing, {doing}")
            if time.monotonic() - start > CLOCK_FACTOR * limits.seconds:
                raise _LimitError(
                    f"more than {CLOCK_FACTOR * limits.seconds:g} s by the clock, {doing}"
                )
    line = process.stdout.readline().decode()
    if not line:
        raise EOFError
    return line.strip(), peak


def _cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time of all threads so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def _reason(errors: str, code: int) -> str:
    """Return the last line of the traceback, or the exit code if there is none."""
    lines = [line for line in errors.splitlines() if line.strip()]
    messages = [line for line in lines if not line.startswith(" ")]
    return messages[-1] if messages and code > 0 else f"the process ended with code {code}"
