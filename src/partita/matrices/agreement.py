"""Co-association: the share of partitions that put two samples together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble

__all__ = [
    "agreement_counts",
    "check_missing",
    "coassociation",
    "coobserved_counts",
    "coobserved_weights",
    "divide_by_coobserved",
    "expand_pairs",
    "weighted_agreement",
]

_BLOCK = 256  # rows per block: a multiple of the tile of the kernels


def agreement_counts(partitions: Any, dtype: Any = "uint16") -> NDArray[Any]:
    """Return in how many partitions two rows share a cluster.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions. An `Ensemble` is not compressed.
    dtype : integer type, default="uint16"
        Type of the counts, which must hold the number of partitions.

    Returns
    -------
    array of shape (n_rows, n_rows)
        Cost O(n'² m) byte comparisons for n' rows.
    """
    ensemble = as_ensemble(partitions)
    columns = np.ascontiguousarray(ensemble.codes.T)
    return _count(columns, ensemble.missing_code, dtype)


def coobserved_counts(ensemble: Ensemble, dtype: Any = "uint16") -> NDArray[Any]:
    """Return how many partitions label both rows."""
    return _count(*_observed_columns(ensemble), dtype)


def _observed_columns(ensemble: Ensemble) -> tuple[NDArray[np.uint8], int]:
    """Return every partition as one cluster of the rows it labels, and the missing code."""
    missing_code = np.iinfo(np.uint8).max
    columns = np.where(ensemble.observed.T, np.uint8(0), np.uint8(missing_code))
    return np.ascontiguousarray(columns), missing_code


def _count(columns: NDArray[Any], missing_code: int, dtype: Any) -> NDArray[Any]:
    m, n = columns.shape
    if m > np.iinfo(dtype).max:
        raise ValueError(f"{m} partitions do not fit counts of type {np.dtype(dtype)}.")
    require_memory(n * n * np.dtype(dtype).itemsize, f"The {n} x {n} table of agreements")
    out = np.empty((n, n), dtype)
    kernel = _kernels.coassociation.count_rows
    run_blocks(lambda start, stop: kernel(columns, missing_code, start, stop, out), n, _BLOCK)
    return out


def weighted_agreement(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return B diag(value) Bᵀ: the sum of value[c] over the clusters c that two rows share."""
    columns = np.ascontiguousarray(ensemble.codes.T)
    return _weigh(columns, ensemble.missing_code, ensemble.offsets, value)


def coobserved_weights(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of value[i] over the partitions i that label both rows."""
    return _weigh(*_observed_columns(ensemble), np.arange(ensemble.n_partitions + 1), value)


def _weigh(
    columns: NDArray[Any], missing_code: int, offsets: NDArray[np.int64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    n = columns.shape[1]
    require_memory(8 * n * n, f"The {n} x {n} co-association matrix")
    out = np.empty((n, n))
    kernel = _kernels.coassociation.weigh_rows
    run_blocks(
        lambda start, stop: kernel(columns, missing_code, offsets, value, start, stop, out),
        n,
        _BLOCK,
    )
    return out


def coassociation(
    partitions: Any, *, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Return the co-association matrix: the share of partitions that put two samples together.

    CA_pq = (partitions that join p and q) / (partitions that label both).

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    missing : {"pairwise", "disagree"}, default="pairwise"
        Treatment of missing labels: divide by the number of partitions that label both samples (0
        if there are none), or by the number of all partitions, so that a missing label counts as
        disagreement.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`.

    Returns
    -------
    array of shape (n, n)
        Cost O(n'² m) byte comparisons for n' distinct rows; 8 n² bytes.

    References
    ----------
    A. Fred, A. Jain. Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6),
    2005. https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> import partita
    >>> partita.coassociation([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    check_missing(missing)
    core = as_ensemble(partitions).compress()
    matrix = agreement_counts(core, np.uint32).astype(np.float64)
    divide_by_coobserved(matrix, core, missing)
    return expand_pairs(matrix, core) if expand else matrix


def check_missing(missing: str) -> None:
    """Raise if `missing` is no treatment of missing labels in a matrix."""
    if missing not in ("pairwise", "disagree"):
        raise ValueError(f'missing must be "pairwise" or "disagree", got {missing!r}')


def divide_by_coobserved(matrix: NDArray[np.float64], core: Ensemble, missing: str) -> None:
    """Turn sums over partitions into means, in place; 0 if no partition labels both rows."""
    if missing == "disagree" or not core.n_missing:
        matrix /= core.n_partitions
        return
    n_both = coobserved_counts(core, np.uint32)
    np.divide(matrix, np.maximum(n_both, 1), out=matrix)


def expand_pairs(matrix: NDArray[np.float64], core: Ensemble) -> NDArray[np.float64]:
    """Return the matrix with a row per sample; 0 for samples without any label."""
    if core.inverse is None:
        return matrix
    n = core.n_samples
    require_memory(8 * n * n, f"The expanded {n} x {n} matrix")
    full = matrix[np.ix_(core.inverse, core.inverse)]
    unlabeled = core.inverse < 0
    full[unlabeled] = 0.0
    full[:, unlabeled] = 0.0
    return full
