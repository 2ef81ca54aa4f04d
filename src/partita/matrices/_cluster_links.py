"""Link-based similarities of base clusters: connected triples, SimRank and its approximation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices._propagation import cluster_jaccard
from partita.matrices.cluster_counts import cluster_overlaps, cluster_sizes, quadratic_forms
from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import EnsembleRows

__all__ = ["check_links", "cluster_links", "find_links", "links_of_jaccard", "mirror", "n_labels"]

_SIMILARITIES = ("cts", "srs", "asrs")
_BLOCK = 64  # rows per block


def cluster_links(
    partitions: Any, *, similarity: str = "cts", decay: float = 0.8, n_steps: int = 5
) -> NDArray[np.float64]:
    """Return a similarity of base clusters that counts what both overlap, shape (L, L).

    With the Jaccard coefficients J of different clusters, and `decay` as δ:

    - "cts", connected triples: δ Σ_k min(J_ck, J_dk), divided by the largest such sum. Only pairs
      of clusters of the same partition have a similarity; others are 0.
    - "asrs", approximate SimRank: δ Σ_k J_ck J_dk / (n_c n_d), divided by the largest such mean,
      where n_c is the number of clusters that overlap c.
    - "srs", SimRank: δ times the mean SimRank of a sample of c and a sample of d.

    The diagonal is 1.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    similarity : {"cts", "srs", "asrs"}, default="cts"
        Which similarity.
    decay : float, default=0.8
        Largest similarity of two different clusters, above 0 and at most 1.
    n_steps : int, default=5
        Number of updates of SimRank. Used with "srs" only.

    Returns
    -------
    array of shape (n_base_clusters, n_base_clusters)
        Cost O(n' m²) plus O(L² max K_i) for "cts", O(L³) for "asrs" and O(n_steps (n' m² + L³)) for
        "srs", for n' distinct rows.
    """
    check_links(similarity, decay, n_steps)
    ensemble = as_ensemble(partitions)
    length = ensemble.n_base_clusters
    require_memory(24 * length**2, f"The {length} x {length} tables of links")
    return find_links(ensemble, similarity, decay, n_steps)


def check_links(similarity: str, decay: float, n_steps: int) -> None:
    """Raise if a parameter of a link-based similarity is not valid."""
    if similarity not in _SIMILARITIES:
        raise ValueError(f"similarity must be one of {_SIMILARITIES}, got {similarity!r}")
    if not 0 < decay <= 1:
        raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}")
    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1, got {n_steps!r}")


def find_links(
    ensemble: Ensemble, similarity: str, decay: float, n_steps: int
) -> NDArray[np.float64]:
    """Return `cluster_links` of parameters that have been checked."""
    if similarity == "srs":
        return _simrank(ensemble, decay, n_steps)
    return links_of_jaccard(cluster_jaccard(ensemble), ensemble.offsets, similarity, decay)


def links_of_jaccard(
    graph: NDArray[np.float64], offsets: NDArray[np.int64], similarity: str, decay: float
) -> NDArray[np.float64]:
    """Return "cts" or "asrs" links of clusters with these Jaccard coefficients (overwritten)."""
    np.fill_diagonal(graph, 0.0)
    links = _triples(graph, offsets) if similarity == "cts" else _mean_products(graph)
    np.fill_diagonal(links, 0.0)
    largest = links.max()
    if largest > 0:
        links *= decay / largest
    np.fill_diagonal(links, 1.0)
    return links


def _triples(graph: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Σ_k min(J_ck, J_dk) for pairs of clusters of one partition, 0 for other pairs."""
    length = len(graph)
    out = np.zeros_like(graph)
    weights = np.ones(length)
    kernel = _kernels.connected_triples.weigh_common.at(length * length)

    def fill(first: int, last: int) -> None:
        for i in range(first, last):
            clusters = slice(offsets[i], offsets[i + 1])
            own = np.ascontiguousarray(graph[:, clusters])
            sums = np.empty((own.shape[1],) * 2)
            kernel(own, weights, 0, own.shape[1], sums)
            out[clusters, clusters] = sums

    run_blocks(fill, len(offsets) - 1, 1)
    return out


def _mean_products(graph: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_k J_ck J_dk / (n_c n_d), exactly symmetric."""
    n_neighbors = np.maximum(np.count_nonzero(graph, axis=1), 1)
    scaled = graph / n_neighbors[:, None]
    return mirror(scaled @ scaled.T)


def mirror(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy the lower triangle to the upper one, some rows at a time."""
    for start in range(0, len(matrix), _BLOCK):
        stop = start + _BLOCK
        corner = matrix[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix


def _simrank(ensemble: Ensemble, decay: float, n_steps: int) -> NDArray[np.float64]:
    """Return the SimRank of base clusters after `n_steps` updates.

    An update of the clusters C needs the samples S of the step before, and these the clusters of
    two steps before: S = δ B̄ C B̄ᵀ with the incidence B̄ whose rows have sum 1, and ones on the
    diagonal. With the sizes r of the rows, the sum of S over the samples of two clusters is

        Bᵀ R S R B = δ (Bᵀ R B̄) C (Bᵀ R B̄)ᵀ + Bᵀ R diag(1 - δ b̄(x) C b̄(x)ᵀ) B.

    The last term replaces the similarity of a sample to itself by 1. No n x n matrix is needed.
    """
    share = 1.0 / n_labels(ensemble)
    means = _overlaps(ensemble, share)
    size = cluster_sizes(ensemble)
    scale = 1.0 / np.where(size > 0, size, 1.0)
    links = np.eye(len(size))
    for step in range(2 - n_steps % 2, n_steps + 1, 2):
        if step == 1:  # samples are similar to themselves only
            sums = cluster_overlaps(ensemble)
        else:
            own = 1.0 - decay * share**2 * quadratic_forms(ensemble, links)
            sums = _overlaps(ensemble, own)
            sums += decay * mirror(means @ links @ means)
        links = sums * (decay * scale[:, None] * scale)
        np.fill_diagonal(links, 1.0)
    return links


def _overlaps(ensemble: Ensemble, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Bᵀ R diag(values) B, with a value per row."""
    return overlaps_of_rows(EnsembleRows(ensemble), lambda _: values)


def n_labels(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return the number of labels of every row; 1 if it has none."""
    if not ensemble.n_missing:
        return np.full(ensemble.n_rows, float(ensemble.n_partitions))
    return np.maximum(ensemble.observed.sum(axis=1), 1).astype(np.float64)
