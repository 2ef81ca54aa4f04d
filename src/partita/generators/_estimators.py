"""Any scikit-learn clusterer as a maker of one partition."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._seeding import clone_with_seeds
from partita.generators._base import MISSING, Labels

__all__ = ["as_labels", "check_clusterer", "seeded"]


def check_clusterer(estimator: Any, name: str) -> None:
    """Refuse what has no `fit_predict`, or is a class instead of an object."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit_predict"):
        raise TypeError(
            f"{name} must be a clusterer with fit_predict, such as KMeans(3), got {estimator!r}."
        )


def seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """A clone with a seed wherever its `random_state` is None; one that is set stays."""
    return clone_with_seeds(estimator, lambda: int(rng.integers(2**31 - 1)))


def as_labels(labels: Any, name: str) -> Labels:
    """Integer labels with every negative one, whatever it means to its estimator, as missing."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must label samples with one integer each, got an array of type "
            f"{labels.dtype} and shape {labels.shape}."
        )
    return np.maximum(labels, MISSING).astype(np.int32)
