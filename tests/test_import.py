"""`import partita` is fast and imports no heavy package."""

from __future__ import annotations

import json
import os
import subprocess
import sys

HEAVY = ("matplotlib", "dask", "jinja2", "numba", "pandas", "polars", "anndata")
ALLOWED_SECONDS = 0.3
RUNS = 5

# Seconds of the processor, not of the clock: other processes do not count.
# scikit-learn's base is imported first: what it imports (pandas, if installed) does not count.
# Access to every public name afterwards must not import a heavy package either.
SCRIPT = f"""
import json, sys, time
start = time.process_time()
import sklearn.base
base = time.process_time()
before = set(sys.modules)
import partita
end = time.process_time()
for name in partita.__all__:
    getattr(partita, name)
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
loaded = sorted(new.intersection({HEAVY!r}))
print(json.dumps({{"base": base - start, "extra": end - base, "loaded": loaded}}))
"""


def run_fresh(script: str) -> dict[str, object]:
    """Run a script in a new interpreter and read the JSON it prints."""
    # without coverage, which would be part of the time
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COV_CORE")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_import_is_cheap_and_loads_nothing_heavy() -> None:
    runs = [run_fresh(SCRIPT) for _ in range(RUNS)]
    assert [run["loaded"] for run in runs] == [[]] * RUNS
    extra = min(float(str(run["extra"])) for run in runs)
    assert extra <= ALLOWED_SECONDS, runs


def test_the_command_line_answers_without_the_numerical_library() -> None:
    script = """
import json, sys
import partita.cli
print(json.dumps({"loaded": sorted({"matplotlib", "numba"}.intersection(sys.modules))}))
"""
    assert run_fresh(script)["loaded"] == []
