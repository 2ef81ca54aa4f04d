"""Import the private names of scikit-learn that the library needs.

These names are private in scikit-learn or moved between supported versions (1.6 and later). No
other module imports them, so that a change in scikit-learn concerns this file only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
)
from sklearn.utils.validation import _check_feature_names, validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "check_input_names",
    "fit_context",
    "fitting",
    "set_input_names",
    "validate_data",
]


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """Remove the attributes of an earlier fit, and those of this fit if it does not finish.

    After an error or an interruption the estimator is unfitted, not half fitted.
    """
    _remove_fit(estimator)
    try:
        yield
    except BaseException:
        _remove_fit(estimator)
        raise


def _remove_fit(estimator: Any) -> None:
    for name in [n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")]:
        delattr(estimator, name)


def set_input_names(estimator: Any, X: Any, n_features: int) -> None:
    """Store the number of columns of X in the estimator and, for a data frame, their names.

    Names that are partly text and partly numbers are not stored: scikit-learn has no place for
    them.
    """
    names = getattr(X, "columns", ())
    if len({isinstance(name, str) for name in names}) < 2:
        _check_feature_names(estimator, X, reset=True)
    estimator.n_features_in_ = n_features


def check_input_names(estimator: Any, X: Any, n_features: int) -> None:
    """Raise an error if the columns of X differ from those of the fit."""
    _check_feature_names(estimator, X, reset=False)
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input (one per fitted partition)."
        )
