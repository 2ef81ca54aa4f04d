"""Read features and annotations: numbers beside categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.columns import read_column
from partita._input.containers import as_frame
from partita._sklearn_compat import refuse_anndata

__all__ = ["FeatureColumns", "read_features"]

_MOST_DISTINCT = 0.5  # share of different texts from which a column is an identifier
_FEW_CATEGORIES = 20  # categories that a column may have in any case


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """Columns of features by their kind.

    Attributes
    ----------
    numbers : array or sparse matrix of shape (n_samples, n_numbers)
        Numbers; NaN is missing.
    names : list of str
        Names of the numbers.
    categories : list of (str, list)
        Name and categories of each column of categories.
    category_codes : list of arrays of shape (n_samples,)
        Category of each sample, -1 for a missing one.
    left_out : list of str
        Names of columns that look like identifiers.
    """

    numbers: Any
    names: list[str]
    categories: list[tuple[str, list[Any]]] = field(default_factory=list)
    category_codes: list[NDArray[np.int64]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.numbers.shape[0])


def read_features(X: Any, names: Sequence[str] | None = None) -> FeatureColumns:
    """Read an array, a sparse matrix, a data frame or a mapping of names to columns.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), data frame, or mapping to columns
        The features.
    names : sequence of str, optional
        Names of the features. By default the columns of a data frame, or their numbers.
    """
    refuse_anndata(X)
    if sp.issparse(X):
        matrix = sp.csr_matrix(X)
        return FeatureColumns(matrix, _names(names, matrix.shape[1]))
    if isinstance(X, Mapping):
        return _read_columns(list(X.values()), _names(names or list(X), len(X)))
    frame = as_frame(X)
    if frame is not None:
        titles = _names(names or [str(name) for name in frame.columns], len(frame.columns))
        return _read_columns([_values(column) for column in frame.iter_columns()], titles)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have rows and columns, got shape {array.shape}.")
    titles = _names(names, array.shape[1])
    if array.dtype.kind in "fiu":
        return FeatureColumns(array.astype(np.float64), titles)
    return _read_columns(list(array.T), titles)


def _values(series: Any) -> NDArray[Any]:
    """Return a column as numbers with NaN for missing ones, or as objects."""
    if series.dtype.is_numeric():
        return np.asarray([np.nan if v is None else v for v in series.to_list()], np.float64)
    values = np.empty(len(series), object)
    values[:] = series.to_list()
    return values


def _names(names: Sequence[str] | None, n_features: int) -> list[str]:
    if names is None:
        return [str(j) for j in range(n_features)]
    if len(names) != n_features:
        raise ValueError(
            f"names has {len(names)} entries, expected one for each of the {n_features} features."
        )
    return [str(name) for name in names]


def _read_columns(columns: list[Any], titles: list[str]) -> FeatureColumns:
    numbers: list[NDArray[np.float64]] = []
    names: list[str] = []
    categories: list[tuple[str, list[Any]]] = []
    codes: list[NDArray[np.int64]] = []
    left_out: list[str] = []
    n_samples = len(columns[0]) if columns else 0
    for column, title in zip(columns, titles, strict=True):
        values = np.asarray(column)
        if values.dtype.kind in "fiu":
            numbers.append(values.astype(np.float64))
            names.append(title)
            continue
        own, kinds = read_column(values, title)
        if len(kinds) > max(_FEW_CATEGORIES, _MOST_DISTINCT * n_samples):
            left_out.append(title)
            continue
        categories.append((title, kinds.tolist()))
        codes.append(own)
    table = np.stack(numbers, axis=1) if numbers else np.empty((n_samples, 0))
    return FeatureColumns(table, names, categories, codes, left_out)
