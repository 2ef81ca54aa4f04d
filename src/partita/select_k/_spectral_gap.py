"""The gap in the spectrum of a graph of neighbors, and the gaps that shapes without clusters have.

The smallest eigenvalues of the Laplacian of a graph say how well it can be cut. K separate clusters
have K eigenvalues near 0, and the next one is that of the best cut within a cluster: the ratio of
both is large. A shape without clusters is cut within wherever it is cut. The ratio of its
eigenvalues is that of a vibrating body of this shape, however thin it is:

- a line has the eigenvalues 0, 1, 4, 9, ..., and thus a ratio of 4 after the second;
- a sphere in K - 1 dimensions (K = 3: a circle) has K - 1 equal eigenvalues and a ratio of
  2 (K - 1) / (K - 2) after them.

These are the largest ratios of bodies without clusters that we know. A box, a ball or a normal
distribution have smaller ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from partita.select_k._neighbors import distinct_points, evenly_chosen, nearest
from partita.solvers.laplacian_eigenvectors import smallest_eigenvectors

__all__ = ["eigenvalue_ratios", "is_gap", "is_nearly_gap", "spectral_gaps"]

_N_NEIGHBORS = 10  # fewer leave a random line in pieces, more join clusters that are close
_MOST_SAMPLES = 2_000  # of the graph
_LEAST_WEIGHT = 1e-12  # ties with less are left out
_LEAST_GAP = 0.1  # noise has smaller ones
_NEARLY_GAP = -0.3  # most round clusters that touch have larger ones, pieces of a shape not
_FAINT = 0.03  # times 1 / n: the eigenvalue of two halves that one weak tie joins

Points = Any  # array, or canonical CSR matrix


def spectral_gaps(X: Points, ks: Sequence[int]) -> NDArray[np.float64]:
    """Return how much larger the gap after the K-th eigenvalue is than without clusters.

    With the eigenvalues 0 = e_1 <= e_2 <= ... of the normalized Laplacian, it is

        log((e_(K+1) + f) / (e_K + f)) - log(r_K),

    where r_K is the largest ratio of shapes without clusters, 4 for K = 2 and 2 (K - 1) / (K - 2)
    for more. The constant f = 0.03 / n keeps a line apart that has a gap by chance, over which no
    tie leads.

    Parameters
    ----------
    X : array or canonical CSR matrix of shape (n_samples, n_features)
        Features. Equal samples count once. Of more than 2,000, some are used.
    ks : sequence of int
        Numbers of clusters.

    Returns
    -------
    array of shape (n_k,)
        More than 0 if no shape without clusters has such a gap. Cost: a sparse eigenproblem.
    """
    numbers = np.asarray(ks)
    largest = np.where(numbers == 2, 4.0, 2.0 * (numbers - 1) / np.maximum(numbers - 2, 1))
    return np.asarray(eigenvalue_ratios(X, ks) - np.log(largest))


def eigenvalue_ratios(X: Points, ks: Sequence[int]) -> NDArray[np.float64]:
    """Return log((e_(K+1) + f) / (e_K + f)) for every K, as in `spectral_gaps`."""
    points, first = distinct_points(X)
    chosen = evenly_chosen(len(first), _MOST_SAMPLES)
    values = _smallest_eigenvalues(_neighbor_graph(points[chosen]), max(ks) + 1)
    values = values + _FAINT / len(chosen)
    numbers = np.asarray(ks)
    return np.asarray(np.log(values[numbers] / values[numbers - 1]))


def is_gap(gaps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which gaps are larger than those of random points without clusters."""
    return gaps > _LEAST_GAP


def is_nearly_gap(gaps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which gaps are hardly smaller than the largest ones without clusters."""
    return gaps > _NEARLY_GAP


def _neighbor_graph(points: Points) -> sp.csr_matrix:
    """Return the weights of the ties of every point to its ten nearest neighbors.

    The weight is exp(-d² / (2 h_i h_j)), where h_i is half the distance of point i to the tenth
    neighbor. A tie in both directions counts twice.
    """
    n = points.shape[0]
    n_neighbors = min(_N_NEIGHBORS + 1, n)
    distances, neighbors = nearest(points, np.arange(n), n_neighbors)
    widths = np.maximum(distances[:, -1], np.finfo(np.float64).tiny) / 2
    with np.errstate(over="ignore"):  # an infinite ratio has the weight 0
        ratios = (distances / widths[:, None]) * (distances / widths[neighbors])
    weights = np.exp(-ratios / 2)
    weights[(weights < _LEAST_WEIGHT) | (neighbors == np.arange(n)[:, None])] = 0.0
    starts = np.arange(0, n * n_neighbors + 1, n_neighbors)
    ties = sp.csr_matrix((weights.ravel(), neighbors.ravel(), starts), shape=(n, n))
    ties.eliminate_zeros()
    return sp.csr_matrix(ties + ties.T)


def _smallest_eigenvalues(graph: sp.csr_matrix, n_values: int) -> NDArray[np.float64]:
    """Return the smallest eigenvalues of the normalized Laplacian, those of its components.

    A point without ties has none; 1 stands for eigenvalues that do not exist.
    """
    n_components, component = connected_components(graph, directed=False)
    parts = [np.flatnonzero(component == c) for c in range(n_components)]
    spectra = [
        _eigenvalues_of_component(graph[rows][:, rows], min(n_values, len(rows)))
        for rows in parts
        if len(rows) > 1
    ]
    values = np.sort(np.concatenate([*spectra, np.ones(n_values)]))[:n_values]
    return np.asarray(np.maximum(values, 0.0))


def _eigenvalues_of_component(graph: sp.csr_matrix, n_values: int) -> NDArray[np.float64]:
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scaled = sp.diags(1 / degrees) @ graph @ sp.diags(1 / degrees)
    upper = sp.csr_matrix(sp.triu(scaled, 1))
    return smallest_eigenvectors(upper, np.ones(len(degrees)), np.sqrt(degrees), n_values)[0]
