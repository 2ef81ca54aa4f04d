"""Run the property-based tests of tests/trust with many more examples, drawn anew.

From the root of the repository: `python -m tests.soak` tries about a million cases and takes hours;
`python -m tests.soak --cases 50000` takes minutes. A failure is printed with the example that
Hypothesis reduced it to.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

CASES_OF_THE_SUITE = 10_000  # about the number that tests/trust tries without a factor


def main() -> int:
    """Read the number of cases and run pytest."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000_000, help="cases to try, about")
    parser.add_argument("--processes", type=int, default=1, help="test processes")
    options = parser.parse_args()
    os.environ["PARTITA_SOAK_FACTOR"] = str(options.cases / CASES_OF_THE_SUITE)
    import pytest

    arguments = ["-q", "-p", "no:cacheprovider", "-m", "properties"]
    if options.processes > 1:
        arguments += ["-n", str(options.processes)]
    return int(pytest.main([*arguments, str(Path(__file__).parent / "trust")]))


if __name__ == "__main__":
    sys.exit(main())
