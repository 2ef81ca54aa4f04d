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
    "coassociation",
    "coobserved_counts",
    "coobserved_weights",
    "expand_pairs",
    "weighted_agreement",
]

_BLOCK = 256  # rows per unit of work: a multiple of the kernels' tile


def agreement_counts(ensemble: Ensemble, dtype: Any = np.uint16) -> NDArray[Any]:
    """In how many partitions two rows share a cluster, shape (n_rows, n_rows), integers."""
    columns = np.ascontiguousarray(ensemble.codes.T)
    return _count(columns, ensemble.missing_code, dtype)


def coobserved_counts(ensemble: Ensemble, dtype: Any = np.uint16) -> NDArray[Any]:
    """How many partitions label both rows: agreement of one-cluster partitions."""
    return _count(*_observed_columns(ensemble), dtype)


def _observed_columns(ensemble: Ensemble) -> tuple[NDArray[np.uint8], int]:
    """Every partition as one cluster of the rows it labels, and the code of the others."""
    missing = np.iinfo(np.uint8).max
    columns = np.where(ensemble.observed.T, np.uint8(0), np.uint8(missing))
    return np.ascontiguousarray(columns), missing


def _count(columns: NDArray[Any], missing: int, dtype: Any) -> NDArray[Any]:
    m, n = columns.shape
    if m > np.iinfo(dtype).max:
        raise ValueError(f"{m} partitions do not fit counts of type {np.dtype(dtype)}.")
    require_memory(n * n * np.dtype(dtype).itemsize, f"The {n} x {n} table of agreements")
    out = np.empty((n, n), dtype)
    kernel = _kernels.coassociation.count_rows
    run_blocks(lambda start, stop: kernel(columns, missing, start, stop, out), n, _BLOCK)
    return out


def weighted_agreement(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_i value[c] over the partitions i in which two rows share a cluster c: B diag(value) Bᵀ."""
    columns = np.ascontiguousarray(ensemble.codes.T)
    return _weigh(columns, ensemble.missing_code, ensemble.offsets, value)


def coobserved_weights(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_i value[i] over the partitions i that label both rows: agreement of one-cluster ones."""
    return _weigh(*_observed_columns(ensemble), np.arange(ensemble.n_partitions + 1), value)


def _weigh(
    columns: NDArray[Any], missing: int, offsets: NDArray[np.int64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    n = columns.shape[1]
    require_memory(8 * n * n, f"The {n} x {n} co-association matrix")
    out = np.empty((n, n))
    kernel = _kernels.coassociation.weigh_rows
    run_blocks(
        lambda start, stop: kernel(columns, missing, offsets, value, start, stop, out), n, _BLOCK
    )
    return out


def coassociation(
    partitions: Any, *, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Co-association matrix: the share of partitions in which two samples share a cluster.

    CA_pq = (partitions that join p and q) / (partitions that label both).

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
    missing : {"pairwise", "disagree"}
        Divide by the partitions that label both samples (0 where there are none), or by all
        partitions, so that a missing label counts as disagreement.
    expand : bool
        A row per sample, or per row of `Ensemble.compress()`.

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
    if missing not in ("pairwise", "disagree"):
        raise ValueError(f'missing must be "pairwise" or "disagree", got {missing!r}')
    core = as_ensemble(partitions).compress()
    matrix = agreement_counts(core, np.uint32).astype(np.float64)
    divide_by_coobserved(matrix, core, missing)
    return expand_pairs(matrix, core) if expand else matrix


def divide_by_coobserved(matrix: NDArray[np.float64], core: Ensemble, missing: str) -> None:
    """Turn sums over partitions into means, in place; 0 where no partition labels both."""
    if missing == "disagree" or not core.n_missing:
        matrix /= core.n_partitions
        return
    both = coobserved_counts(core, np.uint32)
    np.divide(matrix, np.maximum(both, 1), out=matrix)


def expand_pairs(matrix: NDArray[np.float64], core: Ensemble) -> NDArray[np.float64]:
    """Values of pairs of rows to values of pairs of samples; 0 for samples without any label."""
    if core.inverse is None:
        return matrix
    n = core.n_samples
    require_memory(8 * n * n, f"The expanded {n} x {n} matrix")
    full = matrix[np.ix_(core.inverse, core.inverse)]
    unlabeled = core.inverse < 0
    full[unlabeled] = 0.0
    full[:, unlabeled] = 0.0
    return full
