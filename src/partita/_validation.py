"""The only place where user input is checked and converted.

Everything a user may call "clusterings" becomes one table of small codes per partition plus the
original names. What cannot be understood is refused with a sentence that says what was expected,
what came and what to do.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError

__all__ = [
    "NOISE_POLICIES",
    "check_affinity",
    "check_connective_matrices",
    "check_n_clusters",
    "check_weights",
    "code_dtype",
    "encode",
    "encode_with",
    "label_columns",
    "random_generator",
]

NOISE_POLICIES = ("missing", "cluster", "singletons")
_SMALL_RANGE = 1 << 22  # integer labels within this range are coded by a look-up table


# -- containers ------------------------------------------------------------------------------


def label_columns(labels: Any) -> tuple[list[NDArray[Any]], list[str] | None]:
    """One vector per partition, and the partitions' names if the container has them.

    A two-dimensional array is (n_samples, n_partitions); a data frame has one partition per
    column; a list or tuple is a list of label vectors, one per partition.
    """
    if hasattr(labels, "tocsr"):
        raise InvalidEnsembleError(
            "Expected a dense label matrix, got a sparse matrix: a label of 0 is a cluster, not an "
            "absence. Convert it with `.toarray()`."
        )
    if isinstance(labels, (list, tuple)):
        return _from_vectors(labels), None
    frame = nw.from_native(labels, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return [_series_values(frame[name]) for name in frame.columns], [
            str(c) for c in frame.columns
        ]
    if isinstance(frame, nw.LazyFrame):
        raise InvalidEnsembleError(
            "Expected a data frame in memory, got a lazy one. Collect it first."
        )
    array = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
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
    return [array[:, i] for i in range(array.shape[1])], None


def _series_values(series: Any) -> NDArray[Any]:
    """A column as NumPy values in which missing entries are None or NaN."""
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    return np.asarray(series.to_numpy() if not series.null_count() else series.to_list())


def _from_vectors(vectors: Sequence[Any]) -> list[NDArray[Any]]:
    columns = [
        np.ma.asarray(v) if isinstance(v, np.ma.MaskedArray) else _vector(v) for v in vectors
    ]
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


def _vector(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    series = nw.from_native(values, pass_through=True, series_only=True)
    if isinstance(series, nw.Series):
        return _series_values(series)
    values = list(values) if not np.isscalar(values) else values
    mixed = (
        any(v is None or isinstance(v, str) for v in values) if isinstance(values, list) else False
    )
    return np.asarray(values, dtype=object if mixed else None)


# -- coding ----------------------------------------------------------------------------------


def encode(
    columns: Sequence[NDArray[Any]], names: Sequence[str] | None, noise: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """Code every column as 0..K_i-1 in the order of its sorted labels.

    Returns the (n_samples, n_partitions) table, in the narrowest unsigned type whose largest value
    can stand for "missing", and the original label of every code.
    """
    if noise not in NOISE_POLICIES:
        raise ValueError(f"noise must be one of {NOISE_POLICIES}, got {noise!r}")
    if not columns or len(columns[0]) == 0:
        raise InvalidEnsembleError(
            f"Expected at least one partition of at least one sample, got {len(columns)} "
            f"partitions of {0 if not columns else len(columns[0])} samples."
        )
    names = names or [str(i) for i in range(len(columns))]
    coded: list[NDArray[np.int64]] = []
    categories: list[NDArray[Any]] = []
    for column, name in zip(columns, names, strict=True):
        codes, values = _encode_column(column, name, noise)
        if len(values) == 0:
            raise InvalidEnsembleError(
                f"Partition {name!r} labels no sample (all its entries are missing). Drop it."
            )
        coded.append(codes)
        categories.append(values)
    return pack(coded, [len(v) for v in categories]), tuple(categories)


def pack(coded: Sequence[NDArray[np.int64]], n_clusters: Sequence[int]) -> NDArray[Any]:
    """Columns of codes with -1 for missing, packed into the narrowest unsigned table."""
    dtype = code_dtype(max(n_clusters))
    labels = np.empty((len(coded[0]), len(coded)), dtype)
    for i, codes in enumerate(coded):
        labels[:, i] = np.where(codes < 0, np.iinfo(dtype).max, codes)
    return labels


def code_dtype(n_clusters: int) -> Any:
    """Narrowest unsigned type with room for n_clusters codes and the missing code."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if n_clusters <= np.iinfo(dtype).max:
            return dtype
    raise InvalidEnsembleError(
        f"A partition of {n_clusters} clusters is more than 32 bits can number."
    )


