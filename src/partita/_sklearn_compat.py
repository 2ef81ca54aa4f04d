"""The only door to scikit-learn's private names.

Everything here lives under an underscore in scikit-learn, or moved between the versions we
support (1.6 and later). When a release moves one of them, this is the file to mend.
"""

from __future__ import annotations

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
)
from sklearn.utils.validation import validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "fit_context",
    "validate_data",
]
