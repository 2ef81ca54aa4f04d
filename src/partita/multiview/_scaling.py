"""Scale the features of a view, by one factor or row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._sklearn_compat import StrOptions

__all__ = ["SCALE", "scale_features"]

SCALE: list[Any] = [StrOptions({"none", "sum", "frobenius", "rows"})]


def scale_features(X: Any, scale: str) -> Any:
    """Return the features in double precision, scaled; what is zero stays zero.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
        Features.
    scale : {"none", "sum", "frobenius", "rows"}
        "none": as they are. "sum": divided by the sum of their absolute values. "frobenius":
        divided by the root of the sum of their squares. "rows": every row divided by its length.
    """
    X = X.astype(np.float64)
    entries = X.data if sp.issparse(X) else X
    if scale == "none":
        return X
    if scale == "rows":
        return _divide_rows(X, _lengths(X))
    total = float(np.abs(entries).sum()) if scale == "sum" else float(np.linalg.norm(entries))
    return X / total if total > 0 else X


def _lengths(X: Any) -> NDArray[np.float64]:
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return np.asarray(np.linalg.norm(X, axis=1))


def _divide_rows(X: Any, lengths: NDArray[np.float64]) -> Any:
    divisor = np.where(lengths > 0, lengths, 1.0)
    if not sp.issparse(X):
        return X / divisor[:, None]
    X.data /= np.repeat(divisor, np.diff(X.indptr))
    return X
