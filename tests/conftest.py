"""Settings of the suite, and fixtures for full reference outputs beside the repository.

Small reference values are in tests/reference and need none of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from partita._packages import is_installed
from tried_cases import FACTOR, n_cases
from warm_process import Programs, programs

# The same examples in every run (but not in a soak), and no deadline on a busy machine.
settings.register_profile(
    "suite",
    derandomize=FACTOR == 1,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

_cases_of_workers = 0


def pytest_configure(config: pytest.Config) -> None:
    """Let large tests run without numba (`make test-nojit`), which warns that they are slow."""
    if not is_installed("numba"):
        config.addinivalue_line("filterwarnings", "ignore:numba cannot be imported")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that two processes end at about the same time."""
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the number of tried cases from a process of pytest-xdist to the main process."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["n_cases"] = n_cases()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the number of cases of a process of pytest-xdist that ended."""
    global _cases_of_workers
    _cases_of_workers += getattr(node, "workeroutput", {}).get("n_cases", 0)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the number of cases that property-based tests tried."""
    total = n_cases() + _cases_of_workers
    if total:
        terminalreporter.write_line(f"{total:,} cases of properties tried")


@pytest.fixture(scope="session")
def python() -> Iterator[Programs]:
    """Return command lines that run Python without importing large packages again."""
    with programs() as found:
        yield found


@pytest.fixture
def compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compiled kernels do small work too, where a test has much of it.

    Both forms of a kernel give the same result to the last bit, which other tests check.
    """
    monkeypatch.setattr("partita._kernels._dispatch.COMPILED_FROM", 0)


SHARED = Path(__file__).resolve().parents[2] / "shared"
ORACLES = SHARED / "oracles"
ORACLE_SETS = ("iris_a", "ecoli_a", "ecoli_b", "umist_p", "aggregation_a")


class Oracle:
    """The outputs of published programs on one ensemble."""

    def __init__(self, name: str) -> None:
        self.name = name
        base = np.load(ORACLES / name / "base.npz")
        self.labels = base["labels"].astype(np.int64)
        self.truth = base["y"]
        self.n_clusters = int(base["n_clusters"])

    def __call__(self, file: str) -> dict[str, np.ndarray]:
        path = ORACLES / self.name / f"{file}.npz"
        if not path.exists():
            pytest.skip(f"no reference output {file} for {self.name}")
        return dict(np.load(path))


@pytest.fixture(params=ORACLE_SETS)
def oracle(request: pytest.FixtureRequest) -> Oracle:
    """Return each reference ensemble in turn; skip where the outputs are not present."""
    if not ORACLES.is_dir():
        pytest.skip("reference outputs are not beside the repository (../shared/oracles)")
    return Oracle(request.param)


@pytest.fixture
def shared() -> Path:
    """Return the folder of reference data."""
    if not SHARED.is_dir():
        pytest.skip("reference data are not beside the repository (../shared)")
    return SHARED
