"""The only place where user input is checked and converted.

Everything a user may call "clusterings" becomes one table of small codes per partition plus the
original names. What cannot be understood is refused with a sentence that says what was expected,
what came and what to do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._coding import code_dtype, encode_table
from partita.exceptions import InvalidEnsembleError, PartitaWarning

__all__ = [
    "NOISE_POLICIES",
    "as_frame",
    "check_affinity",
    "check_connective_matrices",
    "check_n_clusters",
    "check_weights",
    "code_dtype",
    "distinct_labels",
    "encode",
    "encode_with",
    "label_columns",
    "name_array",
    "random_generator",
    "warn_of_other_columns",
]

NOISE_POLICIES = ("missing", "cluster", "singletons")
_SEVERAL = 10  # samples from which on it is no chance that all labels differ
_READS_LIKE_MISSING = frozenset({"nan", "NaN", "None", "NaT", "<NA>"})


# -- containers ------------------------------------------------------------------------------


def label_columns(labels: Any) -> tuple[Sequence[NDArray[Any]], list[str] | None]:
    """One vector per partition, and the partitions' names if the container has them.

    A two-dimensional array is (n_samples, n_partitions); a data frame has one partition per
    column; a list or tuple is a list of label vectors, one per partition.
    """
    if isinstance(labels, _Columns):
        return labels, None
    if hasattr(labels, "tocsr"):
        raise InvalidEnsembleError(
            "Expected a dense label matrix, got a sparse matrix: a label of 0 is a cluster, not an "
            "absence. Convert it with `.toarray()`."
        )
    if isinstance(labels, (list, tuple)):
        return _from_vectors(labels), None
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
    return _Columns(array), None


class _Columns(Sequence[NDArray[Any]]):
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
    return _objects(series.to_list())


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
    return _objects(list(values))


def _objects(values: list[Any]) -> NDArray[Any]:
    """A vector of what is in the list, none of it converted."""
    return np.fromiter(values, object, len(values))


# -- coding ----------------------------------------------------------------------------------


def encode(
    columns: Sequence[NDArray[Any]], names: Sequence[str] | None, noise: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """Code every column as 0..K_i-1 in the order of its sorted labels.

    Labels are equal where Python says so: 1, 1.0 and True are one label, 1 and "1" are two. Text is
    a label as it stands, "nan" and " 1" too, except that "-1" is noise like -1.

    Returns the (n_samples, n_partitions) table, in the narrowest unsigned type whose largest value
    can stand for "missing", and the original label of every code: None for a noise sample that is
    a cluster of its own.
    """
    if len(columns) == 0 or len(columns[0]) == 0:
        raise InvalidEnsembleError(
            f"Expected at least one partition of at least one sample, got {len(columns)} "
            f"partitions of {len(columns[0]) if len(columns) else 0} samples."
        )
    _check_noise(noise)
    names = names or [str(i) for i in range(len(columns))]
    if isinstance(columns, _Columns):
        found = encode_table(columns.table, noise)
        if found is not None:
            return found
    coded: list[NDArray[Any]] = []
    categories: list[NDArray[Any]] = []
    for column, name in zip(columns, names, strict=True):
        codes, values = _encode_column(column, name, noise)
        if len(values) == 0:
            raise InvalidEnsembleError(
                f"Partition {name!r} labels no sample (all its entries are missing). Drop it."
            )
        # -1 becomes the largest value of its type, that is, "missing"
        coded.append(codes.astype(code_dtype(len(values))))
        categories.append(values)
    return _pack(coded), tuple(categories)


def warn_of_other_columns(
    categories: Sequence[NDArray[Any]], names: Sequence[str] | None, n_samples: int
) -> None:
    """Say so where columns look like features or like names of samples, not like labels."""
    if n_samples < _SEVERAL:
        return
    names = names or [str(i) for i in range(len(categories))]
    features = [
        name
        for name, labels in zip(names, categories, strict=True)
        if labels.dtype.kind == "f" and (labels != np.floor(labels)).any()
    ]
    if features:
        warnings.warn(
            f"{_listed(features)}: numbers that are not whole look like features, not like labels "
            "of clusters. Here every different number is a cluster. To cluster features, use "
            "`EnsembleClustering` (`partita generate` on the command line).",
            PartitaWarning,
            stacklevel=2,
        )
    names_of_samples = [
        name
        for name, labels in zip(names, categories, strict=True)
        if len(labels) == n_samples and name not in features
    ]
    if names_of_samples:
        warnings.warn(
            f"{_listed(names_of_samples)}: a label of its own for each of {n_samples} samples does "
            "not tell which belong together. If these are the samples' names, pass them as such "
            "(`sample_ids`; `id_column` of a data frame; --id-column on the command line).",
            PartitaWarning,
            stacklevel=2,
        )


def _listed(names: Sequence[str]) -> str:
    """The first names of partitions, in words."""
    shown = ", ".join(repr(name) for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Partition{'s' * (len(names) > 1)} {shown}{more}"


def _pack(coded: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns of codes of different width as one table."""
    dtype = np.result_type(*coded)
    labels = np.empty((len(coded[0]), len(coded)), dtype)
    for i, codes in enumerate(coded):
        labels[:, i] = codes
        if codes.dtype != dtype:
            labels[codes == np.iinfo(codes.dtype).max, i] = np.iinfo(dtype).max
    return labels


