"""Exceptions and warnings of the library."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "InvalidEnsembleError",
    "InvalidFileError",
    "InvalidStoreError",
    "MemoryBudgetError",
    "MissingPackageError",
    "NoStructureError",
    "NotSupportedError",
    "PartitaWarning",
]


class InvalidEnsembleError(ValueError):
    """The input is not an ensemble of partitions."""


class InvalidFileError(InvalidEnsembleError):
    """A file is damaged, or is not what its suffix says. The message names file and reason."""


class InvalidStoreError(InvalidEnsembleError):
    """A folder is not a label store, is damaged, or is incomplete."""


class NoStructureError(ValueError):
    """No number of clusters does better than chance, so none can be chosen."""


class NotSupportedError(ValueError):
    """The method is not defined for this kind of ensemble."""


class MemoryBudgetError(MemoryError):
    """A step would exceed the memory budget. Raised before the memory is allocated."""


class MissingPackageError(ImportError):
    """An optional package is not installed; the message names it."""


class PartitaWarning(UserWarning):
    """The result differs from what was requested, for example in the number of clusters."""


class ConvergenceWarning(PartitaWarning):
    """An iterative method reached its maximum number of iterations before it converged."""
