"""Work up to about a million labels imports no compiler, whatever is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# numba is refused and every attempt to import it recorded, with the call that needed it
PREPARATION = """
import json
import sys
import tempfile
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
current, offenders = ["import partita"], []


class Record:
    # a look whether numba is installed is no import
    def find_spec(self, name, path=None, target=None):
        is_compiler = name.split(".")[0] in ("numba", "llvmlite")
        if is_compiler and PathFinder.find_spec(name, path) is not None:
            return ModuleSpec(name, self)

    def create_module(self, spec):
        offenders.append(current[0])
        raise ImportError(f"{current[0]} imports {spec.name}")

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Record())
import partita
from partita._kernels import _dispatch


def table(n, m, k):
    rng = np.random.default_rng(0)
    planted, columns = rng.integers(k, size=n), []
    for _ in range(m):
        n_base = int(rng.integers(k, 3 * k))
        column = rng.integers(n_base, size=(k, 2))[planted, rng.integers(2, size=n)]
        columns.append(np.where(rng.random(n) < 0.05, rng.integers(n_base, size=n), column))
    return np.column_stack(columns)


def call(name, function):
    current[0] = name
    _dispatch._obstacle.clear()  # so that every call tries again
    function()


def fit(method, labels, k):
    random = {"random_state": 0} if "random_state" in method().get_params() else {}
    return method(n_clusters=k, **random).fit(labels)
"""
EVERY_METHOD = """
labels = table(300, 20, 4)
for method in partita.all_methods():
    call(method.info.key, lambda: fit(method, labels, 4))
"""
CALLS = """
labels = table(300, 20, 4)
consensus = fit(partita.EAC, labels, 4).labels_
call("coassociation", lambda: partita.coassociation(labels))
call("diagnose", lambda: partita.diagnose(labels, consensus))
call("scan_k", lambda: partita.scan_k(table(80, 8, 3), range(2, 5), random_state=0))
fusion = []
call("fuse", lambda: fusion.append(partita.fuse(labels, n_clusters=4)))
with tempfile.TemporaryDirectory() as folder:
    call("report", lambda: partita.report(labels, consensus, Path(folder) / "report.html"))
"""
LARGER = """
labels = table(5000, 50, 10)
for key in {keys}:
    call(key, lambda: fit(partita.get_method(key), labels, 10))
"""
# methods that take about a second or less at 5000 x 50
FAST = (
    "ccgp",
    "cspa",
    "eac",
    "ecpcs",
    "gpmgla",
    "hbgf",
    "hgpa",
    "kc",
    "kcc",
    "lwea",
    "lwgp",
    "sec",
)
END = """
print(json.dumps(offenders + [name for name in ("numba", "llvmlite") if name in sys.modules]))
"""


def offenders(script: str, cache: Path) -> list[str]:
    """Run a script in a new interpreter with an empty cache; return what imports the compiler."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARATION + script + END],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: list[str] = json.loads(done.stdout.splitlines()[-1])
    return sorted(set(result))


@pytest.mark.parametrize(
    "script",
    [EVERY_METHOD, CALLS, LARGER.format(keys=FAST)],
    ids=["every method", "other calls", "5000 x 50"],
)
@pytest.mark.first
def test_small_work_imports_no_compiler(script: str, tmp_path: Path) -> None:
    assert offenders(script, tmp_path) == []


def test_large_work_does(tmp_path: Path) -> None:
    """The same script finds the compiler where work is large."""
    pytest.importorskip("numba", reason="numba is not installed")
    script = "_dispatch.COMPILED_FROM = 0\n" + LARGER.format(keys=("hbgf",)).replace("5000", "50")
    assert offenders(script, tmp_path) == ["hbgf"]
