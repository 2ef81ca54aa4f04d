"""Element-centric similarity: one value per sample, from the clusters that contain it."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from partita._contingency import is_dense
from partita._input.label_vector import code_labels
from partita.config import report_progress
from partita.ensemble import as_ensemble

__all__ = ["element_centric_consistency", "element_centric_similarity"]


@overload
def element_centric_similarity(y: Any, labels: Any, average: str = "mean") -> float: ...
@overload
def element_centric_similarity(y: Any, labels: Any, average: None) -> NDArray[np.float64]: ...
def element_centric_similarity(
    y: Any, labels: Any, average: str | None = "mean"
) -> float | NDArray[np.float64]:
    """Return the element-centric similarity (ECS) of two partitions.

    The similarity of a sample compares two random walks with restarts that begin at the sample, one
    in the clusters of each partition. For partitions without overlaps it is

        S(x) = |A ∩ B| / max(|A|, |B|)

    with the cluster A of x in one partition and B in the other.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Two partitions. -1, None and NaN are missing labels; only the samples labeled in both
        partitions count.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the samples, None one value per sample.

    Returns
    -------
    float, or array of shape (n_samples,)
        Above 0, and 1 for equal partitions. NaN for a sample without a label in either partition.
        Cost O(n).

    Notes
    -----
    The restart probability of the paper (alpha, 0.9 there) cancels in the equation above, so that
    it is no parameter here.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick, Y.-Y. Ahn. Element-centric clustering comparison unifies
    overlaps and hierarchy. Scientific Reports 9, 2019. https://doi.org/10.1038/s41598-019-44892-y

    Examples
    --------
    >>> from partita.metrics import element_centric_similarity
    >>> round(element_centric_similarity([0, 0, 1, 1], [0, 0, 0, 1]), 4)
    0.5417
    >>> element_centric_similarity([0, 0, 1, 1], [0, 0, 0, 1], average=None).round(2)
    array([0.67, 0.67, 0.33, 0.5 ])
    """
    if average not in ("mean", None):
        raise ValueError(f'average must be "mean" or None, got {average!r}.')
    first, first_names = code_labels(y, name="y")
    second, second_names = code_labels(labels)
    if len(first) != len(second):
        raise ValueError(
            f"y has {len(first)} entries and labels {len(second)}; expected two labels of the same "
            "samples. Pass both in the same order."
        )
    both = (first >= 0) & (second >= 0)
    sizes = len(first_names), len(second_names)
    similarity = np.full(len(first), np.nan)
    similarity[both] = _similarities(first[both], second[both], sizes, np.ones(int(both.sum())))
    if average is None:
        return similarity
    return float(similarity[both].mean()) if both.any() else float("nan")


def element_centric_consistency(partitions: Any) -> NDArray[np.float64]:
    """Return the element-centric consistency (ECC) of each sample in an ensemble.

    It is the mean of the element-centric similarity of the sample over all pairs of partitions: 1
    for a sample that has the same cluster everywhere, low for one whose cluster changes.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. Sample weights of an `Ensemble` count.

    Returns
    -------
    array of shape (n_samples,)
        Each pair of partitions counts the samples that both label. NaN for a sample with fewer than
        two labels.

    Notes
    -----
    Cost O(n' m²) for n' distinct rows and m partitions, O(n' m) memory. The value mixes doubt and
    granularity: a cluster that one partition divides lowers it. ClustAssess reports the same mean.

    References
    ----------
    A. Shahsavari, A. Munteanu, I. Mohorianu. ClustAssess: tools for assessing the robustness of
    single-cell clustering. bioRxiv, 2022. https://doi.org/10.1101/2022.01.31.478592

    Examples
    --------
    >>> from partita.metrics import element_centric_consistency
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> element_centric_consistency(partitions).round(2)
    array([0.78, 0.78, 0.5 , 0.83, 0.83, 0.83])
    """
    ensemble = as_ensemble(partitions).compress()
    columns, observed = np.ascontiguousarray(ensemble.codes.T), ensemble.observed.T.copy()
    m, sizes = ensemble.n_partitions, ensemble.n_clusters
    total, n_pairs = np.zeros((2, ensemble.n_rows))
    for i in range(m):
        report_progress("consistency", i, m)
        for j in range(i):
            both = observed[i] & observed[j]
            if both.all():
                both = slice(None)
            shape = int(sizes[i]), int(sizes[j])
            total[both] += _similarities(
                columns[i][both], columns[j][both], shape, ensemble.weights[both]
            )
            n_pairs[both] += 1
    report_progress("consistency", m, m)
    mean = np.divide(total, n_pairs, out=np.full(len(total), np.nan), where=n_pairs > 0)
    return ensemble.expand(mean, fill_value=np.nan)


def _similarities(
    first: NDArray[Any], second: NDArray[Any], sizes: tuple[int, int], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return |A ∩ B| / max(|A|, |B|) for the clusters A and B of each row."""
    cells = first.astype(np.int64) * sizes[1] + second
    if is_dense(sizes, len(cells)):
        shared = np.bincount(cells, weights, minlength=sizes[0] * sizes[1]).reshape(sizes)
        largest = np.maximum(shared.sum(axis=1)[:, None], shared.sum(axis=0))
        return np.asarray((shared / np.where(largest > 0, largest, 1.0)).reshape(-1)[cells])
    present, inverse = np.unique(cells, return_inverse=True)
    shared = np.bincount(inverse, weights)
    rows, columns = np.divmod(present, sizes[1])
    by_row, by_column = np.bincount(rows, shared), np.bincount(columns, shared)
    return np.asarray((shared / np.maximum(by_row[rows], by_column[columns]))[inverse])
