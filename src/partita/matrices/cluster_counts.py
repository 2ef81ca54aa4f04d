"""Incidence of rows and base clusters, sizes and overlaps of base clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._input.coding import encode
from partita._input.containers import label_columns
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import EnsembleRows, cluster_sums

__all__ = [
    "cluster_overlaps",
    "cluster_sizes",
    "contingency",
    "group_coassociation",
    "group_overlaps",
    "incidence",
    "quadratic_forms",
]

_BLOCK = 4096  # rows per block
_OPERATIONS = 40  # elementary operations per label
_TINY = np.finfo(np.float64).eps
_PAIR_OPERATIONS = 20  # elementary operations per label and partition


def incidence(partitions: Any, values: NDArray[np.float64] | None = None) -> sp.csr_matrix:
    """Return the incidence matrix B of rows and base clusters.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions. An `Ensemble` is not compressed.
    values : array of shape (n_base_clusters,), optional
        Value of the entries in the column of each cluster; 1 by default.

    Returns
    -------
    sparse matrix of shape (n_rows, n_base_clusters)
        Columns are grouped by partition; a missing label has no entry. Cost O(n m).

    Examples
    --------
    >>> from partita.matrices import incidence
    >>> incidence([[0, 0, 1], ["a", "b", "b"]]).toarray()
    array([[1., 0., 1., 0.],
           [1., 0., 0., 1.],
           [0., 1., 0., 1.]])
    """
    ensemble = as_ensemble(partitions)
    columns = ensemble.codes + ensemble.offsets[:-1].astype(np.int32)
    columns = columns.astype(np.int32, copy=False)
    if ensemble.n_missing:
        observed = ensemble.observed
        columns = columns[observed]
        indptr = np.concatenate([[0], np.cumsum(observed.sum(axis=1, dtype=np.int64))])
    else:
        columns = columns.reshape(-1)
        indptr = np.arange(ensemble.n_rows + 1) * ensemble.n_partitions
    data = np.ones(len(columns)) if values is None else values[columns]
    shape = (ensemble.n_rows, ensemble.n_base_clusters)
    return sp.csr_matrix((data, columns, indptr), shape=shape)


def cluster_sizes(partitions: Any) -> NDArray[np.float64]:
    """Return the weight of every base cluster.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.

    Returns
    -------
    array of shape (n_base_clusters,)
    """
    ensemble = as_ensemble(partitions)
    return cluster_sums(ensemble.codes, ensemble.missing_code, ensemble.offsets, ensemble.weights)


def cluster_overlaps(partitions: Any) -> NDArray[np.float64]:
    """Return N = Bᵀ diag(r) B, the weight that any two base clusters share.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.

    Returns
    -------
    array of shape (n_base_clusters, n_base_clusters)
        Cost O(n m²).
    """
    return overlaps_of_rows(EnsembleRows(as_ensemble(partitions)))


def quadratic_forms(ensemble: Ensemble, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return b(x) T b(x)ᵀ for every row, with a symmetric table T of shape (L, L)."""
    out = np.empty(ensemble.n_rows)
    fill = _kernels.contingency.row_forms.at(
        _PAIR_OPERATIONS * ensemble.codes.size * ensemble.n_partitions
    )
    run_blocks(
        lambda start, stop: fill(
            ensemble.codes, ensemble.missing_code, ensemble.offsets, table, start, stop, out
        ),
        ensemble.n_rows,
        _BLOCK,
    )
    return out


def group_overlaps(
    ensemble: Ensemble, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the weight that base clusters share with groups of rows.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    groups : array of shape (n_rows,)
        Group of every row; -1 for a row in no group.
    n_groups : int
        Number of groups.

    Returns
    -------
    array of shape (n_base_clusters, n_groups)
    """
    table = np.zeros((ensemble.n_base_clusters, n_groups))
    count = _kernels.contingency.against.at(_OPERATIONS * ensemble.codes.size)
    count(ensemble.codes, ensemble.missing_code, ensemble.offsets, ensemble.weights, groups, table)
    return table


def group_coassociation(
    ensemble: Ensemble, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the mean co-association of the samples of any two groups.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    groups : array of shape (n_rows,)
        Group of every row.
    n_groups : int
        Number of groups.

    Returns
    -------
    array of shape (n_groups, n_groups)
        Pairs that a partition does not label are left out; 0 if no partition labels any.
    """
    inside = np.zeros((ensemble.n_rows, n_groups))
    inside[np.arange(ensemble.n_rows), groups] = ensemble.weights
    labeled = ensemble.observed.T.astype(np.float64) @ inside
    clusters = group_overlaps(ensemble, groups, n_groups)
    return np.asarray(clusters.T @ clusters / np.maximum(labeled.T @ labeled, _TINY))


def contingency(first: Any, second: Any) -> NDArray[np.float64]:
    """Return the contingency table of two label vectors.

    Entry (k, l) is the number of samples in cluster k of the first and l of the second. Samples
    without a label in either do not count.

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        Labels of any type; None, NaN and -1 are missing.

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
    count = _kernels.contingency.pair_table.at(_OPERATIONS * table.size)
    count(table[:, 0], table[:, 1], np.iinfo(table.dtype).max, np.ones(len(table)), counts)
    return counts
