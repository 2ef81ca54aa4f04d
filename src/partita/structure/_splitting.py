"""Divide clusters in two as long as a permutation null does not do as well."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from partita.config import report_progress
from partita.ensemble import Ensemble
from partita.structure._bisection import LabelTable, bisect

__all__ = ["Branch", "grow"]

_TESTED_SAMPLES = 1000  # a test draws so many samples of a larger cluster
_LEAST_SAMPLES = 4  # of a cluster that can be divided; permutations of fewer are all alike


@dataclass(eq=False)
class Branch:
    """A cluster, and its two parts if dividing it beats the null.

    Attributes
    ----------
    rows : array of int
        Rows of the ensemble in the cluster.
    n_samples : int
        Number of samples in the cluster.
    p_value : float
        Of dividing the cluster; NaN if there is nothing to divide.
    joined : array of shape (n_partitions,)
        Share of the pairs between the parts that each partition joins.
    parts : list of Branch
        Two parts, or none.
    """

    rows: NDArray[np.int64]
    n_samples: int
    p_value: float = float("nan")
    joined: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    parts: list[Branch] = field(default_factory=list)


def grow(
    ensemble: Ensemble,
    counts: NDArray[np.int64],
    alpha: float,
    n_null: int,
    rng: np.random.Generator,
) -> Branch:
    """Return the tree of all significant divisions.

    A cluster of s of n samples is divided at level alpha (s - 1) / (n - 1), so that the level of
    all tests of disjoint clusters together is at most alpha.

    Parameters
    ----------
    ensemble : Ensemble
        Distinct rows, in the order of `compress`.
    counts : array of shape (n_rows,)
        Number of samples of each row.
    alpha : float
        Level of the tests.
    n_null : int
        Number of permutations per test.
    rng : Generator
        Draws the permutations.
    """
    partition = np.repeat(np.arange(ensemble.n_partitions), ensemble.n_clusters)
    clusters = np.where(
        ensemble.observed, ensemble.codes.astype(np.int64) + ensemble.offsets[:-1], -1
    )
    root = Branch(np.arange(len(clusters)), int(counts.sum()))
    waiting, n_done = [root], 0
    while waiting:
        branch = waiting.pop(0)
        rows = branch.rows
        report_progress("hierarchy", n_done, root.n_samples)
        if branch.n_samples >= _LEAST_SAMPLES and len(rows) > 1:
            samples = np.repeat(rows, counts[rows])
            if len(samples) > _TESTED_SAMPLES:
                samples = np.sort(rng.choice(samples, _TESTED_SAMPLES, replace=False))
            branch.p_value = permutation_p_value(clusters[samples], partition, n_null, rng)
        level = alpha * (branch.n_samples - 1) / max(root.n_samples - 1, 1)
        if not branch.p_value <= level:
            n_done += branch.n_samples
            continue
        table = LabelTable.of(clusters[rows], partition, counts[rows].astype(np.float64))
        division = bisect(table)
        branch.joined = division.joined
        for part in (rows[~division.side], rows[division.side]):
            branch.parts.append(Branch(part, int(counts[part].sum())))
        waiting += branch.parts
    report_progress("hierarchy", root.n_samples, root.n_samples)
    return root


def permutation_p_value(
    clusters: NDArray[np.int64],
    partition: NDArray[np.int64],
    n_null: int,
    rng: np.random.Generator,
) -> float:
    """Return the p-value of dividing samples in two, against labels permuted within partitions.

    The statistic is the share of the disagreement that the best division explains. If it exceeds
    that of every permutation, the p-value is the tail of Student's t with their mean and standard
    deviation; otherwise it is the rank of the statistic.
    """
    ones = np.ones(len(clusters))
    statistic = bisect(LabelTable.of(clusters, partition, ones)).explained
    null = np.empty(n_null)
    for r in range(n_null):
        null[r] = bisect(LabelTable.of(_permuted(clusters, rng), partition, ones)).explained
    tolerance = 1e-9
    n_as_good = int(np.count_nonzero(null >= statistic - tolerance))
    if n_as_good:
        return (1 + n_as_good) / (n_null + 1)
    spread = float(null.std(ddof=1)) * np.sqrt(1 + 1 / n_null)
    distance = statistic - float(null.mean())
    if spread < tolerance:
        return 0.0
    return float(stdtr(n_null - 1, -distance / spread))


def _permuted(clusters: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    if clusters.min() >= 0:
        return np.asarray(rng.permuted(clusters, axis=0))
    columns = clusters.copy()
    for i in range(columns.shape[1]):
        labeled = columns[:, i] >= 0
        columns[labeled, i] = rng.permutation(columns[labeled, i])
    return columns
