"""Import the private names of scikit-learn that the library needs.

These names are private in scikit-learn or moved between supported versions (1.6 and later). No
other module imports them, so that a change in scikit-learn concerns this file only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
)
from sklearn.utils.validation import _check_feature_names
from sklearn.utils.validation import validate_data as _validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "KMeansRun",
    "Options",
    "StrOptions",
    "check_input_names",
    "fit_context",
    "fitting",
    "refuse_anndata",
    "run_kmeans",
    "set_input_names",
    "validate_data",
]


def refuse_anndata(X: Any) -> None:
    """Raise an error if an AnnData or a MuData is passed where features are expected.

    NumPy would try to turn every cell into an array, which takes minutes and fails.
    """
    if hasattr(X, "obs") and hasattr(X, "obsm"):
        kind = type(X).__name__
        raise ValueError(
            f"Expected a matrix of features, got an object of class {kind}. Pass one of its "
            'matrices, for example `adata.obsm["X_pca"]`, or write the consensus into the object '
            'with `partita.tl.consensus(adata, use="X_pca")`.'
        )


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Check features as scikit-learn does; refuse an AnnData, text, dates and masked entries.

    scikit-learn returns some data frames with a column of text as objects, takes some dates for
    numbers, and reads what is under a mask.
    """
    refuse_anndata(X)
    _refuse_columns_without_numbers(X)
    if np.ma.is_masked(X):
        raise ValueError(
            f"Expected features without missing values, got a masked array with "
            f"{np.ma.count_masked(X)} masked entries. Impute them first."
        )
    X = _validate_data(estimator, X, **options)
    return X.astype(np.float64) if X.dtype == object else X


def _refuse_columns_without_numbers(X: Any) -> None:
    """Raise an error that names the columns of a data frame that hold text, dates or the like."""
    names = getattr(X, "columns", getattr(X, "column_names", ()))
    if len({str(name) for name in names}) < len(names):
        return  # scikit-learn refuses them
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    others = [column for column in frame.iter_columns() if not _has_numbers(column)]
    if others:
        listed = ", ".join(f"{each.name!r} ({_first_value(each)!r}, ...)" for each in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise ValueError(
            f"Expected columns of numbers, got {listed}{more}. Drop such columns, or turn them "
            "into numbers, for example by sklearn.preprocessing.OneHotEncoder."
        )


def _has_numbers(column: Any) -> bool:
    """Return whether the values of a column are numbers or text that reads like them."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return True
    if column.dtype.is_temporal():
        return False
    try:
        np.asarray(column.to_numpy()).astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _first_value(column: Any) -> Any:
    """Return the first value of a column that is not missing."""
    return next((value for value in column.to_list() if value is not None), None)


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


class KMeansRun(NamedTuple):
    """The result of k-means: centers, the sum of squared distances to them, and iterations."""

    centers: NDArray[Any]
    inertia: float
    n_iter: int


def run_kmeans(X: Any, centers: NDArray[Any], max_iter: int) -> KMeansRun:
    """Run k-means from these centers on one thread, with the result of `KMeans.fit`.

    The checks of the estimator take most of its time on few rows, which is what a scan clusters
    thousands of times.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Finite float32 or float64 features. They are not changed.
    centers : array of shape (n_clusters, n_features)
        First centers, of the type of X.
    max_iter : int
        Largest number of iterations.
    """
    from sklearn.cluster._kmeans import _kmeans_single_lloyd, _tolerance  # takes 0.3 s

    tol = _tolerance(X, 1e-4)
    mean = 0.0
    if issparse(X):
        centers = centers.copy()
    else:
        mean = X.mean(axis=0)  # distances to the mean are more accurate
        X, centers = np.subtract(X, mean, order="C"), np.subtract(centers, mean, order="C")
    weights = np.ones(X.shape[0], X.dtype)
    _, inertia, centers, n_iter = _kmeans_single_lloyd(
        X, weights, centers, max_iter=max_iter, tol=tol, n_threads=1
    )
    return KMeansRun(centers + mean, float(inertia), int(n_iter))
