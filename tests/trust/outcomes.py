"""Run a call of the library: it returns a result, or raises an exception that is documented."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import partita
from partita.exceptions import MemoryBudgetError, PartitaWarning
from tried_cases import count_case

__all__ = ["REFUSED", "check_labels", "outcome", "same_partition"]

REFUSED = object()  # the outcome of a call that raised a documented exception
_PACKAGE = Path(partita.__file__).parent
# scikit-learn checks parameters and features for the estimators of partita
_CHECKS = {
    Path(sklearn.__file__).parent / "utils" / name
    for name in ("_param_validation.py", "validation.py")
}
# These are ValueErrors by inheritance only: nobody meant to raise them to a user.
_INTERNAL = (np.linalg.LinAlgError, UnicodeError)


def outcome(call: Callable[[], Any], *, errors: tuple[type[Exception], ...] = (ValueError,)) -> Any:
    """Return the result of a call, or REFUSED after a documented exception.

    A documented exception has one of the types `errors` or is a MemoryBudgetError, has a sentence
    as its message, and is raised by a check of partita or of scikit-learn, not by NumPy below it.
    A warning that is not a PartitaWarning is an error.
    """
    count_case()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PartitaWarning)
        try:
            return call()
        except (*errors, MemoryBudgetError) as error:
            _check_documented(error)
            return REFUSED


def _check_documented(error: Exception) -> None:
    assert not isinstance(error, _INTERNAL), f"internal {type(error).__name__}: {error}"
    assert len(str(error).split()) >= 4, f"not a sentence: {error!r}"
    origin = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    assert _PACKAGE in origin.parents or origin in _CHECKS, f"raised by {origin}: {error!r}"


def same_partition(first: Any, second: Any) -> bool:
    """Return whether two label vectors put the same samples together."""
    pairs = len(set(zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True)))
    return pairs == len(np.unique(first)) == len(np.unique(second))


def check_labels(labels: Any, table: np.ndarray, n_clusters: int | None = None) -> None:
    """Check that labels are one cluster per sample, and that equal rows are together."""
    assert labels.shape == (len(table),)
    assert labels.dtype.kind == "i"
    assert labels.min() == 0
    n_labels = len(np.unique(labels))
    assert labels.max() == n_labels - 1
    n_rows = len(np.unique(table, axis=0))
    assert len(np.unique(np.c_[table, labels], axis=0)) == n_rows, "equal rows are apart"
    if n_clusters is not None:
        assert n_labels <= n_clusters
