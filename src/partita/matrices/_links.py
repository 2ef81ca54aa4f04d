"""Link-based similarities of samples, and of samples and base clusters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices._cluster_links import (
    check_links,
    cluster_links,
    find_links,
    n_labels,
)
from partita.matrices._propagation import add_similarities, within_partitions
from partita.matrices.agreement import divide_by_coobserved, expand_pairs
from partita.matrices.cluster_counts import incidence

__all__ = ["link_similarity", "refined_association"]


def link_similarity(
    partitions: Any,
    *,
    similarity: str = "cts",
    decay: float = 0.8,
    n_steps: int = 5,
    expand: bool = True,
) -> NDArray[np.float64]:
    """Return a similarity of samples that uses the similarity of their clusters.

    - "cts": the mean, over the partitions that label both samples, of the similarity of their
      clusters in that partition. It is 1 if they share the cluster.
    - "asrs": the mean similarity of a cluster of one sample with a cluster of the other.
    - "srs": SimRank, `decay` times such a mean, after `n_steps` updates.

    The similarities of clusters are those of `cluster_links`. The matrices are those of the
    toolbox LinkCluE, except that the most similar pair of different clusters has similarity
    `decay` in "asrs", where the toolbox takes it as one cluster.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    similarity : {"cts", "srs", "asrs"}, default="cts"
        Which similarity.
    decay : float, default=0.8
        Largest similarity of two different clusters, above 0 and at most 1.
    n_steps : int, default=5
        Number of updates of SimRank: R - 1 for the R iterations of LinkCluE. Used with "srs" only.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`. The
        diagonal of the latter is the similarity of two different samples with equal labels, which
        is below 1 in "asrs" and "srs".

    Returns
    -------
    array of shape (n, n)
        Cost of `cluster_links`, plus O(n'² m + n' m L) for n' distinct rows.

    References
    ----------
    N. Iam-on, S. Garrett. LinkCluE: a MATLAB package for link-based cluster ensembles. Journal of
    Statistical Software 36(9), 2010. https://doi.org/10.18637/jss.v036.i09

    Examples
    --------
    >>> from partita.matrices import link_similarity
    >>> link_similarity([[0, 0, 1, 1], [0, 1, 1, 2]]).round(2)
    array([[1. , 0.9, 0.8, 0.4],
           [0.9, 1. , 0.9, 0.8],
           [0.8, 0.9, 1. , 0.9],
           [0.4, 0.8, 0.9, 1. ]])
    """
    check_links(similarity, decay, n_steps)
    core = as_ensemble(partitions).compress()
    n = core.n_rows
    require_memory(8 * n * n, f"The {n} x {n} matrix of link-based similarities")
    if similarity == "cts":
        links = within_partitions(find_links(core, similarity, decay, n_steps), core.offsets)
        matrix = add_similarities(incidence(core), links)
        divide_by_coobserved(matrix, core, "pairwise")
        return expand_pairs(matrix, core) if expand else matrix
    if similarity == "srs":  # the samples follow from the clusters of the step before
        links = decay * find_links(core, similarity, decay, n_steps - 1)
    else:
        links = find_links(core, similarity, decay, n_steps)
    shares = sp.diags(1.0 / n_labels(core)) @ incidence(core)
    matrix = add_similarities(shares.tocsr(), links)
    if not expand:
        return matrix
    matrix = expand_pairs(matrix, core)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def refined_association(
    partitions: Any, *, similarity: str = "cts", decay: float = 0.8, n_steps: int = 5
) -> NDArray[np.float64]:
    """Return the refined cluster-association matrix of rows and base clusters.

    The incidence matrix is 1 for the cluster of a row in each partition and 0 for the other
    clusters of that partition. Here these zeros are the similarity of that other cluster to the
    cluster of the row.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions. An `Ensemble` is not compressed.
    similarity, decay, n_steps
        As in `cluster_links`.

    Returns
    -------
    array of shape (n_rows, n_base_clusters)
        Columns are grouped by partition. A row without a label in a partition has the means of the
        rows with a label there: zeros would make rows similar that lack the same labels.

    Examples
    --------
    >>> from partita.matrices import refined_association
    >>> refined_association([[0, 0, 1, 1], [0, 1, 1, 2]]).round(2)
    array([[1. , 0.8, 1. , 0.8, 0. ],
           [1. , 0.8, 0.8, 1. , 0.8],
           [0.8, 1. , 0.8, 1. , 0.8],
           [0.8, 1. , 0. , 0.8, 1. ]])
    """
    ensemble = as_ensemble(partitions)
    links = cluster_links(ensemble, similarity=similarity, decay=decay, n_steps=n_steps)
    bytes_needed = 20 * ensemble.n_rows * ensemble.n_base_clusters
    require_memory(bytes_needed, f"The refined association of {ensemble.n_rows} rows")
    B = incidence(ensemble)
    refined = np.asarray((B @ within_partitions(links, ensemble.offsets)).toarray())
    if ensemble.n_missing:
        _fill_with_means(refined, ensemble)
    return refined


def _fill_with_means(refined: NDArray[np.float64], ensemble: Ensemble) -> None:
    """Give rows without a label in a partition the means of the other rows, in place."""
    observed, r = ensemble.observed, ensemble.weights
    for i, (start, stop) in enumerate(pairwise(ensemble.offsets)):
        is_labeled = observed[:, i]
        if not is_labeled.all():
            block = refined[:, start:stop]
            block[~is_labeled] = r[is_labeled] @ block[is_labeled] / r[is_labeled].sum()
