"""Code one label vector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode
from partita._input.containers import check_order, label_columns

__all__ = ["code_labels"]


def code_labels(
    labels: Any,
    n_samples: int | None = None,
    *,
    name: str = "labels",
    noise: str = "missing",
    sample_ids: Any = None,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Code one clustering as 0..K-1 in the order of its sorted labels, -1 for a missing label.

    Parameters
    ----------
    labels : array-like of shape (n_samples,), or a fitted method with `labels_`
        The clustering.
    n_samples : int, optional
        Length that the vector must have. By default any length is accepted.
    name : str, default="labels"
        Name of the vector in error messages.
    noise : {"missing", "cluster"}, default="missing"
        What a label of -1 means: no label, or one cluster.
    sample_ids : sequence, optional
        Ids of the samples. A series with the same ids in another order is an error. By default the
        order is not checked.

    Returns
    -------
    codes : array of shape (n_samples,)
        A vector that is already coded is returned as it is.
    categories : array of shape (n_clusters,)
        The label that each code stands for.
    """
    labels = getattr(labels, "labels_", labels)
    check_order(labels, sample_ids, name)
    columns, _ = label_columns([labels])
    column = columns[0]
    if n_samples is not None and len(column) != n_samples:
        raise ValueError(
            f"{name} has {len(column)} entries, the ensemble {n_samples} samples. Pass one label "
            "per sample, in the order of the ensemble."
        )
    if _is_coded(column, -1 if noise == "missing" else 0):
        return column.astype(np.int64, copy=False), np.arange(int(column.max()) + 1)
    table, categories = encode(columns, [name], noise)
    codes = table[:, 0].astype(np.int64)
    codes[table[:, 0] == np.iinfo(table.dtype).max] = -1
    return codes, categories[0]


def _is_coded(column: NDArray[Any], lowest: int) -> bool:
    """Say whether the values are integers from `lowest` to K-1 and all of 0..K-1 occur."""
    if type(column) is not np.ndarray or column.dtype.kind != "i" or len(column) == 0:
        return False
    if column.min() < lowest or not 0 <= column.max() < len(column):
        return False
    counts = np.bincount(column.astype(np.int64, copy=False) + 1)
    return bool(counts[1:].all())
