"""Warn the user at a line of their own code."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from partita.exceptions import ConvergenceWarning, PartitaWarning

__all__ = ["warn_not_converged", "warn_user"]

_PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = PartitaWarning) -> None:
    """Warn at the first stack frame outside this package and scikit-learn.

    Parameters
    ----------
    message : str
        Text of the warning.
    category : type of Warning, default=PartitaWarning
        Class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_internal(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_internal(filename: str) -> bool:
    return filename.startswith(_PACKAGE) or "sklearn" in Path(filename).parts


def warn_not_converged(name: str, max_iter: int, detail: str) -> None:
    """Warn that a method stopped at its largest number of iterations.

    Parameters
    ----------
    name : str
        Name of the method.
    max_iter : int
        Number of iterations.
    detail : str
        End of the sentence: the state reached, and what to do.
    """
    warn_user(f"{name} stopped after max_iter={max_iter} iterations {detail}", ConvergenceWarning)
