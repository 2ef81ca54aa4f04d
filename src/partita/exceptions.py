"""What partita raises and warns with, and nothing else."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "InvalidEnsembleError",
    "InvalidStoreError",
    "MemoryBudgetError",
    "MissingPackageError",
    "NoStructureError",
    "NotSupportedError",
    "PartitaWarning",
]


class InvalidEnsembleError(ValueError):
    """The labels handed in do not describe an ensemble of partitions."""


class InvalidStoreError(InvalidEnsembleError):
    """A folder is not a store of labels, is damaged, or is not complete."""


class NoStructureError(ValueError):
    """The number of clusters was to be chosen, and no number does better than chance."""


class NotSupportedError(ValueError):
    """The method is not defined for this kind of ensemble."""


class MemoryBudgetError(MemoryError):
    """A dense array would exceed the memory budget; raised before allocating it."""


class MissingPackageError(ImportError):
    """A package that only some uses need is not installed; the message says which."""


class PartitaWarning(UserWarning):
    """A result came back, but not quite the one that was asked for."""


class ConvergenceWarning(PartitaWarning):
    """An iteration stopped at its cap before it met its tolerance."""
