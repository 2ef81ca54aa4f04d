"""Co-association in which a missing label is neither agreement nor disagreement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import as_ensemble
from partita.matrices.agreement import agreement_counts, coobserved_counts, expand_pairs

__all__ = ["incomplete_coassociation"]


def incomplete_coassociation(partitions: Any, *, expand: bool = True) -> NDArray[np.float64]:
    """Return the co-association with missing labels as neither agreement nor disagreement.

    With missing labels, S_pq = Σ_i Δ_i(p, q) / m, where Δ is 1 for a partition that joins p and q,
    -1 for one that separates them and 0 for one that does not label both. Without missing labels
    the matrix is `coassociation`.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`.

    Returns
    -------
    array of shape (n, n)
        Cost O(n'² m) byte comparisons for n' distinct rows; 8 n² bytes.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Z. Ding, Y. Fu. Robust spectral ensemble clustering via rank
    minimization. ACM TKDD 13(1), 2019. https://doi.org/10.1145/3278606

    Examples
    --------
    >>> from partita.matrices import incomplete_coassociation
    >>> incomplete_coassociation([[0, 0, 1], [0, 1, None]])
    array([[ 1. ,  0. , -0.5],
           [ 0. ,  1. , -0.5],
           [-0.5, -0.5,  0.5]])
    """
    core = as_ensemble(partitions).compress()
    votes = agreement_counts(core, np.uint32).astype(np.float64)
    if core.n_missing:
        votes *= 2.0
        votes -= coobserved_counts(core, np.uint32)
    votes /= core.n_partitions
    return expand_pairs(votes, core) if expand else votes
