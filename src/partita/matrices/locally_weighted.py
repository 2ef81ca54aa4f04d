"""Cluster certainty (ECI) and the locally weighted co-association matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices.agreement import divide_by_coobserved, expand_pairs, weighted_agreement

__all__ = ["cluster_certainty", "cluster_entropy", "locally_weighted_coassociation"]


_WHOLE = 4096  # numbers whose logarithms are looked up


def cluster_entropy(ensemble: Ensemble) -> NDArray[np.float64]:
    """Entropy in bits of every cluster with respect to the other partitions, shape (L,).

    H(c) = -Σ_i Σ_{c' in i} q log₂ q with q = |c ∩ c'| / |c|, over the members of c that partition
    i labels. O(n m²) counting, one K_i x K_j table at a time for both partitions of a pair.
    """
    columns = np.ascontiguousarray(ensemble.codes.T)
    per_partition = np.zeros((ensemble.n_partitions, ensemble.n_base_clusters))
    kernel, weights = _kernels.contingency.pair_entropies, ensemble.weights
    whole = bool((weights == np.floor(weights)).all())
    x_log_x = np.arange(_WHOLE if whole else 0, dtype=np.float64)
    x_log_x[1:] *= np.log2(x_log_x[1:])

    def block(start: int, stop: int) -> None:
        for i in range(start, stop):
            kernel(
                columns, ensemble.missing_code, ensemble.offsets, weights, x_log_x, i, per_partition
            )

    run_blocks(block, ensemble.n_partitions, 1)
    return per_partition.sum(axis=0)


def cluster_certainty(ensemble: Ensemble, theta: float = 0.4) -> NDArray[np.float64]:
    """Ensemble-driven cluster index ECI_c = exp(-H(c) / (theta m)), shape (L,)."""
    if not theta > 0:
        raise ValueError(f"theta must be positive, got {theta!r}")
    return np.exp(-cluster_entropy(ensemble) / (theta * ensemble.n_partitions))


def locally_weighted_coassociation(
    partitions: Any, *, theta: float = 0.4, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Co-association in which a cluster counts as much as the other partitions are sure of it.

    LWCA = B diag(ECI) Bᵀ / m, with ones on the diagonal.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
    theta : float
        How gently uncertainty is punished; the paper advises 0.2 to 1.
    missing : {"pairwise", "disagree"}
        As in `coassociation`.
    expand : bool
        A row per sample, or per row of `Ensemble.compress()`. Two different samples with the same
        labels have similarity below 1, which is what the reduced matrix has on its diagonal.

    Returns
    -------
    array of shape (n, n)
        Cost O(n m²) for the certainties and O(n'² m) for the matrix.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai. Locally weighted ensemble clustering. IEEE Transactions on
    Cybernetics 48(5), 2018. https://doi.org/10.1109/TCYB.2017.2702343

    Examples
    --------
    >>> import partita
    >>> partita.locally_weighted_coassociation([[0, 0, 1], [0, 0, 1]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    core = as_ensemble(partitions).compress()
    matrix = weighted_agreement(core, cluster_certainty(core, theta))
    divide_by_coobserved(matrix, core, missing)
    if not expand:
        return matrix
    full = expand_pairs(matrix, core)
    np.fill_diagonal(full, 1.0)
    return full
