"""Features as the partitions see them: single precision, centerd or of unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

__all__ = [
    "Preparation",
    "PreparedOnDemand",
    "count_distinct_rows",
    "has_direction",
    "squared_norms",
    "unit_rows",
]

_BLOCK = 4096


@dataclass(frozen=True)
class Preparation:
    """One affine map for all features, or unit rows: k-means does not notice, float32 does.

    Dense features are centerd in double precision and divided by a power of two before they become
    single, so that neither a large offset nor a large unit costs digits. With `unit` each row is
    divided by its length instead. Sparse rows stay sparse, hence not centerd.
    """

    unit: bool
    shift: NDArray[np.float64] | None
    scale: float

    @classmethod
    def of(cls, X: Any, *, unit: bool) -> Preparation:
        """The map that suits the training features X."""
        if unit:
            return cls(True, None, 1.0)
        shift = None if sp.issparse(X) else X.mean(axis=0, dtype=np.float64)
        values = X.data if sp.issparse(X) else X
        largest = max(
            (_largest(values[block], shift) for block in gen_batches(len(values), _BLOCK)),
            default=0.0,
        )
        exponent = np.ceil(np.log2(largest)) if largest > 0 else 0.0
        return cls(False, shift, float(2.0 ** -np.clip(exponent, -1000, 1000)))

    def apply(self, X: Any) -> Any:
        """A float32 copy of X, C-ordered or canonical CSR; X itself stays as it is."""
        if self.unit:
            return _as_single(unit_rows(X))
        if sp.issparse(X):
            return _as_single(X * self.scale)
        shift = 0.0 if self.shift is None else self.shift
        out = np.empty(X.shape, np.float32)
        for block in gen_batches(len(X), _BLOCK):
            out[block] = (X[block] - shift) * self.scale
        return out


@dataclass(frozen=True)
class PreparedOnDemand:
    """Dense features of which each partition prepares the rows it sees, and nobody the others.

    They may be a memory-mapped file that is larger than memory.
    """

    rows: NDArray[Any]
    preparation: Preparation

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], self.rows.shape[1]

    def __getitem__(self, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        prepared: NDArray[np.float32] = self.preparation.apply(self.rows[chosen])
        return prepared

    def any(self, axis: int) -> NDArray[np.bool_]:
        return np.concatenate(
            [self.rows[block].any(axis=axis) for block in gen_batches(len(self.rows), _BLOCK)]
        )


def _largest(values: NDArray[Any], shift: NDArray[np.float64] | None) -> float:
    return float(np.abs(values if shift is None else values - shift).max())


def _as_single(X: Any) -> Any:
    if not sp.issparse(X):
        return np.ascontiguousarray(X, np.float32)
    # k-means takes 32-bit indices only
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X = sp.csr_matrix((X.data.astype(np.float32), indices, indptr), shape=X.shape)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def unit_rows(X: Any) -> Any:
    """A copy whose rows are divided by their length, however small; a row of zeros stays one."""
    X = X.copy()
    for length in (_largest_of_rows, _lengths_of_rows):  # the first against under- and overflow
        divisor = length(X)
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
    """Squared length of every row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), X.dtype).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def has_direction(X: Any) -> NDArray[np.bool_]:
    """Which rows are not all zero."""
    if sp.issparse(X):
        return np.asarray(np.diff(X.indptr) > 0)
    return np.asarray(X.any(axis=1))


def count_distinct_rows(X: Any, stop: int) -> int:
    """How many distinct rows X has, counted no further than `stop`.

    On ordinary data the first `stop` rows answer, so this costs next to nothing.
    """
    seen: set[bytes] = set()
    for block in gen_batches(X.shape[0], _BLOCK):
        rows = X[block]
        if sp.issparse(rows):
            ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
            keys = (rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in ends)
        else:
            keys = (row.tobytes() for row in rows + np.float32(0))  # -0.0 becomes 0.0
        for key in keys:
            seen.add(key)
            if len(seen) >= stop:
                return stop
    return len(seen)
