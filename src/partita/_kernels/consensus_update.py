"""One update of a consensus matrix under a Kullback-Leibler and a nuclear-norm term.

Record `evidence`: seen[a, b], the number of matrices that have an entry for the pair; free[a, b],
whether the entry may change; weights of the rows.
"""

from __future__ import annotations

import math

from partita._kernels._compiled._jit import jit

_EPS = 2.0**-52


@jit
def update_rows(matrix, products, pull, evidence, first, start, stop, out, energy):
    """Fill rows of `out` with the next matrix, and `energy` with their terms of the objective.

    products : D⁺A and D⁻A from row `first` on; start..stop count from there too
    pull : C

    The energy is that of `matrix`, not of `out`: r_a Σ_b r_b [x (DA)_ab + m (x log x + (1 - x)
    log(1 - x)) + x C_ab] with m = seen[a, b], the last two terms for free pairs only.
    """
    plus, minus = products
    seen, free, weights = evidence
    for row in range(start, stop):
        a = first + row
        total = 0.0
        for b in range(matrix.shape[1]):
            x = matrix[a, b]
            p = plus[row, b]
            q = minus[row, b]
            share = x * (p - q)
            out[a, b] = x
            if free[a, b]:
                m = float(seen[a, b])
                c = pull[a, b]
                low = max(x, _EPS)
                high = max(1.0 - x, _EPS)
                log_low = math.log(low)
                log_high = math.log(high)
                share += m * (x * log_low + (1.0 - x) * log_high) + x * c
                g = (2.0 * m + max(c, 0.0) + 2.0 * p) / low + 2.0 * m / high
                h = (max(-c, 0.0) + 2.0 * q) * x
                f = (
                    m * (log_low - log_high) - 2.0 * m / high
                )  # never positive: no cancellation below
                out[a, b] = min((math.sqrt(f * f + 4.0 * g * h) - f) / (2.0 * g), 1.0)
            total += weights[b] * share
        energy[a] = weights[a] * total


@jit
def divergence_rows(matrix, pull, evidence, start, stop, energy):
    """Fill rows start..stop of `energy` with that of `update_rows` without its first term."""
    seen, free, weights = evidence
    for a in range(start, stop):
        total = 0.0
        for b in range(matrix.shape[1]):
            if free[a, b]:
                x = matrix[a, b]
                log_low = math.log(max(x, _EPS))
                log_high = math.log(max(1.0 - x, _EPS))
                share = float(seen[a, b]) * (x * log_low + (1.0 - x) * log_high)
                total += weights[b] * (share + x * pull[a, b])
        energy[a] = weights[a] * total
