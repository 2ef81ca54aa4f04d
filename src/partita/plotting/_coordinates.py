"""Two coordinates per sample for a picture: of features, or of the partitions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.diagnostics.feature_columns import read_features
from partita.ensemble import Ensemble
from partita.generators import make_scaler
from partita.matrices import incidence
from partita.solvers.spectral import column_gram, scaled_factor, top_eigenvectors

__all__ = ["coordinates_of_features", "coordinates_of_partitions"]

_MOST_COMPONENTS = 10  # of the spectral embedding


def coordinates_of_features(X: Any, samples: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the first two principal components of the numbers among the features of samples.

    Features in different units are standardized first (`make_scaler`). A missing number is
    replaced by the mean of its column. None if the features have no numbers.
    """
    numbers = read_features(X).numbers[samples]
    if numbers.shape[1] == 0:
        return None
    if sp.issparse(numbers):
        mean = np.asarray(numbers.mean(axis=0)).ravel()
        axes = top_eigenvectors(_centered_gram(numbers, mean), min(2, len(mean)))[1]
        return _two_columns(numbers @ axes - mean @ axes)
    present = np.isfinite(numbers)
    mean = np.where(present, numbers, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    filled = np.where(present, numbers, mean)
    scaler = make_scaler(filled)
    return _principal(filled if scaler is None else scaler.transform(filled))


def coordinates_of_partitions(
    ensemble: Ensemble, samples: NDArray[np.int64], n_clusters: int
) -> NDArray[np.float64]:
    """Return two principal components of the spectral embedding of samples and base clusters.

    The graph joins a sample with the base clusters that contain it. Cost O(s m) for s samples
    beside the eigenvectors of the base clusters.
    """
    graph = incidence(ensemble)[samples]
    graph = graph[:, np.flatnonzero(np.asarray(graph.sum(axis=0)).ravel())]
    d_x = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-12)
    right = 1.0 / np.sqrt(np.asarray(graph.sum(axis=0)).ravel())
    scaled = scaled_factor(graph, 1.0 / np.sqrt(d_x), right)
    n_components = min(n_clusters + 1, _MOST_COMPONENTS, graph.shape[1])
    vectors = top_eigenvectors(column_gram(scaled), n_components, n=graph.shape[1])[1]
    return _principal(np.asarray(graph @ (right[:, None] * vectors)) / d_x[:, None])


def _principal(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first two principal components; the sign makes the largest entry positive."""
    centered = table - table.mean(axis=0)
    if centered.shape[1] <= len(centered):
        return _two_columns(centered @ top_eigenvectors(centered.T @ centered, 2)[1])
    values, vectors = top_eigenvectors(centered @ centered.T, 2)
    return _two_columns(vectors * np.sqrt(np.maximum(values, 0.0)))


def _two_columns(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = np.argmax(np.abs(scores), axis=0)
    signs = np.sign(scores[largest, np.arange(scores.shape[1])])
    scores = scores * np.where(signs == 0, 1.0, signs)
    return np.hstack([scores, np.zeros((len(scores), 2 - scores.shape[1]))])


def _centered_gram(numbers: Any, mean: NDArray[np.float64]) -> Any:
    from scipy.sparse.linalg import LinearOperator

    d = numbers.shape[1]

    def multiply(v: NDArray[np.float64]) -> NDArray[np.float64]:
        image = numbers @ v - mean @ v
        return np.asarray(numbers.T @ image - np.multiply.outer(mean, image.sum(axis=0)))

    return LinearOperator((d, d), matvec=multiply, matmat=multiply, dtype=np.float64)
