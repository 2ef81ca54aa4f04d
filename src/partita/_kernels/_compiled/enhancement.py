"""Element-wise step of co-association self-enhancement, with one pass over every matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_TILE = 32  # a tile of five matrices and its transpose, 80 kB, stay in the second-level cache
_N_SUMS = 12


@jit(inner=True, allocates=False)
def _clip(x):
    return min(max(x, 0.0), 1.0)


@jit(inner=True, allocates=False)
def _pull(a, u, p, f, penalties, locked):
    """Return gamma1 (A - E) + Y1 + gamma2 F - Y2, from which the next C follows.

    Y2 is gamma2 (p - F).
    """
    lam, gamma1, gamma2 = penalties
    pull = gamma1 * a + (u if locked else (lam - gamma1) * u)
    return pull + gamma2 * (2.0 * f) - gamma2 * p


@jit(inner=True, allocates=False)
def _error(a, c, u, penalties, locked):
    """Return E where it is free (then Y1 = lam E), and Y1 where E is fixed at 0 (locked)."""
    lam, gamma1, _ = penalties
    if locked:
        return u + gamma1 * a - gamma1 * c
    return (gamma1 * (a - c) + lam * u) / (gamma1 + lam)


@jit(inner=True, allocates=False)
def _squares(x, y):
    return x * x + y * y


def enhance_rows(A, locked, r, penalties, C, start, stop, state, sums):
    sums[:] = 0.0
    G, U, Q = state
    of_group, by_column = np.empty(_N_SUMS), np.empty((_TILE, _N_SUMS))
    _enhance_rows(A, locked, r, penalties, C, start, stop, G, U, Q, of_group, by_column, sums)


@jit(allocates=False)
def _enhance_rows(A, locked, r, penalties, C, start, stop, G, U, Q, of_group, by_column, sums):
    """Update G, U, Q and `sums` as `enhance_rows` does; `of_group` and `by_column` are scratch."""
    n = len(r)
    k = 0.5 * (penalties[1] + penalties[2])
    for top in range(start, stop, _TILE):
        bottom = top + _TILE if top + _TILE < stop else stop
        for s in range(_N_SUMS):
            of_group[s] = 0.0
        for left in range(top, n, _TILE):
            right = left + _TILE if left + _TILE < n else n
            for j in range(right - left):
                for s in range(_N_SUMS):
                    by_column[j, s] = 0.0
            for i in range(top, bottom):
                for j in range(left if left > i else i + 1, right):
                    w = r[i] * r[j]
                    # matrices of single precision are computed in double precision
                    a = np.float64(A[i, j])
                    fixed = locked[i, j]
                    c, c_t = np.float64(C[i, j]), np.float64(C[j, i])
                    b, b_t = np.float64(G[i, j]), np.float64(G[j, i])
                    u, u_t = np.float64(U[i, j]), np.float64(U[j, i])
                    q, q_t = np.float64(Q[i, j]), np.float64(Q[j, i])
                    f_old = _clip(0.5 * (q + q_t))
                    y, y_t = q - f_old, q_t - f_old
                    p, p_t = c + y, c_t + y_t
                    f = _clip(0.5 * (p + p_t))
                    v = _error(a, c, u, penalties, fixed)
                    v_t = _error(a, c_t, u_t, penalties, fixed)
                    step, size = w * _squares(v - u, v_t - u_t), w * _squares(u, u_t)
                    total = by_column[j - left]
                    total[0] += w * _squares(c - b, c_t - b_t)
                    total[1] += w * _squares(b, b_t)
                    total[2] += w * _squares(f - f_old, f - f_old)
                    total[3] += w * _squares(f_old, f_old)
                    total[4] += w * _squares(c - f, c_t - f)
                    total[5] += w * _squares(y, y_t)
                    if fixed:
                        total[8] += step
                        total[9] += size
                    else:
                        total[6] += step
                        total[7] += size
                        total[11] += w * _squares(v, v_t)
                    half_pull = 0.5 * _pull(a, u, q, f_old, penalties, fixed)
                    half_pull_t = 0.5 * _pull(a, u_t, q_t, f_old, penalties, fixed)
                    total[10] += w * (c * (half_pull - k * c) + c_t * (half_pull_t - k * c_t))
                    G[i, j] = _pull(a, v, p, f, penalties, fixed)
                    G[j, i] = _pull(a, v_t, p_t, f, penalties, fixed)
                    U[i, j], U[j, i] = v, v_t
                    Q[i, j], Q[j, i] = p, p_t
            for j in range(right - left):
                for s in range(_N_SUMS):
                    of_group[s] += by_column[j, s]
        for s in range(_N_SUMS):
            sums[s] += of_group[s]
