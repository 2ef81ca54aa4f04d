"""Two coordinates per sample for a picture: of features, or of the partitions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

from partita.diagnostics.feature_columns import read_features
from partita.ensemble import Ensemble
from partita.generators import make_scaler
from partita.matrices import incidence
from partita.solvers.spectral import column_gram, scaled_factor, top_eigenvectors

__all__ = ["coordinates_of_features", "coordinates_of_partitions"]

_MOST_COMPONENTS = 10  # of the spectral embedding
_GAP = 1.15  # least distance of parts, in units of their radii
_SPREAD = 0.3  # radius of the disk of all samples of a part, in units of that of the part
_SAME_PLACE = 1e-9


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
) -> tuple[NDArray[np.float64], int]:
    """Return two coordinates of each sample by the partitions alone, and the number of parts.

    The graph joins a sample with the base clusters that contain it. Parts of the graph that share
    no base cluster have no distance from each other: they are disks on a circle, with areas by
    their numbers of samples. Inside a part, samples have the first two principal components of the
    spectral embedding. Samples in the same place are spread over a small disk, with an area by
    their number. Cost O(s m) for s samples beside the eigenvectors of the base clusters.
    """
    graph = incidence(ensemble)[samples]
    parts = _parts(graph)
    places = np.empty((len(samples), 2))
    radii = np.sqrt(np.bincount(parts) / len(parts))
    for part, (center, radius) in enumerate(zip(_ring(radii), radii, strict=True)):
        rows = np.flatnonzero(parts == part)
        places[rows] = center + radius * _in_unit_disk(_spectral(graph[rows], n_clusters))
    return places, len(radii)


def _parts(graph: Any) -> NDArray[np.int64]:
    """Return the component of each sample, the largest first; one for all without a label."""
    has_label = np.diff(graph.indptr) > 0
    parts = csgraph.connected_components(sp.block_array([[None, graph], [graph.T, None]]), False)[1]
    parts = np.where(has_label, parts[: graph.shape[0]], -1)
    _, inverse, counts = np.unique(parts, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[inverse]


def _spectral(graph: Any, n_clusters: int) -> NDArray[np.float64]:
    """Return two principal components of the spectral embedding of one part of the graph."""
    graph = graph[:, np.flatnonzero(np.asarray(graph.sum(axis=0)).ravel())]
    if graph.shape[1] == 0:
        return np.zeros((graph.shape[0], 2))
    d_x = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-12)
    right = 1.0 / np.sqrt(np.asarray(graph.sum(axis=0)).ravel())
    scaled = scaled_factor(graph, 1.0 / np.sqrt(d_x), right)
    n_components = min(n_clusters + 1, _MOST_COMPONENTS, graph.shape[1])
    vectors = top_eigenvectors(column_gram(scaled), n_components, n=graph.shape[1])[1]
    return _principal(np.asarray(graph @ (right[:, None] * vectors)) / d_x[:, None])


def _ring(radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return centers of disks on a circle such that no two touch; the largest disks come first.

    Each disk has a sector by its radius. The chord between two centers is then the shortest, in
    units of the two radii, for the two largest disks.
    """
    if len(radii) == 1:
        return np.zeros((1, 2))
    angles = 2 * np.pi * radii / radii.sum()
    middle = np.cumsum(angles) - angles / 2
    distance = _GAP * radii[:2].sum() / (2 * np.sin(angles[:2].sum() / 4))
    return distance * np.column_stack([np.cos(middle), np.sin(middle)])


def _in_unit_disk(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale places to the unit disk and spread those that are the same."""
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    largest = np.sqrt((places**2).sum(axis=1).max())
    if largest <= _SAME_PLACE:
        return _sunflower(np.arange(len(places)), len(places))
    places = places / largest
    rounded = np.round(places / _SAME_PLACE)
    _, inverse, counts = np.unique(rounded, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    order = np.argsort(inverse, kind="stable")
    number = np.empty(len(places), np.int64)  # of a sample among those in its place
    number[order] = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    shared = counts[inverse] > 1
    spread = _SPREAD * np.sqrt(counts[inverse] / len(places))
    disk = spread[:, None] * _sunflower(number, counts[inverse])
    return (places + np.where(shared[:, None], disk, 0.0)) / (1 + _SPREAD)


def _sunflower(number: NDArray[np.int64], count: Any) -> NDArray[np.float64]:
    """Return places in the unit disk that cover it evenly, for numbers below the count."""
    radius, angle = np.sqrt((number + 0.5) / count), number * np.pi * (3 - np.sqrt(5))
    return np.asarray([radius * np.cos(angle), radius * np.sin(angle)]).T


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
