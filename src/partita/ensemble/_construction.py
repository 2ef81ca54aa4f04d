"""Read the containers that users keep partitions in, and check what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode, warn_of_other_columns
from partita._input.columns import match_columns, name_array
from partita._input.containers import as_frame, label_columns
from partita.ensemble.layout import LabelLayout
from partita.exceptions import InvalidEnsembleError

__all__ = [
    "check_sample_ids",
    "check_unlabeled",
    "code_partitions",
    "index_names",
    "select_columns",
]


def code_partitions(
    partitions: Any, partition_names: Sequence[str] | None, noise: str
) -> tuple[NDArray[Any], LabelLayout]:
    """Return the codes and the layout of a table of labels; see `Ensemble.from_partitions`."""
    columns, column_names = label_columns(partitions)
    names = list(partition_names) if partition_names is not None else column_names
    if names is not None and len(names) != len(columns):
        raise InvalidEnsembleError(
            f"partition_names must name {len(columns)} partitions, got {len(names)} names."
        )
    codes, categories = encode(columns, names, noise)
    if noise != "singletons":
        warn_of_other_columns(categories, names, len(codes))
    return codes, LabelLayout(
        codes.dtype, categories, None if names is None else np.asarray(names, object)
    )


def select_columns(
    frame: Any, columns: Sequence[str] | str | None, id_column: str | None
) -> tuple[dict[str, Any], Any]:
    """Return the partitions of a data frame by name, and the sample ids or None.

    Parameters as in `Ensemble.from_frame`.
    """
    table = as_frame(frame)
    if table is None:
        raise InvalidEnsembleError(
            f"Expected a data frame, got {type(frame).__name__}. Use `Ensemble.from_partitions`."
        )
    series = dict(zip(table.columns, table.iter_columns(), strict=True))
    names = [name for name in series if name != id_column]
    if isinstance(columns, str):
        chosen = match_columns(names, columns)
    else:
        chosen = names if columns is None else list(columns)
    absent = [name for name in chosen if name not in names]
    if absent or not chosen or (id_column is not None and id_column not in series):
        raise InvalidEnsembleError(
            f"No such column(s): columns={columns!r}, id_column={id_column!r}; the frame has "
            f"{list(series)}."
        )
    ids = nw.maybe_get_index(table) if id_column is None else series[id_column].to_list()
    return {name: series[name] for name in chosen}, ids


def index_names(partitions: Any) -> Any:
    """Return the index of a data frame that has names of samples in it, otherwise None."""
    if not hasattr(partitions, "index") or (frame := as_frame(partitions)) is None:
        return None
    index = nw.maybe_get_index(frame)
    return None if type(index).__name__ == "RangeIndex" else index


def check_unlabeled(codes: NDArray[Any], unlabeled: str) -> None:
    """Raise an error for samples without any label, unless `unlabeled` is "keep".

    At least one sample must have a label.
    """
    if unlabeled not in ("error", "keep"):
        raise ValueError(f'unlabeled must be "error" or "keep", got {unlabeled!r}')
    # the missing code is the largest; a comparison of all entries would need a second table
    rows = np.flatnonzero(codes.min(axis=1) == np.iinfo(codes.dtype).max)
    if len(rows) and unlabeled == "error":
        raise InvalidEnsembleError(
            f"{len(rows)} sample(s) have no label in any partition (first: row {rows[0]}). Drop "
            'them, or pass `Ensemble.from_partitions(..., unlabeled="keep")` to get -1 for them.'
        )
    if len(rows) == len(codes):
        raise InvalidEnsembleError("No sample has a label in any partition.")


def check_sample_ids(sample_ids: Any, n_samples: int) -> NDArray[Any] | None:
    """Return a copy of the sample ids, one per sample, or None."""
    if sample_ids is None:
        return None
    is_array = hasattr(sample_ids, "__array__")
    ids = np.array(sample_ids) if is_array else name_array(list(sample_ids))
    if ids.shape != (n_samples,):
        raise InvalidEnsembleError(f"sample_ids must have shape ({n_samples},), got {ids.shape}.")
    return ids
