"""Label rows in chunks: all in memory at once, from a store one after the other, or on a cluster.

A solver that asks no more than sums over rows runs on any of them. It hands over a step that adds
what one chunk contributes to a tuple of totals; where the chunks lie and who works on them is not
its business.
"""

from __future__ import annotations

from partita.rows._dask_rows import DaskRows
from partita.rows._ensemble_rows import EnsembleRows
from partita.rows._outside import rows_outside
from partita.rows._protocol import (
    Chunk,
    RowParts,
    Rows,
    Step,
    Totals,
    cluster_sums,
    n_labelled,
    row_sums,
)
from partita.rows._store_rows import StoreRows

__all__ = [
    "Chunk",
    "DaskRows",
    "EnsembleRows",
    "RowParts",
    "Rows",
    "Step",
    "StoreRows",
    "Totals",
    "cluster_sums",
    "n_labelled",
    "row_sums",
    "rows_outside",
]
