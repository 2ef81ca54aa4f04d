"""Run the property-based tests of tests/trust with many more examples, drawn anew.

From the root of the repository: `python -m tests.soak` tries about a million cases and takes hours;
`python -m tests.soak --minutes 20` tries as many as it can in this time. A round is a process of
its own, and prints its failures with their examples. The end of every round states the number of
cases that were tried so far.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACTOR = 3.0  # examples of a round, relative to the suite; other rounds draw other examples


def run_round(options: list[str]) -> tuple[int, bool]:
    """Run the tests once; return the number of cases and whether all passed."""
    environment = {**os.environ, "PARTITA_SOAK_FACTOR": str(FACTOR)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # the other tests of these files would try the same cases in every round
    command += ["-m", "properties and hypothesis"]
    result = subprocess.run(
        [*command, *options, "tests/trust"],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    if result.returncode:
        sys.stdout.write(result.stdout)
    count = re.search(r"([\d,]+) cases of properties tried", result.stdout)
    return int(count[1].replace(",", "")) if count else 0, result.returncode == 0


def main() -> int:
    """Run rounds until there were enough cases or minutes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000_000, help="cases to try, about")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no round after")
    parser.add_argument("--processes", type=int, default=1, help="test processes")
    parser.add_argument("-k", default="", help="only tests whose name contains this, as in pytest")
    options = parser.parse_args()
    arguments = ["-n", str(options.processes)] if options.processes > 1 else []
    arguments += ["-k", options.k] if options.k else []
    begin, total, n_failed = time.monotonic(), 0, 0
    while total < options.cases and time.monotonic() - begin < 60 * options.minutes:
        n_cases, passed = run_round(arguments)
        total, n_failed = total + n_cases, n_failed + (not passed)
        sys.stdout.write(f"{total:,} cases, {n_failed} rounds with failures\n")
        sys.stdout.flush()
        if not n_cases:
            return 1
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
