"""Check codes before they are written to a store."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError

__all__ = ["as_codes", "n_codes"]


def as_codes(
    labels: NDArray[Any], n_clusters: Any, dtype: np.dtype[Any], *, first_row: int = 0
) -> NDArray[Any]:
    """Return contiguous codes of type `dtype`; its largest value is the missing code.

    `n_clusters` is the number of clusters per column, or one number. Negative numbers of a signed
    type and the largest value of an unsigned type are missing labels. `first_row` is the index of
    the first row, for errors.
    """
    is_missing = _is_missing(labels)
    limits = n_clusters.astype(dtype) if labels.dtype == dtype else n_clusters
    outside = (labels >= limits) & ~is_missing
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        limit = np.broadcast_to(n_clusters, labels.shape)[place]
        where = f"row {first_row + place[0]}"
        if len(place) == 2:
            where += f", partition {place[1]}"
        raise InvalidEnsembleError(
            f"The label {labels[place]} in {where} is not one of the {limit} clusters "
            f"(0..{limit - 1}) that were declared."
        )
    if labels.dtype == dtype:
        return np.ascontiguousarray(labels)
    codes = labels.astype(dtype, order="C")
    codes[is_missing] = np.iinfo(dtype).max
    return codes


def n_codes(labels: NDArray[Any]) -> int:
    """Return one more than the largest code, or 0 if all labels are missing."""
    codes = labels[~_is_missing(labels)]
    return int(codes.max()) + 1 if codes.size else 0


def _is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind not in "iu":
        raise InvalidEnsembleError(
            f"A store holds codes 0..K-1 and missing ones, got labels of type {labels.dtype}. "
            "Code them with `Ensemble.from_partitions`, or use `partita.convert`."
        )
    is_signed = labels.dtype.kind == "i"
    return np.asarray(labels < 0 if is_signed else labels == np.iinfo(labels.dtype).max)