def _encode_column(
    column: NDArray[Any], name: str, noise: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    values, missing, is_noise = _split(column, name)
    if noise == "missing":
        missing = missing | is_noise
    elif noise == "singletons":
        missing = missing | is_noise  # coded below, after the true clusters
    codes = np.full(len(column), -1, np.int64)
    known = ~missing
    codes[known], categories = _unique(values[known])
    if noise == "singletons" and is_noise.any():
        codes[is_noise] = len(categories) + np.arange(np.count_nonzero(is_noise))
        own = np.asarray([f"noise:{x}" for x in np.flatnonzero(is_noise)], dtype=object)
        categories = np.concatenate([categories.astype(object), own])
    return codes, categories


def _split(
    column: NDArray[Any], name: str
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
    """Values, which of them are missing (None, NaN, masked) and which are noise (-1)."""
    masked = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    values = np.ma.getdata(column) if masked is not None else column
    if values.dtype.kind in "iub":
        missing = np.zeros(len(values), bool)
        is_noise = values == -1 if values.dtype.kind == "i" else np.zeros(len(values), bool)
    elif values.dtype.kind == "f":
        missing = np.isnan(values)
        if np.isinf(values).any():
            raise InvalidEnsembleError(
                f"Partition {name!r} contains infinity, which is neither a label nor missing. "
                "Mark missing labels as NaN, None or -1."
            )
        is_noise = values == -1
    elif values.dtype.kind in "OUST":
        values, missing, is_noise = _split_objects(values, name)
    else:
        what = "Complex data not supported: " if values.dtype.kind == "c" else ""
        raise InvalidEnsembleError(
            f"{what}partition {name!r} has labels of type {values.dtype}; expected integers, "
            "floats, strings or None."
        )
    return values, missing if masked is None else missing | masked, is_noise


def _split_objects(
    values: NDArray[Any], name: str
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
    missing = np.fromiter((_is_missing(v) for v in values), bool, len(values))
    kept = values[~missing]
    if all(isinstance(v, numbers.Real) for v in kept):
        numeric = np.full(len(values), np.nan)
        numeric[~missing] = kept.astype(np.float64)
        return _split(numeric, name)
    if not all(isinstance(v, (str, bytes, numbers.Real)) for v in kept):
        wrong = next(v for v in kept if not isinstance(v, (str, bytes, numbers.Real)))
        raise TypeError(
            f"Partition {name!r}: argument must be a string or a number, got a label of type "
            f"{type(wrong).__name__!r}."
        )
    text = np.asarray([v if isinstance(v, str) else str(v) for v in values], dtype=object)
    return text, missing, np.asarray(text == "-1", bool) & ~missing


def _is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA: whatever does not equal itself, or cannot say."""
    if value is None:
        return True
    if isinstance(value, (str, bytes, int)):
        return False
    unequal = value != value
    return not isinstance(unequal, (bool, np.bool_)) or bool(unequal)


def _unique(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes and sorted distinct values; linear time for integers of small range."""
    whole = values.dtype.kind == "f" and len(values) and np.all(values == np.floor(values))
    if whole and np.abs(values).max() < _SMALL_RANGE:
        values = values.astype(np.int64)
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < _SMALL_RANGE:
            shifted = values.astype(np.int64) - low
            present = np.bincount(shifted, minlength=high - low + 1) > 0
            return (np.cumsum(present) - 1)[shifted], np.flatnonzero(present) + low
    categories, codes = np.unique(values, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), categories


def encode_with(
    columns: Sequence[NDArray[Any]], categories: Sequence[NDArray[Any]], noise: str
) -> tuple[NDArray[np.int64], int]:
    """Code new rows by the names of an existing ensemble; unknown names become missing (-1).

    Returns the (n_samples, n_partitions) codes and how many labels were unknown.
    """
    coded = np.full((len(columns[0]), len(columns)), -1, np.int64)
    unknown = 0
    for i, (column, known) in enumerate(zip(columns, categories, strict=True)):
        values, missing, is_noise = _split(column, str(i))
        if noise != "cluster":
            missing = missing | is_noise
        code_of = {value: code for code, value in enumerate(known.tolist())}
        new_codes, new_values = _unique(values[~missing])
        table = np.asarray([code_of.get(v, -1) for v in new_values.tolist()], np.int64)
        if len(table):
            coded[~missing, i] = table[new_codes]
            unknown += int(np.count_nonzero(table[new_codes] < 0))
    return coded, unknown


# -- numbers ---------------------------------------------------------------------------------


def check_weights(weights: Any, length: int, name: str) -> NDArray[np.float64]:
    """A vector of `length` positive finite numbers; None means ones."""
    if weights is None:
        return np.ones(length)
    array = np.asarray(weights, np.float64)
    if array.shape != (length,):
        raise InvalidEnsembleError(f"{name} must have shape ({length},), got {array.shape}.")
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise InvalidEnsembleError(
            f"{name} must be positive and finite; drop what should not count at all."
        )
    return array


def check_n_clusters(n_clusters: int, n_samples: int) -> int:
    """At least 1 and at most the number of samples."""
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} must be between 1 and the number of samples, "
            f"n_samples={n_samples}."
        )
    return int(n_clusters)


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
