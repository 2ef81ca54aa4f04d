"""Read the labels of one column: numbers, text, Python objects, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.containers import as_objects
from partita._warn import warn_user
from partita.exceptions import InvalidEnsembleError

__all__ = ["distinct_labels", "match_columns", "name_array", "read_column"]

_READS_LIKE_MISSING = frozenset({"nan", "NaN", "None", "NaT", "<NA>"})
_WRONG_TYPE = "argument must be a string or a number"


def match_columns(names: Sequence[str], pattern: str) -> list[str]:
    """Return the names that a pattern such as "leiden_*" matches, in their order.

    A result of an earlier consensus, which is a column beside its confidence, matches only its own
    name: a pattern means the partitions.
    """
    all_names = set(names)
    results = {
        f"{name}{suffix}"
        for name in names
        if f"{name}_confidence" in all_names
        for suffix in ("", "_confidence", "_margin", "_runner_up")
    }
    return [n for n in names if n == pattern or (fnmatchcase(n, pattern) and n not in results)]


def distinct_labels(column: NDArray[Any], name: str) -> list[Any]:
    """Return the distinct labels of a column without missing ones; -1 counts as a label."""
    return list(read_column(column, name)[1].tolist())


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
