"""Read the containers that users keep labels in: arrays, data frames, lists of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_user
from partita.exceptions import InvalidEnsembleError

__all__ = ["LabelTable", "as_frame", "as_objects", "check_order", "label_columns", "row_names"]

_MANY_VECTORS = 5  # from so many lists on, more partitions than samples are suspicious


def label_columns(partitions: Any) -> tuple[Sequence[NDArray[Any]], list[str] | None]:
    """Return one label vector per partition, and the names of the partitions or None.

    A two-dimensional array is (n_samples, n_partitions); a data frame has one partition per
    column; a list or tuple is a list of label vectors, one per partition.
    """
    if isinstance(partitions, LabelTable):
        return partitions, None
    if hasattr(partitions, "obs") and hasattr(partitions, "obsm"):
        raise InvalidEnsembleError(
            "Expected a table of labels, got an AnnData. Say which columns of obs are partitions: "
            '`Ensemble.from_anndata(adata, columns="leiden_*")`, or '
            '`partita.tl.consensus(adata, "leiden_*")`, which writes the result into obs. '
            f"There are: {', '.join(map(str, partitions.obs.columns))}."
        )
    if hasattr(partitions, "tocsr"):
        raise InvalidEnsembleError(
            "Expected a dense label matrix, got a sparse matrix: a label of 0 is a cluster, not a "
            "missing label. Convert it with `.toarray()`."
        )
    if isinstance(partitions, (list, tuple, Iterator)):
        return _from_vectors(list(partitions)), None
    frame = as_frame(partitions)
    if frame is not None:
        return [_series_values(column) for column in frame.iter_columns()], [
            str(name) for name in frame.columns
        ]
    is_masked = isinstance(partitions, np.ma.MaskedArray)
    array = partitions if is_masked else np.asarray(partitions)
    if array.ndim == 0:
        raise InvalidEnsembleError(
            "Expected 2D array of labels (n_samples, n_partitions), a data frame or a list of "
            f"label vectors, got an object of type {type(partitions).__name__}."
            + _instead(partitions)
        )
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
    """The columns of an array, which stays available as a whole as `table`."""

    def __init__(self, table: NDArray[Any]) -> None:
        self.table = table

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def __getitem__(self, i: Any) -> Any:
        return self.table[:, i]


def as_frame(data: Any) -> Any:
    """Return a data frame of any library as a narwhals frame; None if it is not a data frame."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except ValueError as error:  # two columns of one name
        raise InvalidEnsembleError(f"{error}. Rename the columns.") from error
    if isinstance(frame, nw.LazyFrame):
        raise InvalidEnsembleError(
            "Expected a data frame in memory, got a lazy one. Call `.collect()` first."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def _series_values(series: Any) -> NDArray[Any]:
    """Return a column as NumPy values; missing entries are masked, None or NaN.

    Integers stay integers: two large labels could be equal as floats.
    """
    is_wide = series.dtype in (nw.Int128, nw.UInt128)  # NumPy has no such type
    if (series.dtype.is_integer() and not is_wide) or series.dtype == nw.Boolean:
        filler = False if series.dtype == nw.Boolean else 0
        return np.ma.masked_array(series.fill_null(filler).to_numpy(), series.is_null().to_numpy())
    if series.dtype.is_float():
        return np.asarray(series.to_numpy())
    return as_objects(series.to_list())


def _from_vectors(vectors: Sequence[Any]) -> list[NDArray[Any]]:
    columns = [_vector(vector, i) for i, vector in enumerate(vectors)]
    n_samples = len(columns[0]) if columns and columns[0].ndim == 1 else 0
    is_long = _MANY_VECTORS <= len(vectors) > n_samples > 0
    are_lists = all(isinstance(vector, list | tuple) for vector in vectors)
    if are_lists and (is_long or _look_like_samples(vectors)):
        warn_user(
            f"A list of {len(vectors)} lists of {n_samples} labels was read as {len(vectors)} "
            f"partitions of {n_samples} samples: each inner list is a partition. If each is a "
            "sample, pass `numpy.array(...)`, whose rows are samples. If not, pass arrays in the "
            "list to avoid this warning."
        )
    for i, column in enumerate(columns):
        if column.ndim != 1:
            raise InvalidEnsembleError(
                f"Expected a list of one-dimensional label vectors, got {column.ndim} dimensions "
                f"in vector {i}. Pass a label matrix as a NumPy array instead."
            )
        if len(column) != len(columns[0]):
            raise InvalidEnsembleError(
                f"Expected label vectors of equal length, got {len(columns[0])} labels in vector 0 "
                f"and {len(column)} in vector {i}. Use None for a missing label."
            )
    _check_same_order(vectors)
    return columns


def _check_same_order(vectors: Sequence[Any]) -> None:
    """Raise an error for series whose indexes name other samples, or the same in another order.

    The default index, 0 to n - 1, names no samples, but those of a shuffled table may be its own.
    """
    indexes: dict[int, Any] = {
        i: index for i, each in enumerate(vectors) if (index := _index(each)) is not None
    }
    named = [i for i, index in indexes.items() if not _is_default(index)]
    for i, index in indexes.items():
        if not named or index.equals(names := indexes[named[0]]):
            continue
        if i in named or set(index) == set(names):
            raise InvalidEnsembleError(
                f"Expected the same samples in the same order in every vector, got vector {i} with "
                f"another index than vector {named[0]}. Join them by index, for example by "
                "`pandas.concat(vectors, axis=1)`, or pass `vector.to_numpy()` for the order as it "
                "is."
            )


def check_order(labels: Any, sample_ids: Any, name: str) -> None:
    """Raise an error for a series or a data frame whose index has the samples in another order.

    Parameters
    ----------
    labels : array-like, series or data frame
        One label or row per sample, in the order of the samples.
    sample_ids : sequence or None
        Ids of the samples.
    name : str
        Name of the vector in the error message.
    """
    index = row_names(labels)
    if sample_ids is None or index is None:
        return
    names, ids = list(map(str, index)), list(map(str, sample_ids))
    if names != ids and sorted(names) == sorted(ids):
        raise InvalidEnsembleError(
            f"{name} has the samples in another order than the other table, by its index. Pass "
            f"`{name}.loc[ids]` with the ids in the order of the other table, or "
            f"`{name}.to_numpy()` for the order as it is."
        )


def row_names(values: Any) -> Any:
    """Return the index of a series or data frame; None without one and for the numbers 0 to n - 1.

    The default index has these numbers, and names nothing.
    """
    index = _index(values)
    return None if index is None or _is_default(index) else index


def _index(values: Any) -> Any:
    if isinstance(values, np.ndarray | list | tuple):
        return None
    native = nw.from_native(values, pass_through=True, allow_series=True)
    return nw.maybe_get_index(native) if isinstance(native, nw.Series | nw.DataFrame) else None


def _is_default(index: Any) -> bool:
    return np.array_equal(np.asarray(index), np.arange(len(index)))


def _look_like_samples(vectors: Sequence[Any]) -> bool:
    """Return whether every list mixes text and numbers and no position of the lists does.

    So do the rows of a table whose columns are partitions with names of different kinds.
    """
    if len(vectors) < 2 or len({len(vector) for vector in vectors}) > 1:
        return False
    return all(map(_is_mixed, vectors)) and not any(map(_is_mixed, zip(*vectors, strict=True)))


def _is_mixed(values: Iterable[Any]) -> bool:
    kinds = {isinstance(value, str) for value in values if value is not None}
    return len(kinds) == 2


def _vector(values: Any, position: int) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    series = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return _series_values(series)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    is_no_vector = isinstance(values, (str, bytes, Mapping, Set))
    if is_no_vector or not isinstance(values, Iterable):
        raise InvalidEnsembleError(
            f"Expected a list of label vectors, got an object of type {type(values).__name__} as "
            f"vector {position}. Pass one sequence of labels per partition."
        )
    return as_objects(list(values))


def _instead(partitions: object) -> str:
    """Return what to pass instead of an object that is no table."""
    if isinstance(partitions, Mapping):
        return " Pass `list(partitions.values())`."
    if isinstance(partitions, (str, Path)):
        return " Read a file first: `partita.io.read_labels(file).ensemble()`."
    return ""


def as_objects(values: list[Any]) -> NDArray[Any]:
    """Return a vector of Python objects, none of them converted."""
    return np.fromiter(values, object, len(values))
