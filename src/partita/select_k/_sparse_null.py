"""A null for sparse features: which sample has which terms is left to chance.

A term is a feature, and a sample has those terms whose entries are not 0. Counts of words without
topics are no uniform box: few terms are in most texts and most terms in few, a word that a text has
once it often has again, and long texts have more terms than short ones. All of this makes neighbors
without any cluster, so the null has it too.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["exchanged_reference"]

_STEPS = 2  # per factor of 2, in which shares count as equal
_LEAST_WEIGHT = 1e-3  # of the mean value
_ROUNDS = 20  # in each, half of the entries are proposed to move

Places = NDArray[np.int64]


def exchanged_reference(X: sp.csr_matrix, rng: np.random.Generator) -> sp.csr_matrix:
    """Exchange the terms of samples until chance decides who has which.

    Two entries (i, s) and (j, t) become (i, t) and (j, s), unless sample i has term t or sample j
    has term s. Every sample keeps its number of terms and every term its number of samples. Which
    terms occur together is left to chance.

    A sample also keeps its absolute values. The larger ones go to the entries that were larger,
    compared with the values that the terms of their sample have in the mean, so that frequent terms
    keep large counts. Of entries that were about as large, a term with a larger mean value is more
    likely to come first. Signs stay with the terms.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
        Features, without stored zeros.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    CSR matrix of shape (n_samples, n_features)
        Cost: O(s log s) for s entries that are not 0.
    """
    n, d = X.shape
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    columns, values = X.indices.astype(np.int64), np.abs(X.data)
    if len(values) == 0:
        return X.copy()
    mean = np.bincount(columns, values, d) / np.maximum(np.bincount(columns, minlength=d), 1)
    expected = np.bincount(rows, mean[columns], n)
    shares = values * expected[rows] / np.bincount(rows, values, n)[rows]
    weights = mean[columns] - mean[columns].min() + _LEAST_WEIGHT * mean[columns].mean()
    moved = _exchange(rows, columns, d, rng)
    chance = weights / rng.exponential(size=len(values))
    ascending = np.lexsort((chance, np.round(_STEPS * np.log2(shares)), moved))
    own = np.lexsort((values, rows))
    data = values[own] * np.sign(X.data[ascending])
    reference = sp.csr_matrix((data, columns[ascending], X.indptr), shape=X.shape)
    reference.sort_indices()
    return reference


def _exchange(rows: Places, columns: Places, n_columns: int, rng: np.random.Generator) -> Places:
    """Return new rows of entries; no two entries of a column are in the same row.

    All proposals of a round are made at once. One is left out if it would fill a place twice, or if
    another one concerns a place that it leaves or fills: then a round is as likely as its reverse,
    and all tables become equally likely. A proposal is made or not by chance: otherwise few entries
    would be in each other's way for ever.
    """
    rows = rows.copy()
    for _ in range(_ROUNDS):
        order = rng.permutation(len(rows))
        half = rng.binomial(len(rows) // 2, 0.5)
        first, second = order[:half], order[half : 2 * half]
        places = rows * n_columns + columns
        one = rows[first] * n_columns + columns[second]
        other = rows[second] * n_columns + columns[first]
        targets = np.concatenate([one, other])
        concerned = np.concatenate([targets, places[first], places[second]])
        _, inverse, counts = np.unique(concerned, return_inverse=True, return_counts=True)
        is_free = counts[inverse] == 1
        is_free[: 2 * half] &= ~_contains(np.sort(places), targets)
        accepted = is_free.reshape(4, half).all(axis=0)
        first, second = first[accepted], second[accepted]
        rows[first], rows[second] = rows[second], rows[first]
    return rows


def _contains(ascending: Places, values: Places) -> NDArray[np.bool_]:
    """Return which values are in an ascending array."""
    if len(ascending) == 0:
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[places] == values)
