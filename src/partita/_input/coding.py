"""Code the labels of every partition as 0..K_i-1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.columns import read_column
from partita._input.containers import LabelTable
from partita._input.table_coding import code_dtype, encode_table
from partita._warn import warn_user
from partita.exceptions import InvalidEnsembleError

__all__ = [
    "NOISE_POLICIES",
    "encode",
    "encode_with",
    "warn_of_other_columns",
    "warn_of_sample_ids",
]

NOISE_POLICIES = ("missing", "cluster", "singletons")
_FEW_SAMPLES = 10  # with fewer, all labels may differ by chance: no warning


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
        name for name, labels in zip(names, categories, strict=True) if _has_decimals(labels)
    ]
    if features:
        warn_user(
            f"{_listed(features)}: numbers with decimals look like features, not like labels. "
            "Every distinct number becomes a cluster. To cluster features, use "
            "`EnsembleClustering` (`partita generate` on the command line)."
        )
    warn_of_sample_ids(categories, names, n_samples)


def warn_of_sample_ids(
    categories: Sequence[NDArray[Any]], names: Sequence[str], n_samples: int
) -> None:
    """Warn of columns that look like sample ids instead of labels."""
    if n_samples < _FEW_SAMPLES:
        return
    ids = [
        name
        for name, labels in zip(names, categories, strict=True)
        if len(labels) == n_samples and not _has_decimals(labels)
    ]
    if ids:
        warn_user(
            f"{_listed(ids)}: all {n_samples} samples have different labels. If these are sample "
            "ids, pass them as such (`sample_ids`; `id_column` of a data frame; --id-column on the "
            "command line)."
        )


def _has_decimals(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())


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


def _equals_minus_one(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind != "O":
        return np.asarray(labels == -1, bool)
    return np.fromiter((label in (-1, "-1") for label in labels), bool, len(labels))


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
