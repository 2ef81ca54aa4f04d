"""What partita raises and warns with, and nothing else."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "InvalidEnsembleError",
    "MemoryBudgetError",
    "NotSupportedError",
    "PartitaWarning",
]


class InvalidEnsembleError(ValueError):
    """The labels handed in do not describe an ensemble of partitions."""


class NotSupportedError(ValueError):
    """The method is not defined for this kind of ensemble."""


class MemoryBudgetError(MemoryError):
    """A dense array would exceed the memory budget; raised before allocating it."""


class PartitaWarning(UserWarning):
    """A result came back, but not quite the one that was asked for."""


class ConvergenceWarning(PartitaWarning):
    """An iteration stopped at its cap before it met its tolerance."""
