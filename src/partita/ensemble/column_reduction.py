"""Reduce some partitions of an ensemble to distinct rows, without a new order of the clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita.ensemble._ensemble import Ensemble
from partita.ensemble._reduction import ordered_rows
from partita.ensemble.layout import read_only

__all__ = ["compress_columns"]


def compress_columns(ensemble: Ensemble, columns: NDArray[np.int64]) -> Ensemble:
    """Return distinct rows of some partitions with weights, in a canonical order of the rows.

    The rows are those of `ensemble.subset(partitions=columns).compress()`. Partitions and clusters
    keep the order that they have in the ensemble, so that values per cluster of the ensemble, such
    as certainties, belong to them.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions, with one row per sample. Every cluster has a sample.
    columns : array of indices
        The partitions to keep.
    """
    layout = ensemble.layout.select(columns)
    # Fortran order would be another kind of array for compiled kernels
    table = read_only(np.ascontiguousarray(ensemble.codes[:, columns]))
    has_missing = ensemble.n_missing > 0
    codes, rows, position, weights = ordered_rows(
        table, layout, ensemble.weights, has_missing=has_missing
    )
    return replace(
        ensemble,
        codes=codes[rows],
        layout=layout,
        weights=weights,
        inverse=position,
        partition_order=ensemble.partition_order[columns],
    )
