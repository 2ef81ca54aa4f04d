"""The library without numba and psutil, and where no folder can be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REFUSE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite", "psutil"):
            raise ImportError(f"No module named {name!r}")

sys.meta_path.insert(0, Refuse())
"""
FIT = """
import json
import warnings
import numpy as np

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import partita
    from partita._kernels import _dispatch

    rng = np.random.default_rng(0)
    labels = (np.arange(60)[:, None] // 20 + (rng.random((60, 6)) < 0.2)) % 4
    methods = [partita.CSPA(3, random_state=0), partita.LWGP(3, random_state=0)]
    small = [method.fit(labels) for method in methods]
    n_small = len(caught)
    _dispatch.COMPILED_FROM = 0
    large = [type(m)(3, random_state=0).fit(labels) for m in methods for _ in range(2)]
print(json.dumps({
    "n_small": n_small,
    "messages": [str(w.message) for w in caught],
    "labels": [m.labels_.tolist() for m in small],
    "labels_of_large_work": [m.labels_.tolist() for m in large[::2]],
    "objectives": [m.objective_ for m in large[::2]],
}))
"""


def run(code: str, **environment: str) -> Any:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=kept | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def plain() -> Any:
    return run(REFUSE + FIT)


def test_small_work_needs_no_numba(plain: Any) -> None:
    assert plain["n_small"] == 0


def test_large_work_without_numba_warns_once(plain: Any) -> None:
    (message,) = plain["messages"]
    assert "No module named 'numba'" in message
    assert "pip install numba" in message


def test_results_are_those_of_compiled_kernels(plain: Any, tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    for source in ("compiler", "cache"):
        compiled = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
        assert compiled["messages"] == []
        for name in ("labels", "labels_of_large_work", "objectives"):
            assert compiled[name] == plain[name], source


COMPILE = """
import json
import numpy as np
import partita
from partita import _kernels

tasks = []
partita.set_config(progress=lambda progress: tasks.append((progress.task, progress.message)))
out = np.empty(3, np.int32)
n_labeled = _kernels.contingency.n_labeled.compiled
n_labeled(np.zeros((3, 2), np.uint8), np.uint8(255), 0, 3, out)
print(json.dumps({"out": out.tolist(), "tasks": tasks}))
"""


def test_a_kernel_reports_that_it_is_compiled(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    report = run(COMPILE, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert report == {"out": [2, 2, 2], "tasks": [["compiling, once", "n_labeled"]]}
    assert (tmp_path / "cache").exists()
    assert run(COMPILE, NUMBA_CACHE_DIR=str(tmp_path / "cache"))["tasks"] == []


NOWHERE = """
from numba.core import caching

names = ("CacheImpl", "_CacheImpl")  # in newer and in older versions
next(getattr(caching, name) for name in names if hasattr(caching, name))._locator_classes = []
"""


@pytest.mark.parametrize("preparation", ["", NOWHERE], ids=["beside the source", "nowhere"])
def test_a_kernel_is_compiled_where_its_cache_cannot_be_written(
    preparation: str, tmp_path: Path
) -> None:
    """There is no home folder either. A file in place of the cache stops even root."""
    pytest.importorskip("numba", reason="numba is not installed")
    (tmp_path / "file").write_text("")
    report = run(preparation + COMPILE, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert report["out"] == [2, 2, 2]
