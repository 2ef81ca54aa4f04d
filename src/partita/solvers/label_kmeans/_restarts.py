"""State of the restarts of label k-means, and how a checkpoint stores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.scale.checkpoint import Checkpoint
from partita.solvers.label_kmeans._refill import Refilled
from partita.solvers.label_kmeans._statistics import GroupStatistics
from partita.solvers.label_kmeans._tables import Tables

__all__ = ["Restart", "Restarts"]


@dataclass
class Restart:
    """State of one restart.

    Attributes
    ----------
    tables : Tables
        Tables of the last assignment.
    statistics : GroupStatistics
        Statistics of the groups after it.
    history : list
        Objective after every iteration.
    converged : bool
    refilled : list
        Rows that empty groups took after the last assignment.
    """

    tables: Tables
    statistics: GroupStatistics
    history: list[float] = field(default_factory=list)
    converged: bool = False
    refilled: Refilled = field(default_factory=list)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the state as arrays whose names start with `prefix`."""
        values = {
            "lookup": self.tables.lookup,
            "slope": self.tables.slope,
            "counts": self.statistics.counts,
            "masses": self.statistics.masses,
            "sizes": self.statistics.sizes,
            "history": np.asarray(self.history, np.float64),
            "converged": np.asarray(self.converged),
            "refilled": np.asarray([row for row, _ in self.refilled]),
            "refilled_groups": np.asarray([group for _, group in self.refilled], np.int64),
        }
        return {f"{prefix}_{name}": value for name, value in values.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Restart | None:
        """Return the state that `arrays` wrote, None if there is none with this prefix."""
        if f"{prefix}_lookup" not in arrays:
            return None
        values = {name.removeprefix(f"{prefix}_"): value for name, value in arrays.items()}
        statistics = GroupStatistics(*(values[name] for name in ("counts", "masses", "sizes")))
        refilled = list(zip(values["refilled"], values["refilled_groups"].tolist(), strict=True))
        tables = Tables(values["lookup"], values["slope"])
        history, converged = values["history"].tolist(), bool(values["converged"])
        return cls(tables, statistics, history, converged, refilled)


@dataclass
class Restarts:
    """The restart that is running and the best one so far, saved in a checkpoint if there is one.

    Attributes
    ----------
    checkpoint : Checkpoint or None
    identity : mapping
        Identity of the fit, which a saved state must match.
    number : int
        Number of the restart that is running.
    best, current : Restart or None
        `current` is the restart to continue, if a state was loaded.
    """

    checkpoint: Checkpoint | None
    identity: Mapping[str, Any]
    number: int = 0
    best: Restart | None = None
    current: Restart | None = None

    @classmethod
    def load(cls, checkpoint: Checkpoint | None, identity: Mapping[str, Any]) -> Restarts:
        """Return the saved state, or an empty one."""
        arrays = None if checkpoint is None else checkpoint.load(identity)
        if arrays is None:
            return cls(checkpoint, identity)
        best, current = (Restart.from_arrays(arrays, prefix) for prefix in ("best", "current"))
        return cls(checkpoint, identity, int(arrays["number"]), best, current)

    def save_if_due(self, current: Restart) -> None:
        """Save the state before an iteration of `current`, if the last saved one is old."""
        if self.checkpoint is not None and self.checkpoint.is_due:
            arrays = {"number": np.asarray(self.number), **current.arrays("current")}
            if self.best is not None:
                arrays |= self.best.arrays("best")
            self.checkpoint.save(self.identity, arrays)
