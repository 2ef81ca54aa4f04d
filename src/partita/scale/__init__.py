"""Label rows in chunks: all in memory at once, from a store one after the other, or on a cluster.

A solver that asks no more than sums over rows runs on any of them. It hands over a step that adds
what one chunk contributes to a tuple of totals; where the chunks lie and who works on them is not
its business.
"""

from __future__ import annotations

from partita.scale._dask_rows import DaskRows
from partita.scale._dispatch import rows_outside
from partita.scale._ensemble_rows import EnsembleRows
from partita.scale._store_rows import StoreRows
from partita.scale.checkpoint import Checkpoint
from partita.scale.rows import (
    Chunk,
    RowParts,
    Rows,
    Step,
    Totals,
    cluster_sums,
    n_labeled,
    row_sums,
)

__all__ = [
    "Checkpoint",
    "Chunk",
    "DaskRows",
    "EnsembleRows",
    "RowParts",
    "Rows",
    "Step",
    "StoreRows",
    "Totals",
    "cluster_sums",
    "n_labeled",
    "row_sums",
    "rows_outside",
]
