"""`import partita` is fast and imports no heavy package."""

from __future__ import annotations

import json
import os
import subprocess
import sys

HEAVY = ("matplotlib", "dask", "jinja2", "numba", "pandas", "polars", "anndata")
ALLOWED_MODULES = 5

# Modules are counted instead of seconds, which depend on the machine.
# scikit-learn's base is imported first: what it imports (pandas, if installed) does not count.
# Access to every public name afterwards must not import a heavy package either.
SCRIPT = f"""
import json, sys
import sklearn.base
before = set(sys.modules)
import partita
imported = sorted(set(sys.modules) - before)
for name in partita.__all__:
    getattr(partita, name)
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
loaded = sorted(new.intersection({HEAVY!r}))
print(json.dumps({{"imported": imported, "loaded": loaded}}))
"""


def run_fresh(script: str) -> dict[str, list[str]]:
    """Run a script in a new interpreter and read the JSON it prints."""
    # without coverage, whose modules would count
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COV_CORE")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    result: dict[str, list[str]] = json.loads(done.stdout)
    return result


def test_import_is_cheap_and_loads_nothing_heavy() -> None:
    result = run_fresh(SCRIPT)
    assert result["loaded"] == []
    assert len(result["imported"]) <= ALLOWED_MODULES, result["imported"]


def test_the_command_line_answers_without_the_numerical_library() -> None:
    script = """
import json, sys
import partita.cli
print(json.dumps({"loaded": sorted({"matplotlib", "numba"}.intersection(sys.modules))}))
"""
    assert run_fresh(script)["loaded"] == []
