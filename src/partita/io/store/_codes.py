"""Codes of labels in the type of the store, and none that would point outside a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError

__all__ = ["as_codes", "n_codes"]


def as_codes(
    labels: NDArray[Any], n_clusters: Any, dtype: np.dtype[Any], *, first_row: int = 0
) -> NDArray[Any]:
    """Contiguous codes of type `dtype`, its largest value where a label is missing.

    `n_clusters` is the number of clusters per column, or one number. Negative numbers of a signed
    type and the largest value of an unsigned one are missing.
    """
    is_missing = _missing(labels)
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
    """One more than the largest code, 0 where all are missing."""
    known = labels[~_missing(labels)]
    return int(known.max()) + 1 if known.size else 0


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind not in "iu":
        raise InvalidEnsembleError(
            f"A store holds codes 0..K-1 and missing ones, got labels of type {labels.dtype}. "
            "Code them with `Ensemble.from_partitions`, or use `partita.convert`."
        )
    signed = labels.dtype.kind == "i"
    return np.asarray(labels < 0 if signed else labels == np.iinfo(labels.dtype).max)
