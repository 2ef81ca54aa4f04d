"""Measures of a clustering against the true classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._contingency import (
    ContingencyTable,
    accuracy_of,
    adjusted_rand_of,
    check_average,
    nmi_of,
    pairwise_f_score_of,
    purity_of,
)
from partita._input.label_vector import code_labels

__all__ = ["accuracy", "adjusted_rand", "evaluate", "nmi", "pairwise_f_score", "purity"]


def evaluate(y: Any, labels: Any) -> dict[str, float]:
    """Return every measure of a clustering against the truth, from one contingency table.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True classes.
    labels : array-like of shape (n_samples,)
        Cluster labels. Here and in all measures against the truth, labels may have any type, and
        -1 is a cluster like the others. Drop samples that should not count.

    Returns
    -------
    dict
        ``ACC`` (`accuracy`), ``NMI`` (`nmi`, geometric), ``NMI_arithmetic``, ``NMI_max``
        and ``NMI_min`` (the same with other averages of the entropies), ``ARI``
        (`adjusted_rand`), ``F`` (`pairwise_f_score`) and ``purity``.

    Examples
    --------
    >>> from partita.metrics import evaluate
    >>> scores = evaluate([0, 0, 0, 1, 1, 1], ["a", "a", "b", "b", "b", "b"])
    >>> {name: round(scores[name], 3) for name in ("ACC", "NMI", "NMI_max", "ARI", "F")}
    {'ACC': 0.833, 'NMI': 0.479, 'NMI_max': 0.459, 'ARI': 0.324, 'F': 0.615}
    """
    table = contingency_table(y, labels)
    return {
        "ACC": accuracy_of(table),
        "NMI": nmi_of(table, "geometric"),
        **{f"NMI_{name}": nmi_of(table, name) for name in ("arithmetic", "max", "min")},
        "ARI": adjusted_rand_of(table),
        "F": pairwise_f_score_of(table),
        "purity": purity_of(table),
    }


def accuracy(y: Any, labels: Any) -> float:
    """Return the clustering accuracy (ACC): the share of matches under the best matching.

    ACC = max_g (1/n) sum_j [y_j = g(labels_j)], the maximum over all one-to-one maps g of clusters
    to classes, computed by the Hungarian algorithm. If there are more clusters than classes, the
    samples of the unmatched clusters count as wrong.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        True classes and cluster labels.

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
    return accuracy_of(contingency_table(y, labels))


def nmi(y: Any, labels: Any, average: str = "geometric") -> float:
    """Return the normalized mutual information of two partitions.

    NMI = I / M(H, H'), with I = sum_kl (n_kl/n) log(n n_kl / (n_k n_l)), the entropies
    H = -sum_k (n_k/n) log(n_k/n), and M their average.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        True classes and cluster labels.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        Average M of the two entropies. Most papers use "geometric", some divide by the larger
        entropy ("max"); scikit-learn's default is "arithmetic". The value falls from "min" over
        "geometric" and "arithmetic" to "max", so figures by different averages do not compare.

    Returns
    -------
    float
        Between 0 and 1; 1 if neither partition divides the samples, 0 if only one of them does.
        Equal to scikit-learn's `normalized_mutual_info_score`. Cost O(n).

    Notes
    -----
    Equation (28) of the reference prints log(n_hl / (n_h n_l)) in the numerator. The factor n
    within the logarithm is missing there; without it the value would be negative.

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
    check_average(average)
    return nmi_of(contingency_table(y, labels), average)


def adjusted_rand(y: Any, labels: Any) -> float:
    """Return the adjusted Rand index (ARI), also called the normalized Rand index R_n.

    R_n = (m - m1 m2/M) / (m1/2 + m2/2 - m1 m2/M) with the pairs joined by both partitions
    m = sum_kl C(n_kl, 2), by each of them m1 = sum_k C(n_k, 2) and m2 = sum_l C(n_l, 2), and all
    pairs M = C(n, 2).

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        True classes and cluster labels.

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
    return adjusted_rand_of(contingency_table(y, labels))


def pairwise_f_score(y: Any, labels: Any) -> float:
    """Return the pairwise F-score: harmonic mean of precision and recall over pairs of samples.

    A pair is predicted if `labels` joins it and true if `y` does. With the counts of
    `adjusted_rand`, precision = m/m2, recall = m/m1 and F = 2 m / (m1 + m2).

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        True classes and cluster labels.

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
    return pairwise_f_score_of(contingency_table(y, labels))


def purity(y: Any, labels: Any) -> float:
    """Return the purity: the share of samples in the most frequent class of their cluster.

    purity = (1/n) sum_k max_l n_kl over clusters k and classes l. Clusters of one sample are pure:
    use it together with a measure that penalizes too many clusters.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        True classes and cluster labels. The measure is not symmetric.

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
    return purity_of(contingency_table(y, labels))


def contingency_table(y: Any, labels: Any) -> ContingencyTable:
    """Count classes (rows) against clusters (columns)."""
    _check_lengths(y, labels)
    (classes, class_names), (clusters, cluster_names) = (
        _complete(y, "y"),
        _complete(labels, "labels"),
    )
    return ContingencyTable.from_codes(classes, clusters, len(class_names), len(cluster_names))


def _check_lengths(y: Any, labels: Any) -> None:
    for values, name in ((y, "y"), (labels, "labels")):
        if np.ndim(values) != 1:
            raise ValueError(
                f"{name} must be a vector with one entry per sample, got {np.ndim(values)} "
                "dimensions. Score one clustering at a time."
            )
        if len(values) == 0:
            raise ValueError(f"{name} is empty; expected one entry per sample, at least one.")
    if len(y) != len(labels):
        raise ValueError(
            f"y has {len(y)} entries and labels {len(labels)}; expected one class and one label "
            "per sample. Pass the labels of the same samples in the same order."
        )


def _complete(values: Any, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    codes, categories = code_labels(values, name=name, noise="cluster")
    n_missing = int(np.count_nonzero(codes < 0))
    if n_missing:
        raise ValueError(
            f"{name} has {n_missing} missing entries (None or NaN) and cannot be scored. Drop "
            "these samples from both vectors."
        )
    return codes, categories
