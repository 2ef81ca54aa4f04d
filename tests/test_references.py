"""Every method reproduces its reference file."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import PartitaWarning
from partita.registry import all_methods, get_method
from references import FOLDER, SOURCES, Case, compute, load_cases, load_file

KEYS = [method.info.key for method in all_methods()]
WITH_FILE = [key for key in KEYS if (FOLDER / f"{key}.json").exists()]
CASES = [(key, case) for key in WITH_FILE for case in load_cases(key)]


def check_format(stored: dict[str, Any], key: str) -> None:
    """Check that a reference file has the format of reference/README.md."""
    assert set(stored) == {"method", "source", "how", "cases"}
    assert stored["method"] == key
    assert stored["source"] in SOURCES
    assert len(stored["how"]) > 20
    assert stored["cases"]
    for case in stored["cases"]:
        assert {"partitions", "parameters", "expected"} <= set(case)
        assert set(case) <= {"partitions", "parameters", "expected", "intermediate"}
        assert case["expected"]


def check_case(key: str, case: Case) -> None:
    """Fit a method as the case says and compare everything that the case expects."""
    method = get_method(key)
    parameters = dict(case.parameters)
    if "random_state" in method().get_params():
        parameters.setdefault("random_state", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        fitted = method(**parameters).fit(case.partitions)
    for entry in case.expected:
        value = compute(fitted, case, entry)
        if entry["quantity"] == "labels":
            agreement = adjusted_rand_score(list(entry["value"]), value)
            assert agreement >= entry.get("min_ari", 1.0), "labels"
        elif "value" in entry:
            tolerances = {name: entry.get(name, 0) for name in ("rtol", "atol")}
            np.testing.assert_allclose(
                value, entry["value"], **tolerances, err_msg=entry["quantity"]
            )
        if "at_most" in entry:
            assert value <= entry["at_most"], entry["quantity"]
        if "at_least" in entry:
            assert value >= entry["at_least"], entry["quantity"]


@pytest.mark.parametrize("script", ["calculate", "write"])
def test_scripts_that_write_the_files_can_be_loaded(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path('{script}.py')"],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("key", KEYS)
def test_file_has_the_common_format(key: str) -> None:
    check_format(load_file(key), key)


@pytest.mark.parametrize(("key", "case"), CASES, ids=[case.name for _, case in CASES])
def test_method_reproduces_its_reference(key: str, case: Case) -> None:
    check_case(key, case)


def test_every_file_belongs_to_a_method() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(KEYS)


def test_files_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.rglob("*.json")}
    assert max(sizes.values()) < 40_000
    assert sum(sizes.values()) < 300_000
