"""Pairs of rows that some partition joins, listed row by row, and one step of learning on them.

The list is the upper triangle of a sparse pattern: the partners b > a of row a are
`partner[start_of[a]:start_of[a + 1]]`. Sums over partitions run in their order, sums over pairs in
that of the list. Records:

votes     codes, missing_code, strength : weight of every partition
pattern   start_of, partner
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import count_blocks

# With 14 of 20 votes and a threshold of 0.3 a pair is exactly on the threshold. Rounding must not
# decide: on a tie the pair stays.
TIE = 1e-14
_PAIRS = 1 << 14  # per block; their arrays stay in the cache


def _joined(codes, missing_code, start, stop):
    """Yield blocks of rows, and whether they share a cluster with each row after them."""
    columns = np.ascontiguousarray(codes.T)
    for top, bottom, count in count_blocks(columns, missing_code, start, stop):
        yield top, bottom, np.triu(count > 0, 1)


@kernel
def count_partners(codes, missing_code, start, stop, count):
    """Add to `count[a]` the number of rows b > a that share a base cluster with row a."""
    for top, bottom, joined in _joined(codes, missing_code, start, stop):
        count[top:bottom] += joined.sum(axis=1)


@kernel
def list_partners(codes, missing_code, start_of, start, stop, partner):
    """Fill `partner` with the rows that `count_partners` counts, in ascending order."""
    for top, bottom, joined in _joined(codes, missing_code, start, stop):
        partner[start_of[top] : start_of[bottom]] = np.nonzero(joined)[1] + top


def _blocks(pattern, start, stop):
    """Split rows start..stop; yield the bounds of a block, its pairs, and their rows a and b."""
    start_of, partner = pattern
    top = start
    while top < stop:
        bottom = int(np.searchsorted(start_of, start_of[top] + _PAIRS, side="right")) - 1
        bottom = min(max(bottom, top + 1), stop)
        pairs = slice(start_of[top], start_of[bottom])
        a = np.repeat(np.arange(top, bottom), np.diff(start_of[top : bottom + 1]))
        yield top, bottom, pairs, a, partner[pairs]
        top = bottom


def _votes(votes, a, b):
    """Yield for every partition its strength, which pairs it labels and which of them it joins."""
    codes, missing_code, strength = votes
    for i in range(codes.shape[1]):
        one, other = codes[a, i], codes[b, i]
        seen = (one != missing_code) & (other != missing_code)
        yield strength[i], seen, seen & (one == other)


def _sum_votes(votes, a, b):
    """Return the strength of the partitions that join a and b, that of all, and whether all join.

    Sums over the partitions that label both rows are extrapolated to all partitions.
    """
    joining, total = np.zeros(len(a)), np.zeros(len(a))
    n_joining, n_seen = np.zeros(len(a), np.int64), np.zeros(len(a), np.int64)
    for strength, seen, equal in _votes(votes, a, b):
        n_seen += seen
        n_joining += equal
        total += seen * strength
        joining += equal * strength
    factor = votes[0].shape[1] / n_seen
    return joining * factor, total * factor, n_joining == n_seen


@kernel
def pace(votes, pattern, age, S, start, stop, W):
    """Fill `W` with min(age / 2B, 1), where B = Σ_i strength_i (S - S_i)² is the loss of a pair."""
    for _, _, pairs, a, b in _blocks(pattern, start, stop):
        joining, total, unanimous = _sum_votes(votes, a, b)
        # S_i is 0 or 1: Σ strength (S - S_i)² follows from two sums
        value = S[pairs]
        loss = total * value**2 - (2.0 * value - 1.0) * joining
        is_hard = ~unanimous & (2.0 * loss > age)
        W[pairs] = np.divide(age, 2.0 * loss, out=np.ones(len(a)), where=is_hard)


@kernel
def complete(votes, pattern, penalty, weights, W, start, stop, S, d):
    """Fill `S` with the sparse matrix of the weighted votes and the embedding, and `d`.

    penalty : Y : embedding of the rows; lift; rho, gamma : penalties of the rank and of entries.
        The squared distance of a pair is |y_a - y_b|² + lift_a + lift_b.
    d[a, i] : part of row a, over its partners b > a, of the disagreement Σ r_a r_b W² (S - S_i)²
        with partition i
    """
    Y, lift, rho, gamma = penalty
    for top, bottom, pairs, a, b in _blocks(pattern, start, stop):
        joining, total, unanimous = _sum_votes(votes, a, b)
        distance = lift[a] + lift[b]
        for y in Y.T:
            distance += (y[a] - y[b]) ** 2
        squared = W[pairs] ** 2
        value = (joining - rho * distance / (2.0 * squared)) / total
        value[value < np.sqrt(gamma / (total * squared)) * (1.0 - TIE)] = 0.0
        value = np.where(unanimous, 1.0, np.minimum(value, 1.0))
        S[pairs] = value
        scale = np.where(unanimous, 0.0, weights[a] * weights[b] * squared)
        parted, joined = scale * value**2, scale * (1.0 - value) ** 2
        for i, (_, seen, equal) in enumerate(_votes(votes, a, b)):
            cost = np.where(seen, np.where(equal, joined, parted), 0.0)
            d[top:bottom, i] = np.bincount(a - top, cost, bottom - top)
