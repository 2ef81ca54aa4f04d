"""How well a clustering agrees with the truth, with an ensemble, and an ensemble with itself.

Every measure is a function of a contingency table: n_kl samples in cluster k of one partition and
in cluster l of the other. The table is held by its non-zero cells, so that thousands of clusters
cost no more than the samples in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._contingency import (
    AVERAGES,
    CrossTable,
    accuracy_of,
    adjusted_rand_of,
    is_dense,
    nmi_of,
    pairwise_f_score_of,
    purity_of,
)
from partita._input.coding import encode
from partita._input.containers import label_columns
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble

__all__ = [
    "accuracy",
    "adjusted_rand",
    "anmi",
    "diversity",
    "evaluate",
    "nmi",
    "pairwise_agreement",
    "pairwise_f_score",
    "purity",
]

# -- against the truth -----------------------------------------------------------------------


def evaluate(y: Any, labels: Any) -> dict[str, float]:
    """Every measure of a clustering against the truth, from one contingency table.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True classes.
    labels : array-like of shape (n_samples,)
        Cluster labels. As in all measures against the truth, labels are taken as they are: any
        type, and -1 is a cluster like the others. Drop what should not count.

    Returns
    -------
    dict
        ``ACC`` (`accuracy`), ``NMI`` (`nmi`, geometric), ``NMI_arithmetic``, ``ARI``
        (`adjusted_rand`), ``F`` (`pairwise_f_score`) and ``purity``.

    Examples
    --------
    >>> from partita.metrics import evaluate
    >>> scores = evaluate([0, 0, 0, 1, 1, 1], ["a", "a", "b", "b", "b", "b"])
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'ACC': 0.833, 'NMI': 0.479, 'NMI_arithmetic': 0.479, 'ARI': 0.324, 'F': 0.615, 'purity': 0.833}
    """
    table = _against_truth(y, labels)
    return {
        "ACC": accuracy_of(table),
        "NMI": nmi_of(table, "geometric"),
        "NMI_arithmetic": nmi_of(table, "arithmetic"),
        "ARI": adjusted_rand_of(table),
        "F": pairwise_f_score_of(table),
        "purity": purity_of(table),
    }


def accuracy(y: Any, labels: Any) -> float:
    """Clustering accuracy (ACC): the best share of matches over one-to-one maps of the names.

    ACC = max_g (1/n) sum_j [y_j = g(labels_j)], the maximum over all one-to-one maps g of clusters
    to classes, found by the Hungarian algorithm. Where there are more clusters than classes, the
    samples of the clusters left over count as wrong.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)

    Returns
    -------
    float
        Between 0 and 1. Cost O(n + K^3).

    References
    ----------
    Equation (27) of Tao, Liu, Li, Ding, Fu. Robust Spectral Ensemble Clustering via Rank
    Minimization. ACM TKDD, 2019.

    Examples
    --------
    >>> from partita.metrics import accuracy
    >>> accuracy([0, 0, 1, 1], [1, 1, 0, 2])
    0.75
    """
    return accuracy_of(_against_truth(y, labels))


def nmi(y: Any, labels: Any, average: str = "geometric") -> float:
    """Normalized mutual information of two partitions.

    NMI = I / M(H, H'), with I = sum_kl (n_kl/n) log(n n_kl / (n_k n_l)), the entropies
    H = -sum_k (n_k/n) log(n_k/n), and M their average.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        The papers use "geometric"; scikit-learn's default is "arithmetic".

    Returns
    -------
    float
        Between 0 and 1; 1 if neither partition divides the samples, 0 if only one of them does.
        Equal to scikit-learn's `normalized_mutual_info_score`. Cost O(n).

    Notes
    -----
    Equation (28) of the reference prints log(n_hl / (n_h n_l)) in the numerator; the factor n
    within the logarithm is missing there, without which the value would be negative.

    References
    ----------
    Strehl, Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
    JMLR 3, 2002. Equation (28) of Tao, Liu, Li, Ding, Fu. Robust Spectral Ensemble Clustering via
    Rank Minimization. ACM TKDD, 2019.

    Examples
    --------
    >>> from partita.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="arithmetic"), 4)
    0.8
    """
    _check_average(average)
    return nmi_of(_against_truth(y, labels), average)


def adjusted_rand(y: Any, labels: Any) -> float:
    """Adjusted Rand index (ARI), which the papers also call the normalized Rand index R_n.

    R_n = (m - m1 m2/M) / (m1/2 + m2/2 - m1 m2/M) with the pairs joined by both partitions
    m = sum_kl C(n_kl, 2), by each of them m1 = sum_k C(n_k, 2) and m2 = sum_l C(n_l, 2), and all
    pairs M = C(n, 2).

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)

    Returns
    -------
    float
        1 for equal partitions, 0 in expectation for unrelated ones; may be negative. Equal to
        scikit-learn's `adjusted_rand_score`. Cost O(n).

    References
    ----------
    Hubert, Arabie. Comparing partitions. Journal of Classification 2, 1985.
    https://doi.org/10.1007/BF01908075
    Equation (8) of Liu, Wu, Liu, Tao, Fu. Spectral Ensemble Clustering via Weighted K-Means. IEEE
    TKDE, 2017.

    Examples
    --------
    >>> from partita.metrics import adjusted_rand
    >>> round(adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return adjusted_rand_of(_against_truth(y, labels))


def pairwise_f_score(y: Any, labels: Any) -> float:
    """Pairwise F-score: harmonic mean of precision and recall over pairs of samples.

    A pair counts as found if `labels` joins it and as true if `y` does: with the counts of
    `adjusted_rand`, precision = m/m2, recall = m/m1 and F = 2 m / (m1 + m2).

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)

    Returns
    -------
    float
        Between 0 and 1; 1 if neither partition joins any pair. Cost O(n).

    Examples
    --------
    >>> from partita.metrics import pairwise_f_score
    >>> round(pairwise_f_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    return pairwise_f_score_of(_against_truth(y, labels))


def purity(y: Any, labels: Any) -> float:
    """Purity: the share of samples that belong to the commonest class of their cluster.

    purity = (1/n) sum_k max_l n_kl over clusters k and classes l. Singletons are pure: read it
    beside a measure that punishes too many clusters.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        The measure is not symmetric: classes first, clusters second.

    Returns
    -------
    float
        Above 0, at most 1. Cost O(n).

    Examples
    --------
    >>> from partita.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return purity_of(_against_truth(y, labels))


# -- with an ensemble ------------------------------------------------------------------------


def anmi(labels: Any, ensemble: Any, average: str = "geometric") -> float:
    """Average NMI of one clustering to the partitions of an ensemble.

    ANMI = sum_i n_i NMI(labels, partition_i) / sum_i n_i, with n_i the samples that partition i
    labels and NMI over the samples labeled in both; 0 where either side does not divide them.
    No truth is needed: this is what cluster-ensemble methods choose between their results by.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        -1, None and NaN are missing, as in the ensemble.
    ensemble : Ensemble or label matrix of shape (n_samples, n_partitions)
        Sample weights of an `Ensemble` count.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"

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
    >>> round(anmi([0, 0, 1, 1], partitions), 4)
    0.6728
    """
    _check_average(average)
    ensemble = as_ensemble(ensemble)
    if ensemble.is_compressed:
        raise ValueError(
            "Expected an ensemble with one row per sample, got a compressed one. Pass the ensemble "
            "that `compress` was called on."
        )
    column = _vector(labels, "labels")
    if len(column) != ensemble.n_samples:
        raise ValueError(
            f"labels has {len(column)} entries, the ensemble {ensemble.n_samples} samples. Pass "
            "one label per sample, in the order of the ensemble."
        )
    codes, categories = encode([column], ["labels"], "missing")
    known = codes[:, 0] != np.iinfo(codes.dtype).max
    score = total = 0.0
    for i in range(ensemble.n_partitions):
        observed = ensemble.observed[:, i]
        both = known & observed
        weight = float(ensemble.weights[observed].sum())
        table = CrossTable.of(
            codes[both, 0],
            ensemble.codes[both, i],
            len(categories[0]),
            int(ensemble.n_clusters[i]),
            ensemble.weights[both],
        )
        score += weight * nmi_of(table, average, undivided=0.0)
        total += weight
    return score / total


def pairwise_agreement(ensemble: Any, average: str = "geometric") -> NDArray[np.float64]:
    """NMI of every pair of an ensemble's partitions.

    Parameters
    ----------
    ensemble : Ensemble or label matrix of shape (n_samples, n_partitions)
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"

    Returns
    -------
    array of shape (n_partitions, n_partitions)
        Symmetric, ones on the diagonal, in the order in which the partitions were given. Each pair
        over the samples that both label, by weight; 0 where there are none, or where either
        partition does not divide them. Cost O(n m^2).

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import pairwise_agreement
    >>> pairwise_agreement(np.array([[0, 5, 0], [0, 5, 1], [1, 7, 0], [1, 7, 1]])).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    _check_average(average)
    ensemble = as_ensemble(ensemble)
    m, place = ensemble.n_partitions, ensemble.partition_order
    columns = np.ascontiguousarray(ensemble.codes.T)
    agreement = np.eye(m)

    def with_those_before(i: int, _: int) -> None:
        for j in range(i):
            value = nmi_of(_of_two(ensemble, columns, i, j), average, undivided=0.0)
            agreement[place[i], place[j]] = agreement[place[j], place[i]] = value

    run_blocks(with_those_before, m, 1)
    return agreement


def _of_two(ensemble: Ensemble, columns: NDArray[Any], i: int, j: int) -> CrossTable:
    """The table of two partitions, over the samples that both label."""
    first, second, weights = columns[i], columns[j], ensemble.weights
    sizes = int(ensemble.n_clusters[i]), int(ensemble.n_clusters[j])
    code = columns.dtype.type(ensemble.missing_code)
    if not is_dense(sizes, len(first)):
        both = (first != code) & (second != code)
        return CrossTable.of(first[both], second[both], *sizes, weights[both])
    counts = np.zeros(sizes)
    _kernels.contingency.pair_table(first, second, code, weights, counts)
    return CrossTable.of_counts(counts)


def diversity(ensemble: Any, average: str = "geometric") -> float:
    """Diversity of an ensemble: the mean of 1 - NMI over all pairs of its partitions.

    Parameters
    ----------
    ensemble : Ensemble or label matrix of shape (n_samples, n_partitions)
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"

    Returns
    -------
    float
        0 if all partitions agree, or there is only one; 1 if no two share anything. O(n m^2).

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
    agreement = pairwise_agreement(ensemble, average)
    pairs = agreement[np.triu_indices(len(agreement), 1)]
    return float(1 - pairs.mean()) if len(pairs) else 0.0


# -- what is compared ------------------------------------------------------------------------


def _against_truth(y: Any, labels: Any) -> CrossTable:
    """The table of classes (rows) against clusters (columns) of two label vectors as they are."""
    columns = [_vector(y, "y"), _vector(labels, "labels")]
    if len(columns[0]) != len(columns[1]):
        raise ValueError(
            f"y has {len(columns[0])} entries and labels {len(columns[1])}; expected one class and "
            "one label per sample. Pass the labels of the same samples in the same order."
        )
    coded = [
        encode([c], [name], "cluster") for c, name in zip(columns, ("y", "labels"), strict=True)
    ]
    for (codes, _), name in zip(coded, ("y", "labels"), strict=True):
        absent = int(np.count_nonzero(codes == np.iinfo(codes.dtype).max))
        if absent:
            raise ValueError(
                f"{name} has {absent} missing entries (None or NaN) and cannot be scored. Drop "
                "these samples from both vectors."
            )
    (first, classes), (second, clusters) = coded
    return CrossTable.of(first[:, 0], second[:, 0], len(classes[0]), len(clusters[0]))


def _vector(values: Any, name: str) -> NDArray[Any]:
    if np.ndim(values) != 1:
        raise ValueError(
            f"{name} must be a vector with one entry per sample, got {np.ndim(values)} dimensions. "
            "Score one clustering at a time."
        )
    column = label_columns([values])[0][0]
    if len(column) == 0:
        raise ValueError(f"{name} is empty; expected one entry per sample, at least one.")
    return column


def _check_average(average: str) -> None:
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {tuple(AVERAGES)}, got {average!r}.")
