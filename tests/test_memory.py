"""The memory budget, and the error when a step exceeds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from partita import _memory, coassociation, config_context
from partita._memory import available_bytes, describe_bytes, memory_budget, require_memory
from partita.exceptions import MemoryBudgetError


@pytest.fixture
def cgroup(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("V_", "memory.")
            path.write_text(str(text) + "\n")

    return write


def test_default_is_four_fifths_of_the_available_memory(cgroup, monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)
    assert memory_budget() == 800
    with config_context(memory_budget=123):
        assert memory_budget() == 123


def test_without_a_container(cgroup):
    free = pytest.importorskip("psutil").virtual_memory().available
    assert available_bytes() == pytest.approx(free, rel=0.2)


@pytest.fixture
def without_psutil(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)


def test_psutil_is_not_needed_on_linux(cgroup, without_psutil, tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:    5 kB\n")
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("900 7 3 1 0 2 0\n")
    monkeypatch.setattr(_memory, "_PROC", tmp_path)
    monkeypatch.setattr(_memory.os, "sysconf", {"SC_PAGE_SIZE": 1000}.__getitem__)
    assert available_bytes() == 5 * 1024
    assert _memory._resident_bytes() == 7000


def test_psutil_is_not_needed_elsewhere(cgroup, without_psutil, tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_PROC", tmp_path)
    pages = {"SC_AVPHYS_PAGES": 6, "SC_PAGE_SIZE": 1000}
    monkeypatch.setattr(_memory.os, "sysconf", pages.__getitem__)
    assert available_bytes() == 6000
    monkeypatch.delattr(_memory.os, "sysconf")
    assert available_bytes() == 2**30
    with _memory.PeakMemory() as peak:
        np.ones(1000)
    assert peak.gained == 0


def test_containers_limit(cgroup):
    cgroup(V_max=10_000, V_current=4_000)
    assert available_bytes() == 6_000


def test_no_limit(cgroup):
    cgroup(V_max="max", V_current=4_000)
    assert available_bytes() > 1e6


def test_cached_files_do_not_count_as_used(cgroup):
    cgroup(V_max=10_000, V_current=9_500, V_stat="anon 500\nfile 9000\ninactive_file 8000")
    assert available_bytes() == 8_500


def test_nothing_is_available_beyond_the_limit(cgroup):
    cgroup(V_max=10_000, V_current=12_000)
    assert available_bytes() == 0


def test_containers_with_cgroups_version_1(cgroup):
    cgroup(
        memory__V_limit_in_bytes=10_000,
        memory__V_usage_in_bytes=9_000,
        memory__V_stat="inactive_file 1\ntotal_inactive_file 3000",
    )
    assert available_bytes() == 4_000


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 kB"),
        (3 * 2**30, "3.0 GB"),
        (2**60, "1048576.0 TB"),
    ],
)
def test_bytes_in_words(n, words):
    assert describe_bytes(n) == words


def test_require_memory():
    with config_context(memory_budget=1000):
        require_memory(1000, "Something")
        with pytest.raises(MemoryBudgetError, match=r"Something needs 1001 bytes \(1001 bytes\)"):
            require_memory(1001, "Something")
        with pytest.raises(
            MemoryError, match=r"the memory budget is 1000 bytes. Less than 1000. Ra"
        ):
            require_memory(10**15, "Something", lambda budget: f"Less than {budget}.")


def test_nothing_is_allocated_beyond_the_budget():
    """300 000 distinct rows: 720 GB of co-association, refused at once."""
    labels = np.stack([np.arange(300_000) % 700, np.arange(300_000) // 700], axis=1)
    refused = pytest.raises(MemoryBudgetError, match="300000 x 300000")
    with _memory.PeakMemory() as peak, refused:
        coassociation(labels)
    assert peak.gained < 500e6


@pytest.mark.parametrize(
    "preparation",
    [
        "",
        pytest.param(
            "import sys; sys.modules['psutil'] = None",
            marks=pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="not Linux"),
        ),
    ],
    ids=["as installed", "without psutil"],
)
def test_gained_memory_is_measured(preparation):
    """In a process of its own: libraries of other tests may free memory at any time here."""
    code = f"""
{preparation}
import time
import numpy as np
from partita._memory import PeakMemory

with PeakMemory() as memory:
    held = np.ones(8_000_000)
    for _ in range(60_000):  # until the thread has measured it, however busy the machine is
        if memory.gained > 50_000_000:
            break
        time.sleep(0.01)
    del held
print(memory.gained)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == pytest.approx(64_000_000, rel=0.2)
