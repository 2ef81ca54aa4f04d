"""Read the containers users keep labels in: arrays, data frames, lists of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError

__all__ = ["LabelTable", "as_frame", "as_objects", "label_columns"]


def label_columns(labels: Any) -> tuple[Sequence[NDArray[Any]], list[str] | None]:
    """One vector per partition, and the partitions' names if the container has them.

    A two-dimensional array is (n_samples, n_partitions); a data frame has one partition per
    column; a list or tuple is a list of label vectors, one per partition.
    """
    if isinstance(labels, LabelTable):
        return labels, None
    if hasattr(labels, "tocsr"):
        raise InvalidEnsembleError(
            "Expected a dense label matrix, got a sparse matrix: a label of 0 is a cluster, not an "
            "absence. Convert it with `.toarray()`."
        )
    if isinstance(labels, (list, tuple, Iterator)):
        return _from_vectors(list(labels)), None
    frame = as_frame(labels)
    if frame is not None:
        return [_series_values(column) for column in frame.iter_columns()], [
            str(name) for name in frame.columns
        ]
    array = labels if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)
    if array.ndim != 2:
        raise InvalidEnsembleError(
            f"Expected 2D array of labels (n_samples, n_partitions), got {array.ndim}D array "
            f"instead with shape {array.shape}. Reshape your data: a single partition is "
            "`labels.reshape(-1, 1)`."
        )
    if 0 in array.shape:
        what = "sample(s)" if len(array) == 0 else "feature(s)"
        raise InvalidEnsembleError(
            f"Found array with 0 {what} (shape={array.shape}) while a minimum of 1 is required: "
            "pass a label matrix of n_samples rows and n_partitions columns."
        )
    return LabelTable(array), None


class LabelTable(Sequence[NDArray[Any]]):
    """The columns of a table, which is still there as a whole."""

    def __init__(self, table: NDArray[Any]) -> None:
        self.table = table

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def __getitem__(self, i: Any) -> Any:
        return self.table[:, i]


def as_frame(data: Any) -> Any:
    """A data frame of any library as narwhals sees it; None if it is none."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except ValueError as error:  # two columns of one name
        raise InvalidEnsembleError(f"{error}. Rename the columns.") from error
    if isinstance(frame, nw.LazyFrame):
        raise InvalidEnsembleError(
            "Expected a data frame in memory, got a lazy one. Collect it first."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def _series_values(series: Any) -> NDArray[Any]:
    """A column as NumPy values; missing entries are masked, None or NaN.

    Whole numbers stay whole numbers: as floats, two large labels could become one.
    """
    if series.dtype.is_integer() or series.dtype == nw.Boolean:
        filler = False if series.dtype == nw.Boolean else 0
        return np.ma.masked_array(series.fill_null(filler).to_numpy(), series.is_null().to_numpy())
    if series.dtype.is_float():
        return np.asarray(series.to_numpy())
    return as_objects(series.to_list())


def _from_vectors(vectors: Sequence[Any]) -> list[NDArray[Any]]:
    columns = [_vector(vector, i) for i, vector in enumerate(vectors)]
    for i, column in enumerate(columns):
        if column.ndim != 1:
            raise InvalidEnsembleError(
                f"Expected a list of one-dimensional label vectors, got {column.ndim} dimensions "
                f"in vector {i}. Pass a label matrix as a NumPy array instead."
            )
        if len(column) != len(columns[0]):
            raise InvalidEnsembleError(
                f"Expected label vectors of equal length, got {len(columns[0])} labels in vector 0 "
                f"and {len(column)} in vector {i}. Mark samples a partition does not label as None."
            )
    return columns


def _vector(values: Any, position: int) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    series = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return _series_values(series)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    unordered = isinstance(values, (str, bytes, Mapping, Set))
    if unordered or not isinstance(values, Iterable):
        raise InvalidEnsembleError(
            f"Expected a list of label vectors, got a {type(values).__name__} as vector "
            f"{position}. Pass one sequence of labels per partition."
        )
    return as_objects(list(values))


def as_objects(values: list[Any]) -> NDArray[Any]:
    """A vector of what is in the list, none of it converted."""
    return np.fromiter(values, object, len(values))
