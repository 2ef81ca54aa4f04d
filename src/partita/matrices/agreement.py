"""Co-association: the share of partitions that put two samples together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble, SoftEnsemble, as_ensemble

__all__ = [
    "agreement_counts",
    "check_float",
    "check_missing",
    "coassociation",
    "coobserved_counts",
    "coobserved_weights",
    "divide_by_both",
    "divide_by_coobserved",
    "expand_pairs",
    "fill_pairs",
    "fill_weighted_agreement",
    "weighted_agreement",
]

_BLOCK = 256  # rows per block: a multiple of the tile of the kernels
_EXPANDED_ROWS = 16  # per block: what a thread copies stays in the cache
_OPERATIONS = 2  # elementary operations per pair and partition, if agreements have weights


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
    return _count(ensemble.codes, ensemble.missing_code, dtype)


def coobserved_counts(ensemble: Ensemble, dtype: Any = "uint16") -> NDArray[Any]:
    """Return how many partitions label both rows."""
    return _count(*_observed(ensemble.codes, ensemble.missing_code), dtype)


def _observed(codes: NDArray[Any], missing_code: int) -> tuple[NDArray[np.uint8], int]:
    """Return every partition as one cluster of the rows it labels, and the missing code."""
    missing = np.iinfo(np.uint8).max
    return np.where(codes == missing_code, np.uint8(missing), np.uint8(0)), missing


def _count(codes: NDArray[Any], missing_code: int, dtype: Any) -> NDArray[Any]:
    n, m = codes.shape
    if m > np.iinfo(dtype).max:
        raise ValueError(f"{m} partitions do not fit counts of type {np.dtype(dtype)}.")
    require_memory(n * n * np.dtype(dtype).itemsize, f"The {n} x {n} table of agreements")
    out = np.empty((n, n), dtype)
    _fill_agreement(codes, missing_code, np.arange(m + 1, dtype=dtype), out)
    return out


def _fill_agreement(
    codes: NDArray[Any], missing_code: int, table: NDArray[Any], out: NDArray[Any]
) -> None:
    """Fill a matrix with table[k] for rows that share a cluster in k partitions."""
    columns, code = np.ascontiguousarray(codes.T), codes.dtype.type(missing_code)
    kernel = _kernels.coassociation.count_rows.at(len(codes) * codes.size)
    run_blocks(lambda a, b: kernel(columns, code, table, a, b, out), len(codes), _BLOCK)


def weighted_agreement(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return B diag(value) Bᵀ: the sum of value[c] over the clusters c that two rows share."""
    return _weigh(ensemble.codes, ensemble.missing_code, ensemble.offsets, value)


