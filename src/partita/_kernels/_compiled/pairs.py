"""Pairs of rows that some partition joins, listed row by row, and one step of learning on them.

Agreements of a pair are counted from the codes each time, so that memory does not grow with the
number of partitions.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_TIE = 1e-14


@jit
def _is_joined(codes, missing_code, a, b):
    for i in range(codes.shape[1]):
        if codes[a, i] == codes[b, i] and codes[a, i] != missing_code:
            return True
    return False


@jit
def count_partners(codes, missing_code, start, stop, count):
    for a in range(start, stop):
        for b in range(a + 1, len(codes)):
            count[a] += _is_joined(codes, missing_code, a, b)


@jit
def list_partners(codes, missing_code, start_of, start, stop, partner):
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
            if value < np.sqrt(gamma / (total * squared)) * (1.0 - _TIE):
                value = 0.0
            S[t] = min(value, 1.0)
            scale = weights[a] * weights[b] * squared
            parted = scale * S[t] ** 2
            joined = scale * (1.0 - S[t]) ** 2
            for i in range(m):
                seen = (codes[a, i] != missing_code) & (codes[b, i] != missing_code)
                cost = joined if codes[a, i] == codes[b, i] else parted
                d[a, i] += cost if seen else 0.0
