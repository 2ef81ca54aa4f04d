"""Losses of one clustering against another, and their mean over an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._contingency import (
    ContingencyTable,
    adjusted_rand_of,
    binder_loss_of,
    variation_of_information_of,
)
from partita._input.label_vector import code_labels
from partita.ensemble import as_ensemble
from partita.metrics._truth import contingency_table

__all__ = ["binder_loss", "expected_loss", "omari_loss", "variation_of_information"]

_LOSSES = ("vi", "binder", "omari")


def variation_of_information(y: Any, labels: Any, a: float = 1.0) -> float:
    """Return the variation of information of two partitions, in bits.

    VI = a H(labels | y) + (2 - a) H(y | labels) with the conditional entropies H, a metric for
    a = 1.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Two partitions.
    a : float, default=1.0
        Cost of separating samples that y joins, between 0 and 2; the opposite costs 2 - a.

    Returns
    -------
    float
        0 for equal partitions, at most log2(n_samples) if a = 1. Cost O(n).

    References
    ----------
    M. Meila. Comparing clusterings: an information based distance. Journal of Multivariate Analysis
    98(5), 2007. https://doi.org/10.1016/j.jmva.2006.11.013

    Examples
    --------
    >>> from partita.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    _check_cost(a)
    return variation_of_information_of(contingency_table(y, labels), a)


def binder_loss(y: Any, labels: Any, a: float = 1.0) -> float:
    """Return Binder's loss of two partitions: the share of pairs on which they disagree.

    Pairs are counted in both orders, and a sample forms a pair with itself: with n samples the loss
    is 2/n² times the sum of the costs of all pairs of different samples.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Two partitions.
    a : float, default=1.0
        Cost of separating a pair that y joins, between 0 and 2; the opposite costs 2 - a.

    Returns
    -------
    float
        0 for equal partitions; below 1 if a = 1. Cost O(n).

    References
    ----------
    D. A. Binder. Bayesian cluster analysis. Biometrika 65(1), 1978.
    https://doi.org/10.1093/biomet/65.1.31

    Examples
    --------
    >>> from partita.metrics import binder_loss
    >>> binder_loss([0, 0, 1, 1], [0, 0, 1, 2])
    0.125
    """
    _check_cost(a)
    return binder_loss_of(contingency_table(y, labels), a)


def omari_loss(y: Any, labels: Any) -> float:
    """Return one minus the adjusted Rand index.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Two partitions.

    Returns
    -------
    float
        0 for equal partitions, 1 in expectation for unrelated ones; may exceed 1. Cost O(n).

    Examples
    --------
    >>> from partita.metrics import omari_loss
    >>> round(omari_loss([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.4286
    """
    return 1.0 - adjusted_rand_of(contingency_table(y, labels))


def expected_loss(partitions: Any, labels: Any, loss: str = "vi", a: float = 1.0) -> float:
    """Return the mean loss of one clustering against the partitions of an ensemble.

    `MedianPartition` minimizes it. The loss against a partition is that over the samples labeled in
    both, and partitions are weighted by the number of samples they label.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. Sample weights of an `Ensemble` count; for "omari" they are divided by
        the smallest if that is below 1.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The clustering. -1, None and NaN are samples without a label.
    loss : {"vi", "binder", "omari"}, default="vi"
        `variation_of_information`, `binder_loss` or `omari_loss`, with a partition as y.
    a : float, default=1.0
        Cost of separating samples that a partition joins. Not for "omari".

    Returns
    -------
    float
        0 if all partitions are equal to the clustering. Cost O(n m).

    Examples
    --------
    >>> from partita.metrics import expected_loss
    >>> expected_loss([[0, 0, 1, 1], [0, 0, 1, 2]], [0, 0, 1, 1])
    0.25
    """
    _check_cost(a)
    if loss not in _LOSSES:
        raise ValueError(f"loss must be one of {_LOSSES}, got {loss!r}.")
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError(
            "Expected an ensemble with one row per sample, got a compressed one. Pass the ensemble "
            "that `compress` was called on."
        )
    codes, categories = code_labels(labels, ensemble.n_samples, sample_ids=ensemble.sample_ids)
    weights = ensemble.weights / min(1.0, float(ensemble.weights.min()))
    score = total = 0.0
    for i in range(ensemble.n_partitions):
        observed = ensemble.observed[:, i]
        both = (codes >= 0) & observed
        if not both.any():
            continue
        sizes = int(ensemble.n_clusters[i]), len(categories)
        table = ContingencyTable.from_codes(
            ensemble.codes[both, i], codes[both], *sizes, weights[both]
        )
        weight = float(np.sum(weights[observed]))
        if loss == "vi":
            score += weight * variation_of_information_of(table, a)
        elif loss == "binder":
            score += weight * binder_loss_of(table, a)
        else:
            score += weight * (1.0 - adjusted_rand_of(table))
        total += weight
    return score / total if total else 0.0


def _check_cost(a: float) -> None:
    if not 0 < a < 2:
        raise ValueError(f"a must be a cost between 0 and 2 (both excluded), got {a!r}.")
