"""Access to rows of labels that are in memory, in a store or on a Dask cluster.

A solver that needs only sums over rows runs on all of them: it passes a function that adds the
contribution of one chunk to totals, and `Rows` calls it for every chunk.
"""

from __future__ import annotations

from partita.scale._dask_rows import DaskRows
from partita.scale._dispatch import rows_outside
from partita.scale._ensemble_rows import EnsembleRows
from partita.scale._rows import Chunk, Rows, Totals, cluster_sums, n_labeled, row_sums
from partita.scale._store_rows import StoreRows
from partita.scale.checkpoint import Checkpoint

__all__ = [
    "Checkpoint",
    "Chunk",
    "DaskRows",
    "EnsembleRows",
    "Rows",
    "StoreRows",
    "Totals",
    "cluster_sums",
    "n_labeled",
    "row_sums",
    "rows_outside",
]
