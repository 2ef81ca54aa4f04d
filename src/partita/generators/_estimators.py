"""Use any scikit-learn clusterer to make one partition."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._seeding import clone_with_seeds
from partita.generators._base import MISSING, Labels

__all__ = ["check_clusterer", "check_labels", "clone_with_seed"]


def check_clusterer(estimator: Any, name: str) -> None:
    """Raise an error for a class, and for an object without `fit_predict`."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit_predict"):
        raise TypeError(
            f"{name} must be a clusterer with fit_predict, such as KMeans(3), got {estimator!r}."
        )


def clone_with_seed(estimator: Any, rng: np.random.Generator) -> Any:
    """Return a clone with a seed for every `random_state` that is None; others stay."""
    return clone_with_seeds(estimator, lambda: int(rng.integers(2**31 - 1)))


def check_labels(labels: Any, name: str) -> Labels:
    """Return integer labels of the estimator `name`; negative ones become missing (-1)."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must label samples with one integer each, got an array of type "
            f"{labels.dtype} and shape {labels.shape}."
        )
    return np.maximum(labels, MISSING).astype(np.int32)
