"""Run many consensus methods on one ensemble, and rank methods over several data sets."""

from __future__ import annotations

from partita.comparison._comparing import compare
from partita.comparison._ranking import rank_methods
from partita.comparison._ranking_result import Ranking
from partita.comparison._result import Comparison

__all__ = ["Comparison", "Ranking", "compare", "rank_methods"]
