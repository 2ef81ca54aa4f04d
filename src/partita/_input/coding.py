"""Code the labels of every partition as 0..K_i-1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.containers import LabelTable, as_objects
from partita._input.table_coding import code_dtype, encode_table
from partita._warn import warn_user
from partita.exceptions import InvalidEnsembleError

__all__ = [
    "NOISE_POLICIES",
    "distinct_labels",
    "encode",
    "encode_with",
    "name_array",
    "read_column",
    "warn_of_other_columns",
]

NOISE_POLICIES = ("missing", "cluster", "singletons")
_FEW_SAMPLES = 10  # with fewer, all labels may differ by chance: no warning
_READS_LIKE_MISSING = frozenset({"nan", "NaN", "None", "NaT", "<NA>"})


def encode(
    columns: Sequence[NDArray[Any]], names: Sequence[str] | None, noise: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """Code every column as 0..K_i-1 in the order of its sorted labels.

    Labels are equal where Python says so: 1, 1.0 and True are one label, 1 and "1" are two. Text
    is a label as it is written, also "nan" and " 1"; only "-1" is noise like -1.

    Parameters
    ----------
    columns : sequence of arrays of shape (n_samples,)
        Label vectors, one per partition.
    names : sequence of str or None
        Names of the partitions, for messages.
    noise : {"missing", "cluster", "singletons"}
        What a label of -1 means: no label, one cluster, or a cluster of its own per sample.

    Returns
    -------
    codes : array of shape (n_samples, n_partitions)
        In the narrowest unsigned type; its largest value is the missing code.
    categories : tuple of arrays
        Per partition, the label of every code. The label of a single noise sample that is a
        cluster of its own is None.
    """
    if len(columns) == 0 or len(columns[0]) == 0:
        raise InvalidEnsembleError(
            f"Expected at least one partition of at least one sample, got {len(columns)} "
            f"partitions of {len(columns[0]) if len(columns) else 0} samples."
        )
    _check_noise(noise)
    names = names or [str(i) for i in range(len(columns))]
    if isinstance(columns, LabelTable):
        coded_table = encode_table(columns.table, noise)
        if coded_table is not None:
            return coded_table
    coded: list[NDArray[Any]] = []
    categories: list[NDArray[Any]] = []
    for column, name in zip(columns, names, strict=True):
        codes, values = _encode_column(column, name, noise)
        if len(values) == 0:
            raise InvalidEnsembleError(
                f"Partition {name!r} labels no sample (all its entries are missing). Drop it."
            )
        # -1 becomes the largest value of the unsigned type, which is the missing code.
        coded.append(codes.astype(code_dtype(len(values))))
        categories.append(values)
    return _pack(coded), tuple(categories)


def warn_of_other_columns(
    categories: Sequence[NDArray[Any]], names: Sequence[str] | None, n_samples: int
) -> None:
    """Warn of columns that look like features or sample ids instead of labels."""
    if n_samples < _FEW_SAMPLES:
        return
    names = names or [str(i) for i in range(len(categories))]
    features = [
        name
        for name, labels in zip(names, categories, strict=True)
        if labels.dtype.kind == "f" and (labels != np.floor(labels)).any()
    ]
    if features:
        warn_user(
            f"{_listed(features)}: numbers with decimals look like features, not like labels. "
            "Every distinct number becomes a cluster. To cluster features, use "
            "`EnsembleClustering` (`partita generate` on the command line)."
        )
    ids = [
        name
        for name, labels in zip(names, categories, strict=True)
        if len(labels) == n_samples and name not in features
    ]
    if ids:
        warn_user(
            f"{_listed(ids)}: all {n_samples} samples have different labels. If these are sample "
            "ids, pass them as such (`sample_ids`; `id_column` of a data frame; --id-column on the "
            "command line)."
        )


def _listed(names: Sequence[str]) -> str:
    """Return the first names of partitions as text."""
    shown = ", ".join(repr(name) for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Partition{'s' * (len(names) > 1)} {shown}{more}"


def _pack(coded: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Combine columns of codes of different integer types in one table."""
    dtype = np.result_type(*coded)
    table = np.empty((len(coded[0]), len(coded)), dtype)
    for i, codes in enumerate(coded):
        table[:, i] = codes
        if codes.dtype != dtype:
            table[codes == np.iinfo(codes.dtype).max, i] = np.iinfo(dtype).max
    return table


def _check_noise(noise: str) -> None:
    if noise not in NOISE_POLICIES:
        raise ValueError(f"noise must be one of {NOISE_POLICIES}, got {noise!r}")


