"""Compiled kernels read and write inside their arrays: their tests with numba's bounds check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
# compiles a second time what the other files test
LEFT_OUT = ("test_jit.py", "test_conventions.py")


@pytest.fixture
def compiled(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder for code with the bounds check, kept from run to run if pytest keeps files.

    The compiler takes four fifths of the time. Code of other sources is compiled again.
    """
    kept = getattr(request.config, "cache", None)
    return tmp_path if kept is None else kept.mkdir("bounds")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the bounds check, and a cache of its own: other code is not checked."""
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(folder),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=KERNELS.parents[1],
        capture_output=True,
        text=True,
    )


def test_the_check_is_on(compiled: Path) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    script = """
import numpy as np
from partita import _kernels
codes, out = np.zeros((2, 1), np.uint8), np.zeros(1)
arguments = codes, np.uint8(255), np.array([5, 6], np.int32), np.ones(2), 0, 1, out
_kernels.contingency.cluster_sums.compiled(*arguments)
"""
    assert "IndexError" in run(compiled, "-c", script).stderr


@pytest.mark.slow  # compiles every kernel once more
def test_kernels_stay_inside_their_arrays(compiled: Path) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    files = [str(p) for p in sorted(KERNELS.glob("test_*.py")) if p.name not in LEFT_OUT]
    options = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    result = run(compiled, *options, *files)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
    assert " passed" in result.stdout
