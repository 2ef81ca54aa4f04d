"""Fuse partitions in one call: consensus, number of clusters and confidence.

`fuse` takes any kind of partitions, `update_consensus` adds partitions to a consensus.
`add_consensus` takes partitions that are columns of an AnnData or a data frame, and adds the result
as columns.
"""

from __future__ import annotations

from partita.fusion._anndata import anndata_results
from partita.fusion._frames import add_consensus
from partita.fusion._fusing import Fusion, fits_in_memory, fuse, update_consensus

__all__ = [
    "Fusion",
    "add_consensus",
    "anndata_results",
    "fits_in_memory",
    "fuse",
    "update_consensus",
]
