"""Run many consensus methods on one ensemble and compare their results, time and memory."""

from __future__ import annotations

from partita.comparison._comparing import compare
from partita.comparison._result import Comparison

__all__ = ["Comparison", "compare"]