def _check_noise(noise: str) -> None:
    if noise not in NOISE_POLICIES:
        raise ValueError(f"noise must be one of {NOISE_POLICIES}, got {noise!r}")


def _encode_column(
    column: NDArray[Any], name: str, noise: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes, -1 for missing, and the label of every code."""
    _check_noise(noise)
    codes, labels = _read(column, name)
    is_noise = _equals_minus_one(labels)
    if noise == "cluster" or not is_noise.any():
        return codes, labels
    new_code = np.where(is_noise, -1, np.cumsum(~is_noise) - 1)
    found = np.flatnonzero(is_noise[codes] & (codes >= 0))
    codes, labels = np.where(codes < 0, -1, new_code[codes]), labels[~is_noise]
    if noise == "singletons":
        codes[found] = len(labels) + np.arange(len(found))
        labels = np.concatenate([labels.astype(object), np.full(len(found), None)])
    return codes, labels


def distinct_labels(column: NDArray[Any], name: str) -> list[Any]:
    """The labels of a column, without what is missing; -1 is one of them."""
    return list(_read(column, name)[1].tolist())


def _equals_minus_one(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind != "O":
        return np.asarray(labels == -1, bool)
    return np.fromiter((label in (-1, "-1") for label in labels), bool, len(labels))


def _read(column: NDArray[Any], name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes of a column of any type, -1 where it is None, NaN or masked, and the sorted labels."""
    if isinstance(column, np.ma.MaskedArray):
        known = ~np.ma.getmaskarray(column)
        return _read_part(np.ma.getdata(column), known, name)
    kind = column.dtype.kind
    if kind in "iub":
        return _unique(column)
    if kind == "f" and column.dtype.itemsize <= 8:
        known = ~np.isnan(column)
        if not known.all():
            return _read_part(column, known, name)
        if np.isinf(column).any():
            raise _infinite(name)
        return _unique(column)
    if kind in "OUST":
        return _read_objects(column.tolist(), name)
    what = "Complex data not supported: " if kind == "c" else ""
    raise InvalidEnsembleError(
        f"{what}partition {name!r} has labels of type {column.dtype}; expected integers, "
        "floats, strings or None."
    )


def _read_part(
    column: NDArray[Any], known: NDArray[np.bool_], name: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    codes = np.full(len(column), -1, np.int64)
    codes[known], labels = _read(column[known], name)
    return codes, labels


def _infinite(name: str) -> InvalidEnsembleError:
    return InvalidEnsembleError(
        f"Partition {name!r} contains infinity, which is neither a label nor missing. "
        "Mark missing labels as NaN, None or -1."
    )


def _unique(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes and sorted distinct numbers; linear time for whole numbers that lie close together."""
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        if np.all((values == np.floor(values)) & (abs(values) < 2**53)):
            values = values.astype(np.int64)
    if values.dtype.kind in "iu" and len(values):
        wide = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64, copy=False)
        low = wide.min()
        span = int(wide.max()) - int(low)
        if span < 8 * len(wide) + 1024:
            shifted = (wide - low).astype(np.int64)
            present = np.bincount(shifted, minlength=span + 1) > 0
            labels = np.flatnonzero(present).astype(wide.dtype) + low
            return (np.cumsum(present) - 1)[shifted], labels
    labels, codes = np.unique(values, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), labels


def _read_objects(values: list[Any], name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes and sorted labels of Python objects: numbers and text, neither turned into the other.

    Only distinct objects are looked at one by one.
    """
    seen: dict[Any, int] = {}
    try:
        appearance = np.fromiter(
            (seen.setdefault(value, len(seen)) for value in values), np.int64, len(values)
        )
    except TypeError as error:
        raise TypeError(f"Partition {name!r}: {_WRONG_TYPE} ({error}).") from error
    labels = [_label(value, name) for value in seen]
    distinct = sorted(
        {label for label in labels if label is not None}, key=lambda v: (isinstance(v, str), v)
    )
    if suspects := _READS_LIKE_MISSING.intersection(v for v in distinct if isinstance(v, str)):
        warnings.warn(
            f"Partition {name!r} has a cluster named {min(suspects)!r}: text is a label, this one "
            "too. If it stands for a missing label, pass None instead.",
            PartitaWarning,
            stacklevel=2,
        )
    code_of = {label: code for code, label in enumerate(distinct)}
    code_of[None] = -1
    table = np.asarray([code_of[label] for label in labels], np.int64)
    return table[appearance], name_array(distinct)


_WRONG_TYPE = "argument must be a string or a number"


def _label(value: Any, name: str) -> Any:
    """A number or text as plain Python; None for whatever is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            raise _infinite(name)
        return None if value != value else value
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas, which need not be installed
        return None
    raise TypeError(
        f"Partition {name!r}: {_WRONG_TYPE}, got a label of type {type(value).__name__!r}."
    )


def name_array(values: list[Any]) -> NDArray[Any]:
    """Plain Python labels as an array of one type if they have one, otherwise of objects."""
    kinds = {type(value) for value in values}
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return np.asarray(values, np.int64)
    if kinds in ({float}, {bool}):
        return np.asarray(values)
    return _objects(values)


def encode_with(
    columns: Sequence[NDArray[Any]], categories: Sequence[NDArray[Any]], noise: str
) -> tuple[NDArray[np.int64], int]:
    """Code new rows by the names of an existing ensemble; unknown names become missing (-1).

    Returns the (n_samples, n_partitions) codes and how many labels were unknown.
    """
    coded = np.full((len(columns[0]), len(columns)), -1, np.int64)
    unknown = 0
    for i, (column, known) in enumerate(zip(columns, categories, strict=True)):
        codes, labels = _encode_column(
            column, str(i), "missing" if noise == "singletons" else noise
        )
        code_of = {label: code for code, label in enumerate(known.tolist())}
        table = np.asarray([*(code_of.get(label, -1) for label in labels.tolist()), -1], np.int64)
        coded[:, i] = table[codes]
        unknown += int(np.count_nonzero((codes >= 0) & (coded[:, i] < 0)))
    return coded, unknown


# -- numbers ---------------------------------------------------------------------------------


def check_weights(weights: Any, length: int, name: str) -> NDArray[np.float64]:
    """A vector of `length` positive finite numbers; None means ones."""
    if weights is None:
        return np.ones(length)
    try:
        array = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidEnsembleError(f"{name} must be numbers: {error}.") from error
    if array.shape != (length,):
        raise InvalidEnsembleError(f"{name} must have shape ({length},), got {array.shape}.")
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise InvalidEnsembleError(
            f"{name} must be positive and finite; drop what should not count at all."
        )
    return array


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """A whole number, at least 1 and at most the number of samples."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
        raise ValueError(f"n_clusters must be a whole number, got {n_clusters!r}.")
    wanted = int(n_clusters)
    if not 1 <= wanted <= n_samples:
        raise ValueError(
            f"n_clusters={wanted} must be between 1 and the number of samples, "
            f"n_samples={n_samples}."
        )
    return wanted


def check_affinity(affinity: Any, n: int, name: str = "affinity") -> NDArray[np.float64]:
    """A symmetric n x n matrix of finite numbers."""
    array = np.asarray(affinity, np.float64)
    if array.shape != (n, n):
        raise ValueError(
            f"{name} must have shape ({n}, {n}), one row per sample, got {array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} contains NaN or infinity.")
    if not np.allclose(array, array.T, rtol=0, atol=1e-8 * max(1.0, float(np.abs(array).max()))):
        raise ValueError(f"{name} must be symmetric; pass (A + A.T) / 2 if that is what you mean.")
    return array


def check_connective_matrices(matrices: Any, name: str = "matrices") -> list[NDArray[Any]]:
    """A stack of symmetric matrices of one shape with entries in [0, 1], as it came, not copied."""
    stack = [np.asarray(matrix) for matrix in matrices] if np.iterable(matrices) else []
    if not stack or stack[0].ndim != 2 or stack[0].size == 0:
        raise ValueError(
            f"{name} must be a stack of shape (n_matrices, n_samples, n_samples) or a sequence of "
            f"square matrices, got {len(stack)} of shape {stack[0].shape if stack else ()}."
        )
    n = len(stack[0])
    for i, matrix in enumerate(stack):
        if matrix.dtype.kind not in "fiub":
            raise TypeError(f"{name}[{i}] must hold numbers, got {matrix.dtype}.")
        check_affinity(matrix, n, f"{name}[{i}]")
        low, high = float(matrix.min()), float(matrix.max())
        if low < -1e-8 or high > 1 + 1e-8:
            raise ValueError(
                f"{name}[{i}] must hold probabilities between 0 and 1, got values from {low:g} to "
                f"{high:g}."
            )
    return stack


def random_generator(random_state: Any) -> np.random.Generator:
    """NumPy's Generator from None, a seed, a Generator or an old RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(0, 2**31, size=4))  # noqa: NPY002
    return np.random.default_rng(random_state)
