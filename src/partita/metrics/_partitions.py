"""Agreement of a clustering with an ensemble, and of the partitions of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._contingency import ContingencyTable, check_average, is_dense, nmi_of
from partita._input.label_vector import code_labels
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble

__all__ = ["anmi", "diversity", "pairwise_agreement"]

_OPERATIONS = 20  # elementary operations per label and partition


def anmi(partitions: Any, labels: Any, average: str = "geometric") -> float:
    """Return the average NMI of one clustering with the partitions of an ensemble.

    ANMI = sum_i n_i NMI(labels, partition_i) / sum_i n_i, with n_i the samples that partition i
    labels and NMI over the samples labeled in both; 0 if either side does not divide them.
    No truth is needed: cluster-ensemble methods choose between their results by this measure.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. Sample weights of an `Ensemble` count.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The clustering. -1, None and NaN are samples without a label.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        Average of the two entropies, as in `nmi`.

    Returns
    -------
    float
        Between 0 and 1. Cost O(n m).

    References
    ----------
    Strehl, Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
    JMLR 3, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import anmi
    >>> partitions = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    >>> round(anmi(partitions, [0, 0, 1, 1]), 4)
    0.6728
    """
    check_average(average)
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError(
            "Expected an ensemble with one row per sample, got a compressed one. Pass the ensemble "
            "that `compress` was called on."
        )
    codes, categories = code_labels(labels, ensemble.n_samples, sample_ids=ensemble.sample_ids)
    has_label = codes >= 0
    score = total = 0.0
    for i in range(ensemble.n_partitions):
        observed = ensemble.observed[:, i]
        both = has_label & observed
        weight = float(ensemble.weights[observed].sum())
        table = ContingencyTable.from_codes(
            codes[both],
            ensemble.codes[both, i],
            len(categories),
            int(ensemble.n_clusters[i]),
            ensemble.weights[both],
        )
        score += weight * nmi_of(table, average, undivided=0.0)
        total += weight
    return score / total


def pairwise_agreement(partitions: Any, average: str = "geometric") -> NDArray[np.float64]:
    """Return the NMI of each pair of partitions.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. Sample weights of an `Ensemble` count.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        Average of the two entropies, as in `nmi`.

    Returns
    -------
    array of shape (n_partitions, n_partitions)
        Symmetric, with ones on the diagonal, in the order of the user's table. Each entry counts
        the samples that both partitions label, by weight. It is 0 if there is no such sample or if
        either partition does not divide them. Cost O(n m^2).

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import pairwise_agreement
    >>> pairwise_agreement(np.array([[0, 5, 0], [0, 5, 1], [1, 7, 0], [1, 7, 1]])).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    check_average(average)
    ensemble = as_ensemble(partitions)
    m, order = ensemble.n_partitions, ensemble.partition_order
    columns = np.ascontiguousarray(ensemble.codes.T)
    agreement = np.eye(m)

    def fill_row(i: int, _: int) -> None:
        for j in range(i):
            value = nmi_of(_table_of_pair(ensemble, columns, i, j), average, undivided=0.0)
            agreement[order[i], order[j]] = agreement[order[j], order[i]] = value

    run_blocks(fill_row, m, 1)
    return agreement


def _table_of_pair(ensemble: Ensemble, columns: NDArray[Any], i: int, j: int) -> ContingencyTable:
    """Count the clusters of two partitions over the samples that both label."""
    first, second, weights = columns[i], columns[j], ensemble.weights
    sizes = int(ensemble.n_clusters[i]), int(ensemble.n_clusters[j])
    missing_code = columns.dtype.type(ensemble.missing_code)
    if not is_dense(sizes, len(first)):
        both = (first != missing_code) & (second != missing_code)
        return ContingencyTable.from_codes(first[both], second[both], *sizes, weights[both])
    counts = np.zeros(sizes)
    count = _kernels.contingency.pair_table.at(_OPERATIONS * columns.size * len(columns))
    count(first, second, missing_code, weights, counts)
    return ContingencyTable.from_dense(counts)


def diversity(partitions: Any, average: str = "geometric") -> float:
    """Return the diversity of an ensemble: the mean of 1 - NMI over all pairs of partitions.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. Sample weights of an `Ensemble` count.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        Average of the two entropies, as in `nmi`.

    Returns
    -------
    float
        0 if all partitions agree or there is only one, 1 if no two partitions share any
        information. Cost O(n m^2).

    References
    ----------
    Fern, Brodley. Random projection for high dimensional data clustering: a cluster ensemble
    approach. ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import diversity
    >>> round(diversity(np.array([[0, 5, 0], [0, 5, 1], [1, 7, 0], [1, 7, 1]])), 4)
    0.6667
    """
    agreement = pairwise_agreement(partitions, average)
    pairs = agreement[np.triu_indices(len(agreement), 1)]
    return float(1 - pairs.mean()) if len(pairs) else 0.0
