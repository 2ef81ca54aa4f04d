"""Pairs of rows that some partition joins, listed row by row, and one step of learning on them.

The list is the upper half of a sparse pattern: row a's partners b > a are
`partner[start_of[a]:start_of[a + 1]]`. What the partitions say of a pair is read from the labels
each time, so that memory does not grow with their number.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

# With 14 of 20 votes and a threshold of 0.3 a pair lies exactly on the edge, where rounding must
# not decide: on a tie the pair stays.
TIE = 1e-14


@jit
def _joined(labels, missing, a, b):
    for i in range(labels.shape[1]):
        if labels[a, i] == labels[b, i] and labels[a, i] != missing:
            return True
    return False


@jit
def count_partners(labels, missing, start, stop, count):
    """count[a] = rows b > a that share a cluster with a in at least one partition."""
    for a in range(start, stop):
        for b in range(a + 1, len(labels)):
            count[a] += _joined(labels, missing, a, b)


@jit
def list_partners(labels, missing, start_of, start, stop, partner):
    """Write down the rows that `count_partners` counted, in ascending order."""
    for a in range(start, stop):
        position = start_of[a]
        for b in range(a + 1, len(labels)):
            if _joined(labels, missing, a, b):
                partner[position] = b
                position += 1


@jit
def _votes(labels, missing, strength, a, b):
    """Strength of the partitions that join a and b, of all that label both, and are they one?

    Sums over the partitions that label both rows, blown up to all partitions.
    """
    m = labels.shape[1]
    joining = 0.0
    total = 0.0
    n_joining = 0
    n_seen = 0
    for i in range(m):  # selections instead of branches, which nothing could predict
        seen = (labels[a, i] != missing) & (labels[b, i] != missing)
        equal = seen & (labels[a, i] == labels[b, i])
        n_seen += seen
        n_joining += equal
        total += strength[i] if seen else 0.0
        joining += strength[i] if equal else 0.0
    blow_up = m / n_seen
    return joining * blow_up, total * blow_up, n_joining == n_seen


@jit
def pace(labels, missing, strength, age, start_of, partner, S, start, stop, W):
    """W = min(age / 2B, 1) with the loss B = Σ_i strength_i (S - S_i)² of every pair."""
    for a in range(start, stop):
        for t in range(start_of[a], start_of[a + 1]):
            joining, total, unanimous = _votes(labels, missing, strength, a, partner[t])
            # S_i is 0 or 1: Σ strength (S - S_i)² needs two sums only
            loss = total * S[t] ** 2 - (2.0 * S[t] - 1.0) * joining
            W[t] = 1.0 if unanimous or 2.0 * loss <= age else age / (2.0 * loss)


@jit
def complete(
    labels, missing, strength, Y, lift, rho, gamma, weights, start_of, partner, W, start, stop, S, d
):
    """The sparse S that the weighted votes and the embedding ask for, and what it costs.

    A pair's squared distance in the embedding is |y_a - y_b|² + lift_a + lift_b. `d[a, i]` gets
    row a's share, over its partners b > a, of partition i's disagreement Σ r_a r_b W² (S - S_i)².
    """
    m = labels.shape[1]
    for a in range(start, stop):
        d[a] = 0.0
        for t in range(start_of[a], start_of[a + 1]):
            b = partner[t]
            joining, total, unanimous = _votes(labels, missing, strength, a, b)
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
                seen = (labels[a, i] != missing) & (labels[b, i] != missing)
                cost = joined if labels[a, i] == labels[b, i] else parted
                d[a, i] += cost if seen else 0.0
