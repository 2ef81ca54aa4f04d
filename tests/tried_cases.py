"""Count the cases that property-based tests try, and scale their number.

The suite prints the count at its end. `python -m tests.soak` runs the same tests with many more
examples, drawn anew in every run.
"""

from __future__ import annotations

import os

from hypothesis import Phase, settings

__all__ = ["FACTOR", "count_case", "examples", "n_cases"]

FACTOR = float(os.environ.get("PARTITA_SOAK_FACTOR", "1"))
_total = 0


def count_case(n: int = 1) -> None:
    """Count `n` calls of the library whose outcome was checked."""
    global _total
    _total += n


def n_cases() -> int:
    """Return the number of cases that this process tried."""
    return _total


def examples(n: int, soak: float = 1.0) -> settings:
    """Return Hypothesis settings for `n` examples, or for many more in a soak.

    `soak` multiplies the number of examples in a soak: above 1 for cases of a millisecond, below 1
    for those of a tenth of a second. The examples are small. To reduce a failing one further would
    fit all methods for minutes.
    """
    phases = (Phase.explicit, Phase.generate)
    factor = 1.0 if FACTOR == 1 else FACTOR * soak
    return settings(max_examples=max(1, round(n * factor)), phases=phases)