def coobserved_weights(ensemble: Ensemble, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of value[i] over the partitions i that label both rows."""
    codes, missing_code = _observed(ensemble.codes, ensemble.missing_code)
    return _weigh(codes, missing_code, np.arange(ensemble.n_partitions + 1), value)


def _weigh(
    codes: NDArray[Any], missing_code: int, offsets: NDArray[np.int64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    n = len(codes)
    require_memory(8 * n * n, f"The {n} x {n} co-association matrix")
    out = np.empty((n, n))
    fill_weighted_agreement(codes, missing_code, offsets, value, 1.0, out)
    return out


def fill_weighted_agreement(
    codes: NDArray[Any],
    missing_code: int,
    offsets: NDArray[np.int64],
    value: NDArray[np.float64],
    divisor: float,
    out: NDArray[Any],
) -> None:
    """Fill a matrix with the sums of value[c] over shared clusters c, divided by `divisor`."""
    columns, code = np.ascontiguousarray(codes.T), codes.dtype.type(missing_code)
    kernel = _kernels.coassociation.weigh_rows.at(_OPERATIONS * len(codes) * codes.size)
    run_blocks(
        lambda a, b: kernel(columns, code, offsets, value, divisor, a, b, out), len(codes), _BLOCK
    )


def coassociation(
    partitions: Any,
    *,
    missing: str = "pairwise",
    expand: bool = True,
    dtype: Any = "float64",
) -> NDArray[Any]:
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
    dtype : {"float64", "float32"}, default="float64"
        Type of the entries. Numbers of 32 bits take half the memory and have 7 digits.

    Returns
    -------
    array of shape (n, n)
        Cost O(n'² m) byte comparisons for n' distinct rows, at most O(n² m); 8 n² bytes, or 8 (n² +
        n'²) if less than 70 % of the rows are distinct.

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
    check_float(dtype)
    core = as_ensemble(partitions).compress()
    m, is_pairwise = core.n_partitions, missing == "pairwise" and core.n_missing > 0
    table = np.arange(m + 1) / (1 if is_pairwise else m)

    def fill(codes: NDArray[Any], out: NDArray[Any]) -> None:
        _fill_agreement(codes, core.missing_code, table.astype(dtype), out)
        if is_pairwise:
            divide_by_both(codes, core.missing_code, out)

    return fill_pairs(core, fill, expand=expand, dtype=dtype)


def check_missing(missing: str) -> None:
    """Raise if `missing` is no treatment of missing labels in a matrix."""
    if missing not in ("pairwise", "disagree"):
        raise ValueError(f'missing must be "pairwise" or "disagree", got {missing!r}')


def check_float(dtype: Any) -> None:
    """Raise if `dtype` is no type of the entries of a matrix."""
    if dtype not in ("float64", "float32", np.float64, np.float32):
        raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}')


def divide_by_coobserved(matrix: NDArray[Any], core: Ensemble, missing: str) -> None:
    """Turn sums over partitions into means, in place; 0 if no partition labels both rows."""
    if missing == "disagree" or not core.n_missing:
        matrix /= core.n_partitions
    else:
        divide_by_both(core.codes, core.missing_code, matrix)


def divide_by_both(codes: NDArray[Any], missing_code: int, out: NDArray[Any]) -> None:
    """Divide a matrix in place by the number of partitions that label both rows, if any do."""
    observed, missing = _observed(codes, missing_code)
    columns, code = np.ascontiguousarray(observed.T), np.uint8(missing)
    kernel = _kernels.coassociation.divide_rows.at(len(codes) * codes.size)
    run_blocks(lambda a, b: kernel(columns, code, a, b, out), len(codes), _BLOCK)


def fill_pairs(
    core: Ensemble,
    fill: Callable[[NDArray[Any], NDArray[Any]], None],
    *,
    expand: bool,
    dtype: Any = "float64",
) -> NDArray[Any]:
    """Return a matrix that depends on the labels of two samples, a row per distinct row or sample.

    Parameters
    ----------
    core : Ensemble
        Distinct rows.
    fill : callable
        `fill(codes, out)` fills the matrix of the rows of `codes`, 0 for rows without any label.
    expand : bool
        Whether to return a row per sample. If most samples differ, the matrix is computed from the
        labels of all samples: threads write the result at once, without a second matrix.
    dtype : type of the entries, default="float64"
        Floating-point type.
    """
    codes, inverse = core.codes, core.inverse
    if expand and inverse is not None and 2 * core.n_rows**2 > core.n_samples**2:
        codes = codes[inverse]
        codes[inverse < 0] = core.missing_code
        inverse = None
    n, itemsize = len(codes), np.dtype(dtype).itemsize
    require_memory(itemsize * n * n, f"The {n} x {n} matrix")
    matrix = np.empty((n, n), dtype)
    fill(codes, matrix)
    return matrix if not expand or inverse is None else expand_pairs(matrix, core)


def expand_pairs(matrix: NDArray[Any], core: Ensemble | SoftEnsemble) -> NDArray[Any]:
    """Return the matrix with a row per sample; 0 for samples without any label."""
    if core.inverse is None:
        return matrix
    n, inverse = core.n_samples, core.inverse
    both = matrix.nbytes + matrix.itemsize * n * n
    require_memory(both, f"The expanded {n} x {n} matrix, with the one of the distinct rows,")
    full = np.empty((n, n), matrix.dtype)
    unlabeled = np.flatnonzero(inverse < 0)

    def block(start: int, stop: int) -> None:
        rows = inverse[start:stop]
        # with "wrap" NumPy writes to `out` directly; -1 is replaced below
        np.take(matrix[rows], inverse, axis=1, out=full[start:stop], mode="wrap")
        full[start:stop][rows < 0] = 0.0
        full[start:stop, unlabeled] = 0.0

    run_blocks(block, n, _EXPANDED_ROWS)
    return full
