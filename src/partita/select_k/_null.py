"""Null ensembles: the same kind of partitions without common structure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._linalg import svd
from partita.ensemble import Ensemble

__all__ = ["permuted", "uniform_reference"]


def permuted(ensemble: Ensemble, rng: np.random.Generator) -> Ensemble:
    """Shuffle the labels of every partition separately, among the samples that it labels.

    Cluster sizes and missing labels stay, the agreement of the partitions is that of chance. All
    samples have weight 1.
    """
    codes = ensemble.codes.copy()
    for i in range(ensemble.n_partitions):
        labeled = ensemble.observed[:, i]
        codes[labeled, i] = rng.permutation(codes[labeled, i])
    return Ensemble.from_codes(codes, ensemble.layout, unlabeled="keep")


def uniform_reference(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw as many points uniformly from the box of X's principal axes (Tibshirani et al.)."""
    center = X.mean(axis=0)
    _, _, axes = svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T
    return rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape) @ axes + center
