"""Prepare features for clustering: single precision, centered or of unit length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._warn import warn_user

__all__ = [
    "Preparation",
    "PreparedOnDemand",
    "check_range",
    "count_distinct_rows",
    "distinct_rows",
    "has_direction",
    "row_blocks",
    "squared_norms",
    "unit_rows",
    "warn_without_direction",
]

_BLOCK = 4096
_LARGEST_FEATURE = 1e150  # sums of many squares of such numbers are doubles
_LARGEST_SINGLE = 1e15  # sums of many squares of such numbers are 32-bit numbers


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices of 0..n_rows, as `gen_batches` of scikit-learn without its checks.

    On few rows the checks take about as long as the work, and a scan makes thousands of calls.
    """
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


@dataclass(frozen=True)
class Preparation:
    """An affine map of all features, or the division of each row by its length.

    Dense features are centered in double precision and divided by a power of two before they are
    rounded to single precision, so that neither a large offset nor a large unit costs digits.
    k-means gives the same result. Sparse features stay sparse and are not centered.

    Attributes
    ----------
    unit : bool
        Whether each row is divided by its length instead.
    shift : array of shape (n_features,) or None
        Subtracted from every row.
    scale : float
        Factor of every entry, a power of two.
    """

    unit: bool
    shift: NDArray[np.float64] | None
    scale: float

    @classmethod
    def of(cls, X: Any, *, unit: bool) -> Preparation:
        """Choose the map for the training features X."""
        if unit:
            return cls(True, None, 1.0)
        shift = None if sp.issparse(X) else X.mean(axis=0, dtype=np.float64)
        values = X.data if sp.issparse(X) else X
        largest = max(
            (_largest(values[block], shift) for block in row_blocks(len(values), _BLOCK)),
            default=0.0,
        )
        exponent = np.ceil(np.log2(largest)) if largest > 0 else 0.0
        return cls(False, shift, float(2.0 ** -np.clip(exponent, -1000, 1000)))

    def apply(self, X: Any) -> Any:
        """Return a float32 copy of X, in C order or as canonical CSR."""
        if self.unit:
            return _as_single(unit_rows(X))
        if sp.issparse(X):
            return _as_single(X * self.scale)
        shift = 0.0 if self.shift is None else self.shift
        out = np.empty(X.shape, np.float32)
        for block in row_blocks(len(X), _BLOCK):
            out[block] = (X[block] - shift) * self.scale
        return out


@dataclass(frozen=True)
class PreparedOnDemand:
    """Dense features, prepared only for the rows that a partition uses.

    They may be a memory-mapped file that is larger than memory.

    Attributes
    ----------
    rows : array of shape (n_samples, n_features)
        Features as the user passed them.
    preparation : Preparation
        Map to apply to the rows that are used.
    """

    rows: NDArray[Any]
    preparation: Preparation

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and features."""
        return self.rows.shape[0], self.rows.shape[1]

    def __getitem__(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        prepared: NDArray[np.float32] = self.preparation.apply(self.rows[indices])
        return prepared

    def any(self, axis: int) -> NDArray[np.bool_]:
        """Return which rows are not all zero, as the method of an array does for axis 1."""
        return np.concatenate(
            [self.rows[block].any(axis=axis) for block in row_blocks(len(self.rows), _BLOCK)]
        )


def _largest(values: NDArray[Any], shift: NDArray[np.float64] | None) -> float:
    return float(np.abs(values if shift is None else values - shift).max())


def _as_single(X: Any) -> Any:
    if not sp.issparse(X):
        return np.ascontiguousarray(X, np.float32)
    # scikit-learn's k-means takes 32-bit indices only.
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X = sp.csr_matrix((X.data.astype(np.float32), indices, indptr), shape=X.shape)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def check_range(X: Any) -> Any:
    """Return X, in double precision if it needs that; raise if squared distances would overflow."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest == np.inf:
        raise ValueError(
            "Features must be finite, got infinity. Replace it, or leave its samples out."
        )
    if largest > _LARGEST_FEATURE:
        raise ValueError(
            f"Features must be between {-_LARGEST_FEATURE:g} and {_LARGEST_FEATURE:g}, got an "
            f"absolute value of {largest:g}: squared distances would overflow. Scale the "
            "features, for example by sklearn.preprocessing.StandardScaler."
        )
    return X.astype(np.float64) if largest > _LARGEST_SINGLE and X.dtype != np.float64 else X


def unit_rows(X: Any) -> Any:
    """Return a copy with rows of unit length; a row of zeros stays zero."""
    X = X.copy()
    # Dividing by the largest entry first prevents underflow and overflow of the squares.
    for compute_divisor in (_largest_of_rows, _lengths_of_rows):
        divisor = compute_divisor(X)
        divisor[divisor == 0] = 1
        if sp.issparse(X):
            X.data /= np.repeat(divisor, np.diff(X.indptr))
        else:
            X /= divisor[:, None]
    return X


def _largest_of_rows(X: Any) -> NDArray[Any]:
    if sp.issparse(X):
        return np.asarray(abs(X).max(axis=1).toarray()).ravel()
    return np.asarray(np.abs(X).max(axis=1))


def _lengths_of_rows(X: Any) -> NDArray[Any]:
    return np.sqrt(squared_norms(X))


def squared_norms(X: Any) -> NDArray[Any]:
    """Return the squared length of every row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), X.dtype).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def has_direction(X: Any) -> NDArray[np.bool_]:
    """Return which rows are not all zero."""
    if sp.issparse(X):
        return np.asarray(np.diff(X.indptr) > 0)
    return np.asarray(X.any(axis=1))


def warn_without_direction(X: Any) -> None:
    """Warn if some rows are all zero: no partition by angles labels them."""
    n_zero = int(np.count_nonzero(~has_direction(X)))
    if n_zero:
        warn_user(
            f"{n_zero} of {X.shape[0]} rows are all zero and have no direction: with "
            'metric="cosine" every partition leaves them unlabeled (-1). Drop them, or use '
            'metric="euclidean".'
        )


def count_distinct_rows(X: Any, stop: int) -> int:
    """Return the number of distinct rows of X, or `stop` if there are at least that many.

    Usually the first `stop` rows are distinct, so that no others are read.
    """
    seen: set[bytes] = set()
    for block in row_blocks(X.shape[0], _BLOCK):
        for key in _row_keys(X[block]):
            seen.add(key)
            if len(seen) >= stop:
                return stop
    return len(seen)


def distinct_rows(X: Any, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of those rows of X that differ from the rows at all places before."""
    first: dict[bytes, int] = {}
    for key, place in zip(_row_keys(X[places]), places.tolist(), strict=True):
        first.setdefault(key, place)
    return np.fromiter(first.values(), np.int64)


def _row_keys(rows: Any) -> Iterator[bytes]:
    """Yield bytes for every row that are equal for equal rows."""
    if sp.issparse(rows):
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return (rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in ends)
    return (row.tobytes() for row in rows + np.float32(0))  # + 0 turns -0.0 into 0.0