def _encode_column(
    column: NDArray[Any], name: str, noise: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the codes, -1 for missing, and the label of every code."""
    _check_noise(noise)
    codes, labels = read_column(column, name)
    is_noise = _equals_minus_one(labels)
    if noise == "cluster" or not is_noise.any():
        return codes, labels
    new_code = np.where(is_noise, -1, np.cumsum(~is_noise) - 1)
    noise_rows = np.flatnonzero(is_noise[codes] & (codes >= 0))
    codes, labels = np.where(codes < 0, -1, new_code[codes]), labels[~is_noise]
    if noise == "singletons":
        codes[noise_rows] = len(labels) + np.arange(len(noise_rows))
        labels = np.concatenate([labels.astype(object), np.full(len(noise_rows), None)])
    return codes, labels


def distinct_labels(column: NDArray[Any], name: str) -> list[Any]:
    """Return the distinct labels of a column without missing ones; -1 counts as a label."""
    return list(read_column(column, name)[1].tolist())


def _equals_minus_one(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind != "O":
        return np.asarray(labels == -1, bool)
    return np.fromiter((label in (-1, "-1") for label in labels), bool, len(labels))


def read_column(column: NDArray[Any], name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the codes of a column, -1 where it is None, NaN or masked, and the sorted labels."""
    if isinstance(column, np.ma.MaskedArray):
        return _read_part(np.ma.getdata(column), ~np.ma.getmaskarray(column), name)
    kind = column.dtype.kind
    if kind in "iub":
        return _unique(column)
    if kind == "f" and column.dtype.itemsize <= 8:
        is_labeled = ~np.isnan(column)
        if not is_labeled.all():
            return _read_part(column, is_labeled, name)
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
    column: NDArray[Any], is_labeled: NDArray[np.bool_], name: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    codes = np.full(len(column), -1, np.int64)
    codes[is_labeled], labels = read_column(column[is_labeled], name)
    return codes, labels


def _infinite(name: str) -> InvalidEnsembleError:
    return InvalidEnsembleError(
        f"Partition {name!r} contains infinity, which is neither a label nor missing. "
        "Mark missing labels as NaN, None or -1."
    )


def _unique(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes and sorted distinct numbers; linear time for integers of a narrow range."""
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
    """Return codes and sorted labels of Python objects; numbers and text stay different labels.

    Only distinct objects are converted one by one.
    """
    first_seen: dict[Any, int] = {}
    try:
        appearance = np.fromiter(
            (first_seen.setdefault(value, len(first_seen)) for value in values),
            np.int64,
            len(values),
        )
    except TypeError as error:
        raise TypeError(f"Partition {name!r}: {_WRONG_TYPE} ({error}).") from error
    labels = [_label(value, name) for value in first_seen]
    distinct = sorted(
        {label for label in labels if label is not None}, key=lambda v: (isinstance(v, str), v)
    )
    if suspects := _READS_LIKE_MISSING.intersection(v for v in distinct if isinstance(v, str)):
        warn_user(
            f"Partition {name!r} has a cluster named {min(suspects)!r}: text is always a label. If "
            "it stands for a missing label, pass None instead."
        )
    code_of = {label: code for code, label in enumerate(distinct)}
    code_of[None] = -1
    table = np.asarray([code_of[label] for label in labels], np.int64)
    return table[appearance], name_array(distinct)


_WRONG_TYPE = "argument must be a string or a number"


def _label(value: Any, name: str) -> Any:
    """Return a number or text as a plain Python object, None if it is missing."""
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
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas, which is optional
        return None
    raise TypeError(
        f"Partition {name!r}: {_WRONG_TYPE}, got a label of type {type(value).__name__!r}."
    )


def name_array(values: list[Any]) -> NDArray[Any]:
    """Return Python labels as an array of their common type, otherwise of objects."""
    kinds = {type(value) for value in values}
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return np.asarray(values, np.int64)
    if kinds in ({float}, {bool}):
        return np.asarray(values)
    return as_objects(values)


def encode_with(
    columns: Sequence[NDArray[Any]], categories: Sequence[NDArray[Any]], noise: str
) -> tuple[NDArray[np.int64], int]:
    """Code new rows by the categories of an existing ensemble.

    Returns
    -------
    codes : array of shape (n_samples, n_partitions)
        -1 for missing labels and for labels that are not among the categories.
    n_unknown : int
        Number of labels that are not among the categories.
    """
    coded = np.full((len(columns[0]), len(columns)), -1, np.int64)
    n_unknown = 0
    for i, (column, category) in enumerate(zip(columns, categories, strict=True)):
        codes, labels = _encode_column(
            column, str(i), "missing" if noise == "singletons" else noise
        )
        code_of = {label: code for code, label in enumerate(category.tolist())}
        table = np.asarray([*(code_of.get(label, -1) for label in labels.tolist()), -1], np.int64)
        coded[:, i] = table[codes]
        n_unknown += int(np.count_nonzero((codes >= 0) & (coded[:, i] < 0)))
    return coded, n_unknown
