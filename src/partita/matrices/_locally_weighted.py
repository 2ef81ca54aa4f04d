"""Cluster certainty (ECI) and the locally weighted co-association matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices.agreement import (
    check_float,
    check_missing,
    divide_by_both,
    fill_pairs,
    fill_weighted_agreement,
)

__all__ = [
    "cluster_certainty",
    "cluster_entropy",
    "entropy_and_members",
    "locally_weighted_coassociation",
    "pairwise_entropy",
]

_MAX_LOGARITHMS = 1 << 22  # largest size of the table of x log2 x, for integer weights
_ONE_THREAD = 1 << 21  # pairs of labels below which a second thread costs more than it saves
_OPERATIONS = 2500  # elementary operations per label, with one to two hundred partitions


def cluster_entropy(ensemble: Ensemble, work: float = 0.0) -> NDArray[np.float64]:
    """Return the entropy in bits of every base cluster with respect to the other partitions.

    `work` is the number of elementary operations of a larger task that this step belongs to.

    H(c) = -Σ_i Σ_{c' in i} q log₂ q with q = |c ∩ c'| / |c|, over the members of c that partition
    i labels. Cost O(n m²), with one K_i x K_j table at a time for both partitions of a pair.
    """
    return entropy_and_members(ensemble, work)[0]


def entropy_and_members(
    ensemble: Ensemble, work: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `cluster_entropy`, and the weight of the members that each partition labels.

    The second array has shape (L, m); a cluster has the weight 0 in its own partition.
    """
    bits, members = pairwise_entropy(ensemble, work)
    return bits.sum(axis=0), members


def pairwise_entropy(
    ensemble: Ensemble, work: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the entropy of every base cluster with respect to each partition, shape (m, L).

    It is 0 for the own partition. The second array, (L, m), has the weight of the members that each
    partition labels. Other parameters as in `cluster_entropy`.
    """
    columns = np.ascontiguousarray(ensemble.codes.T)
    shape = ensemble.n_partitions, ensemble.n_base_clusters
    totals, logs = np.zeros(shape), np.zeros(shape)
    weights, form = ensemble.weights, _kernels.contingency.pair_sums.definition
    x_log_x = _logs_of_sums(weights)
    if len(x_log_x):  # else the logarithms are NumPy's, which others round differently
        form = _kernels.contingency.pair_sums.at(max(work, _OPERATIONS * ensemble.codes.size))

    def block(start: int, stop: int) -> None:
        table = columns, ensemble.missing_code, ensemble.offsets, weights
        for i in range(start, stop):
            form(*table, x_log_x, i, totals, logs)

    is_small = columns.size * ensemble.n_partitions < _ONE_THREAD
    run_blocks(block, ensemble.n_partitions, ensemble.n_partitions if is_small else 1)
    # -Σ q log q = log T - (Σ t log t) / T, where q = t / T and T = Σ t
    members, totals = totals.T, np.where(totals > 0, totals, 1.0)
    return np.maximum(np.log2(totals) - logs / totals, 0.0), members


def _logs_of_sums(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x log₂ x of all integers up to the sum of the weights.

    The result is empty if a weight is not an integer or if there are too many sums.
    """
    total = float(weights.sum())
    if total > _MAX_LOGARITHMS or (weights != np.floor(weights)).any():
        return np.empty(0)
    x_log_x = np.arange(total + 1.0)
    x_log_x[1:] *= np.log2(x_log_x[1:])
    return x_log_x


def cluster_certainty(partitions: Any, theta: float = 0.4) -> NDArray[np.float64]:
    """Return the ensemble-driven cluster index ECI_c = exp(-H(c) / (theta m)), shape (L,).

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    theta : float, default=0.4
        Influence of the entropy H(c) of a cluster with respect to the other partitions: the
        smaller, the lower the index of uncertain clusters.
    """
    return _certainty(as_ensemble(partitions), theta)


def _certainty(ensemble: Ensemble, theta: float, work: float = 0.0) -> NDArray[np.float64]:
    if not theta > 0:
        raise ValueError(f"theta must be positive, got {theta!r}")
    return np.exp(-cluster_entropy(ensemble, work) / (theta * ensemble.n_partitions))


def locally_weighted_coassociation(
    partitions: Any,
    *,
    theta: float = 0.4,
    missing: str = "pairwise",
    expand: bool = True,
    dtype: Any = "float64",
) -> NDArray[Any]:
    """Return the co-association with base clusters weighted by their certainty.

    LWCA = B diag(ECI) Bᵀ / m, with ones on the diagonal.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    theta : float, default=0.4
        Influence of the entropy: the smaller, the lower the weight of uncertain clusters. The paper
        recommends 0.2 to 1.
    missing : {"pairwise", "disagree"}, default="pairwise"
        Treatment of missing labels, as in `coassociation`.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`. The
        diagonal of the latter is the similarity of two different samples with equal labels, which
        is below 1.
    dtype : {"float64", "float32"}, default="float64"
        Type of the entries. Numbers of 32 bits take half the memory and have 7 digits.

    Returns
    -------
    array of shape (n, n)
        Cost O(n m²) for the certainties and O(n'² m), at most O(n² m), for the matrix; memory as
        in `coassociation`.

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
    check_missing(missing)
    check_float(dtype)
    core = as_ensemble(partitions).compress()
    value = _certainty(core, theta, work=core.n_rows * core.codes.size)
    is_pairwise = missing == "pairwise" and core.n_missing > 0
    divisor = 1.0 if is_pairwise else float(core.n_partitions)

    def fill(codes: NDArray[Any], out: NDArray[Any]) -> None:
        fill_weighted_agreement(codes, core.missing_code, core.offsets, value, divisor, out)
        if is_pairwise:
            divide_by_both(codes, core.missing_code, out)

    matrix = fill_pairs(core, fill, expand=expand, dtype=dtype)
    if expand:
        np.fill_diagonal(matrix, 1.0)
    return matrix
