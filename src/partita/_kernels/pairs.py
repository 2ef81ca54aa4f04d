"""Pairs of rows that some partition joins, listed row by row, and one step of learning on them.

The list is the upper triangle of a sparse pattern: the partners b > a of row a are
`partner[start_of[a]:start_of[a + 1]]`. Agreements of a pair are counted from the codes each time,
so that memory does not grow with the number of partitions. Records:

votes     codes, missing_code, strength : weight of every partition
pattern   start_of, partner
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

# With 14 of 20 votes and a threshold of 0.3 a pair is exactly on the threshold. Rounding must not
# decide: on a tie the pair stays.
TIE = 1e-14


@jit
def _is_joined(codes, missing_code, a, b):
    for i in range(codes.shape[1]):
        if codes[a, i] == codes[b, i] and codes[a, i] != missing_code:
            return True
    return False


@jit
def count_partners(codes, missing_code, start, stop, count):
    """Add to `count[a]` the number of rows b > a that share a base cluster with row a."""
    for a in range(start, stop):
        for b in range(a + 1, len(codes)):
            count[a] += _is_joined(codes, missing_code, a, b)


@jit
def list_partners(codes, missing_code, start_of, start, stop, partner):
    """Fill `partner` with the rows that `count_partners` counts, in ascending order."""
    for a in range(start, stop):
        position = start_of[a]
        for b in range(a + 1, len(codes)):
            if _is_joined(codes, missing_code, a, b):
                partner[position] = b
                position += 1


@jit
def _sum_votes(codes, missing_code, strength, a, b):
    """Return the strength of the partitions that join a and b, that of all, and whether all join.

    Sums over the partitions that label both rows are extrapolated to all partitions.
    """
    m = codes.shape[1]
    joining = 0.0
    total = 0.0
    n_joining = 0
    n_seen = 0
    for i in range(m):  # selections instead of branches, which would be mispredicted
        seen = (codes[a, i] != missing_code) & (codes[b, i] != missing_code)
        equal = seen & (codes[a, i] == codes[b, i])
        n_seen += seen
        n_joining += equal
        total += strength[i] if seen else 0.0
        joining += strength[i] if equal else 0.0
    factor = m / n_seen
    return joining * factor, total * factor, n_joining == n_seen


@jit
def pace(votes, pattern, age, S, start, stop, W):
    """Fill `W` with min(age / 2B, 1), where B = Σ_i strength_i (S - S_i)² is the loss of a pair."""
    codes, missing_code, strength = votes
    start_of, partner = pattern
    for a in range(start, stop):
        for t in range(start_of[a], start_of[a + 1]):
            joining, total, unanimous = _sum_votes(codes, missing_code, strength, a, partner[t])
            # S_i is 0 or 1: Σ strength (S - S_i)² follows from two sums
            loss = total * S[t] ** 2 - (2.0 * S[t] - 1.0) * joining
            W[t] = 1.0 if unanimous or 2.0 * loss <= age else age / (2.0 * loss)


@jit
def complete(votes, pattern, penalty, weights, W, start, stop, S, d):
    """Fill `S` with the sparse matrix of the weighted votes and the embedding, and `d`.

    penalty : Y : embedding of the rows; lift; rho, gamma : penalties of the rank and of entries.
        The squared distance of a pair is |y_a - y_b|² + lift_a + lift_b.
    d[a, i] : part of row a, over its partners b > a, of the disagreement Σ r_a r_b W² (S - S_i)²
        with partition i
    """
    codes, missing_code, strength = votes
    start_of, partner = pattern
    Y, lift, rho, gamma = penalty
    m = codes.shape[1]
    for a in range(start, stop):
        d[a] = 0.0
        for t in range(start_of[a], start_of[a + 1]):
            b = partner[t]
            joining, total, unanimous = _sum_votes(codes, missing_code, strength, a, b)
            if unanimous:
                S[t] = 1.0
                continue
            distance = lift[a] + lift[b]
            for k in range(Y.shape[1]):
                distance += (Y[a, k] - Y[b, k]) ** 2
            squared = W[t] ** 2
            value = (joining - rho * distance / (2.0 * squared)) / total
            if value < np.sqrt(gamma / (total * squared)) * (1.0 - TIE):
                value = 0.0
            S[t] = min(value, 1.0)
            scale = weights[a] * weights[b] * squared
            parted = scale * S[t] ** 2
            joined = scale * (1.0 - S[t]) ** 2
            for i in range(m):
                seen = (codes[a, i] != missing_code) & (codes[b, i] != missing_code)
                cost = joined if codes[a, i] == codes[b, i] else parted
                d[a, i] += cost if seen else 0.0
