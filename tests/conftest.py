"""Settings of the suite, and fixtures for full reference outputs beside the repository.

Small reference values are in tests/reference and need none of this.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from partita._packages import is_installed

# The same examples in every run, and no deadline on a busy machine.
settings.register_profile(
    "suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Let large tests run without numba (`make test-nojit`), which warns that they are slow."""
    if not is_installed("numba"):
        config.addinivalue_line("filterwarnings", "ignore:numba cannot be imported")


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
