"""The only door to scikit-learn's private names.

Everything here lives under an underscore in scikit-learn, or moved between the versions we
support (1.6 and later). When a release moves one of them, this is the file to mend.
"""

from __future__ import annotations

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
    "fit_context",
    "set_input_names",
    "validate_data",
]


def set_input_names(estimator: Any, X: Any, n_features: int) -> None:
    """Remember the number of columns fitted and, for a data frame, their names."""
    _check_feature_names(estimator, X, reset=True)
    estimator.n_features_in_ = n_features
