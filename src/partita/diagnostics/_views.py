"""Scores of the views that the partitions of an ensemble come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["score_views"]

_LEAST_SHARE = 0.5  # of the largest agreement of a view, below which a view disagrees


def score_views(
    views: Sequence[str],
    observed: NDArray[np.bool_],
    agreement: NDArray[np.float64],
    adjusted_rand: NDArray[np.float64],
    pairwise: NDArray[np.float64],
) -> list[dict[str, Any]]:
    """Return one dictionary per view, in order of first appearance.

    `views` names the view of every partition, `observed` says which labels are there, the other
    arrays are those of `Diagnosis`.
    """
    names = np.asarray(views, object)
    records: list[dict[str, Any]] = []
    for view in dict.fromkeys(views):
        own = names == view
        between = pairwise[np.ix_(own, ~own)]
        within = pairwise[np.ix_(own, own)][np.triu_indices(int(own.sum()), 1)]
        records.append(
            {
                "view": view,
                "n_partitions": int(own.sum()),
                "labeled": float(observed[:, own].any(axis=1).mean()),
                "agreement": float(agreement[own].mean()),
                "adjusted_rand": float(adjusted_rand[own].mean()),
                "within": float(within.mean()) if len(within) else float("nan"),
                "between": float(between.mean()) if between.size else float("nan"),
            }
        )
    largest = max(record["adjusted_rand"] for record in records)
    for record in records:
        record["disagrees"] = bool(record["adjusted_rand"] < _LEAST_SHARE * largest)
    return records
