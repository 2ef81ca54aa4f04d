"""An ensemble as records: one dictionary per sample, or one per partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from partita.ensemble._table import CodedTable

__all__ = ["records_of_partitions", "records_of_samples"]


def records_of_partitions(table: CodedTable) -> list[dict[str, Any]]:
    """Return the name, the clusters and the share of labeled rows of each partition.

    The partitions are in the order of the user's table.
    """
    labeled = table.observed.mean(axis=0)
    return [
        {"partition": name, "n_clusters": int(table.n_clusters[i]), "labeled": float(labeled[i])}
        for name, i in _columns(table)
    ]


def records_of_samples(table: CodedTable) -> list[dict[str, Any]]:
    """Return the labels of each sample, None for a missing one."""
    rows = np.arange(table.n_rows) if table.inverse is None else np.asarray(table.inverse)
    columns: dict[str, list[Any]] = {
        "sample": list(range(table.n_samples))
        if table.sample_ids is None
        else table.sample_ids.tolist()
    }
    for name, i in _columns(table):
        labels = [*table.layout.categories[i].tolist(), None]
        present = (rows >= 0) & table.observed[rows, i]
        codes = np.where(present, table.codes[rows, i], len(labels) - 1)
        columns[str(name)] = [labels[code] for code in codes.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _columns(table: CodedTable) -> list[tuple[Any, int]]:
    """Return name and column of each partition, in the order of the user's table."""
    names = table.layout.partition_names
    order = np.argsort(table.partition_order).tolist()
    return [(place if names is None else names[i], i) for place, i in enumerate(order)]
