"""Rows against clusters and clusters against clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._input.coding import encode
from partita._input.containers import label_columns
from partita._threads import run_blocks
from partita.ensemble import Ensemble
from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import EnsembleRows, cluster_sums

__all__ = [
    "cluster_overlaps",
    "cluster_sizes",
    "contingency",
    "group_overlaps",
    "incidence",
    "quadratic_forms",
]


def incidence(ensemble: Ensemble, values: NDArray[np.float64] | None = None) -> sp.csr_matrix:
    """B: rows of the ensemble against the clusters of all partitions.

    Parameters
    ----------
    ensemble : Ensemble
    values : array of shape (n_base_clusters,), optional
        The entry in each cluster's column; 1 by default.

    Returns
    -------
    sparse matrix of shape (n_rows, n_base_clusters)
        Columns grouped by partition; a missing label is an empty block. O(n m).
    """
    observed = ensemble.observed
    columns = (ensemble.codes + ensemble.offsets[:-1].astype(np.int32))[observed]
    indptr = np.concatenate([[0], np.cumsum(observed.sum(axis=1, dtype=np.int64))])
    data = np.ones(len(columns)) if values is None else values[columns]
    shape = (ensemble.n_rows, ensemble.n_base_clusters)
    return sp.csr_matrix((data, columns.astype(np.int32), indptr), shape=shape)


def cluster_sizes(ensemble: Ensemble) -> NDArray[np.float64]:
    """Weight of every cluster, all partitions' clusters numbered through."""
    return cluster_sums(ensemble.codes, ensemble.missing_code, ensemble.offsets, ensemble.weights)


def quadratic_forms(ensemble: Ensemble, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """b(x) T b(x)ᵀ for every row: a symmetric (L, L) table over all pairs of the row's clusters."""
    out = np.empty(ensemble.n_rows)
    kernel = _kernels.contingency.row_forms
    run_blocks(
        lambda start, stop: kernel(
            ensemble.codes, ensemble.missing_code, ensemble.offsets, table, start, stop, out
        ),
        ensemble.n_rows,
        4096,
    )
    return out


def cluster_overlaps(ensemble: Ensemble) -> NDArray[np.float64]:
    """N = Bᵀ diag(r) B: the weight any two clusters share, dense (L, L)."""
    return overlaps_of_rows(EnsembleRows(ensemble))


def group_overlaps(
    ensemble: Ensemble, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Weight of every cluster's rows in every group, shape (n_base_clusters, n_groups).

    A row of group -1 is in none.
    """
    table = np.zeros((ensemble.n_base_clusters, n_groups))
    _kernels.contingency.against(
        ensemble.codes, ensemble.missing_code, ensemble.offsets, ensemble.weights, groups, table
    )
    return table


def contingency(first: Any, second: Any) -> NDArray[np.float64]:
    """Contingency table of two label vectors: samples in cluster k of one and l of the other.

    Samples that either leaves unlabeled do not count.

    Examples
    --------
    >>> import partita
    >>> partita.matrices.contingency([0, 0, 1], ["a", "b", "b"])
    array([[1., 1.],
           [0., 1.]])
    """
    columns, _ = label_columns([first, second])
    table, names = encode(columns, None, "missing")
    counts = np.zeros((len(names[0]), len(names[1])))
    _kernels.contingency.pair_table(
        table[:, 0], table[:, 1], np.iinfo(table.dtype).max, np.ones(len(table)), counts
    )
    return counts
