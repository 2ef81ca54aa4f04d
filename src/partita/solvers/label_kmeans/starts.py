"""The starts of a label k-means, and how they outlive the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.scale.checkpoint import Checkpoint
from partita.solvers.label_kmeans.refill import Refilled
from partita.solvers.label_kmeans.search import Tables
from partita.solvers.label_kmeans.statistics import Statistics

__all__ = ["Fit", "Starts"]


@dataclass
class Fit:
    """One start: the tables rows were assigned by last, what the groups hold, the objectives."""

    tables: Tables
    held: Statistics
    history: list[float] = field(default_factory=list)
    converged: bool = False
    refilled: Refilled = field(default_factory=list)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        values = {
            "lookup": self.tables.lookup,
            "slope": self.tables.slope,
            "counts": self.held.counts,
            "masses": self.held.masses,
            "sizes": self.held.sizes,
            "history": np.asarray(self.history, np.float64),
            "converged": np.asarray(self.converged),
            "refilled": np.asarray([row for row, _ in self.refilled]),
            "refilled_groups": np.asarray([group for _, group in self.refilled], np.int64),
        }
        return {f"{prefix}_{name}": value for name, value in values.items()}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Fit | None:
        if f"{prefix}_lookup" not in arrays:
            return None
        values = {name.removeprefix(f"{prefix}_"): value for name, value in arrays.items()}
        held = Statistics(*(values[name] for name in ("counts", "masses", "sizes")))
        refilled = list(zip(values["refilled"], values["refilled_groups"].tolist(), strict=True))
        tables = Tables(values["lookup"], values["slope"])
        return cls(tables, held, values["history"].tolist(), bool(values["converged"]), refilled)


@dataclass
class Starts:
    """Which start is under way and which was best, kept in a checkpoint if there is one."""

    checkpoint: Checkpoint | None
    identity: Mapping[str, Any]
    number: int = 0
    best: Fit | None = None
    current: Fit | None = None

    @classmethod
    def restored(cls, checkpoint: Checkpoint | None, identity: Mapping[str, Any]) -> Starts:
        arrays = None if checkpoint is None else checkpoint.load(identity)
        if arrays is None:
            return cls(checkpoint, identity)
        best, current = Fit.restored(arrays, "best"), Fit.restored(arrays, "current")
        return cls(checkpoint, identity, int(arrays["number"]), best, current)

    def keep(self, current: Fit) -> None:
        """Write the state if the last one is old; `current` is about to begin an iteration."""
        if self.checkpoint is not None and self.checkpoint.is_due:
            arrays = {"number": np.asarray(self.number), **current.arrays("current")}
            if self.best is not None:
                arrays |= self.best.arrays("best")
            self.checkpoint.save(self.identity, arrays)
