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

_ROWS_TOGETHER = 60  # at least, samples with about as many terms, among which terms are exchanged
_ROUNDS = 20  # in each, half of the entries are proposed to move

Places = NDArray[np.int64]


def exchanged_reference(X: sp.csr_matrix, rng: np.random.Generator) -> sp.csr_matrix:
    """Exchange the terms of samples that have about as many, until chance decides who has which.

    Two entries (i, s) and (j, t) become (i, t) and (j, s), unless sample i has term t or sample j
    has term s. Every sample keeps its number of terms and every term its number of samples. An
    entry moves with its value, as a share of the mean absolute value in its sample, so that
    frequent terms keep large counts. Which terms occur together is left to chance.

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
    n_terms = np.diff(X.indptr)
    rows = np.repeat(np.arange(X.shape[0]), n_terms)
    sizes = np.bincount(rows, np.abs(X.data), X.shape[0]) / np.maximum(n_terms, 1)
    by_length = np.argsort(n_terms, kind="stable")
    columns = np.empty(X.nnz, np.int64)
    shares = np.empty(X.nnz)
    for members in np.array_split(by_length, max(1, X.shape[0] // _ROWS_TOGETHER)):
        places = np.concatenate([np.arange(X.indptr[i], X.indptr[i + 1]) for i in members])
        own = rows[places]
        # the samples move instead of the terms: an entry is a term with its value
        moved = _exchange(own, X.indices[places].astype(np.int64), X.shape[1], rng)
        sources = places[np.argsort(moved, kind="stable")]
        targets = places[np.argsort(own, kind="stable")]
        columns[targets] = X.indices[sources]
        shares[targets] = X.data[sources] / sizes[rows[sources]]
    reference = sp.csr_matrix((shares * sizes[rows], columns, X.indptr), shape=X.shape)
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
