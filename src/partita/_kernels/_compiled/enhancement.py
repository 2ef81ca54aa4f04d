"""Element-wise step of co-association self-enhancement, with one pass over every matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_WIDTH = 32  # of a tile; ten tiles, 80 kB, stay in the second-level cache
_N_SUMS = 12
_MATRICES = 5  # A, C, G, U, Q

# unsigned, as numba counts signed indices from the end if they could be negative
_0, _1, _W, _T = np.array([0, 1, _WIDTH, _WIDTH**2], np.uint64)  # _T: numbers of a tile
# places in the scratch `x`: tiles of A and `locked`, and of the others with their transposes
_LOCKED, _C, _C_T, _B, _B_T, _U, _U_T, _Q, _Q_T = _T * np.arange(1, 10, dtype=np.uint64)
# places in the scratch `by_column`: the sums, then the weights of the columns
_S = _W * np.arange(_N_SUMS + 1, dtype=np.uint64)
_S0, _S1, _S2, _S3, _S4, _S5, _S6, _S7, _S8, _S9, _S10, _S11, _WEIGHTS = _S


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
    fixed = u + gamma1 * a - gamma1 * c
    # `/` would test for zero, one number at a time
    free = np.true_divide(gamma1 * (a - c) + lam * u, gamma1 + lam)
    return fixed if locked else free


@jit(inner=True, allocates=False)
def _squares(x, y):
    return x * x + y * y


def enhance_rows(A, locked, r, penalties, C, start, stop, state, sums):
    """Copy a tile and its transpose to scratch, where neighbors in memory are computed together."""
    sums[:] = 0.0
    matrices = tuple(X.reshape(-1) for X in (A, C, *state))
    x, by_column = np.empty(2 * _MATRICES * _WIDTH**2), np.empty((_N_SUMS + 1) * _WIDTH)
    of_group = np.empty(_N_SUMS)
    _enhance_rows(
        matrices, locked.reshape(-1), r, penalties, start, stop, x, by_column, of_group, sums
    )


@jit(allocates=False)
def _enhance_rows(matrices, locked, r, penalties, start, stop, x, by_column, of_group, sums):
    """Update G, U, Q and `sums` like `enhance_rows`.

    `x`, `by_column` and `of_group` are scratch.
    """
    n, top, end = np.uint64(len(r)), np.uint64(start), np.uint64(stop)
    while top < end:
        bottom = min(top + _W, end)
        for s in range(_N_SUMS):
            of_group[s] = 0.0
        left = top
        while left < n:
            right = min(left + _W, n)
            for j in range(len(by_column)):
                by_column[j] = 0.0
            for j in range(left, right):
                by_column[_WEIGHTS + j - left] = r[j]
            _load(locked, n, top, bottom, left, right, _LOCKED, x)
            for m in range(_MATRICES):
                place = np.uint64(2 * m) * _T
                _load(matrices[m], n, top, bottom, left, right, place, x)
                if m > 0:  # A is symmetric
                    _load_transpose(matrices[m], n, top, bottom, left, right, place + _T, x)
            for i in range(top, bottom):
                begin = _0 if left > i else i + _1 - left
                _step((i - top) * _W, begin, right - left, r[i], penalties, x, by_column)
            for m in range(2, _MATRICES):
                _store(x, np.uint64(2 * m) * _T, n, top, bottom, left, right, matrices[m])
            for j in range(right - left):
                for s in range(_N_SUMS):
                    of_group[s] += by_column[np.uint64(s) * _W + j]
            left += _W
        for s in range(_N_SUMS):
            sums[s] += of_group[s]
        top += _W


@jit(inner=True, allocates=False)
def _load(X, n, top, bottom, left, right, place, x):
    """Copy a tile of the flat matrix X to `x`."""
    for i in range(top, bottom):
        row, target = i * n, place + (i - top) * _W - left
        for j in range(left, right):
            x[target + j] = X[row + j]


@jit(inner=True, allocates=False)
def _load_transpose(X, n, top, bottom, left, right, place, x):
    """Copy the transpose of the tile on the other side of the diagonal to `x`."""
    for j in range(left, right):
        row, target = j * n, place + (j - left) - top * _W
        for i in range(top, bottom):
            x[target + i * _W] = X[row + i]


@jit(inner=True, allocates=False)
def _store(x, place, n, top, bottom, left, right, X):
    """Copy the entries above the diagonal, and their transposes, from `x` to X."""
    for i in range(top, bottom):
        row, source = i * n, place + (i - top) * _W - left
        for j in range(left if left > i else i + _1, right):
            X[row + j] = x[source + j]
    for j in range(left, right):
        row, source = j * n, place + _T + (j - left) - top * _W
        for i in range(top, bottom if bottom < j else j):
            X[row + i] = x[source + i * _W]


@jit(inner=True, allocates=False)
def _step(row, begin, end, weight, penalties, x, by_column):
    """Update a row of the tiles in `x`, in double precision, and the sums in `by_column`."""
    k = 0.5 * (penalties[1] + penalties[2])
    for j in range(begin, end):
        e = row + j
        w = weight * by_column[_WEIGHTS + j]
        a, fixed = x[e], x[_LOCKED + e] > 0.0
        c, c_t = x[_C + e], x[_C_T + e]
        b, b_t = x[_B + e], x[_B_T + e]
        u, u_t = x[_U + e], x[_U_T + e]
        q, q_t = x[_Q + e], x[_Q_T + e]
        f_old = _clip(0.5 * (q + q_t))
        y, y_t = q - f_old, q_t - f_old
        p, p_t = c + y, c_t + y_t
        f = _clip(0.5 * (p + p_t))
        v = _error(a, c, u, penalties, fixed)
        v_t = _error(a, c_t, u_t, penalties, fixed)
        step, size = w * _squares(v - u, v_t - u_t), w * _squares(u, u_t)
        half_pull = 0.5 * _pull(a, u, q, f_old, penalties, fixed)
        half_pull_t = 0.5 * _pull(a, u_t, q_t, f_old, penalties, fixed)
        by_column[_S0 + j] += w * _squares(c - b, c_t - b_t)
        by_column[_S1 + j] += w * _squares(b, b_t)
        by_column[_S2 + j] += w * _squares(f - f_old, f - f_old)
        by_column[_S3 + j] += w * _squares(f_old, f_old)
        by_column[_S4 + j] += w * _squares(c - f, c_t - f)
        by_column[_S5 + j] += w * _squares(y, y_t)
        by_column[_S6 + j] += 0.0 if fixed else step
        by_column[_S7 + j] += 0.0 if fixed else size
        by_column[_S8 + j] += step if fixed else 0.0
        by_column[_S9 + j] += size if fixed else 0.0
        by_column[_S10 + j] += w * (c * (half_pull - k * c) + c_t * (half_pull_t - k * c_t))
        by_column[_S11 + j] += 0.0 if fixed else w * _squares(v, v_t)
        x[_B + e] = _pull(a, v, p, f, penalties, fixed)
        x[_B_T + e] = _pull(a, v_t, p_t, f, penalties, fixed)
        x[_U + e], x[_U_T + e] = v, v_t
        x[_Q + e], x[_Q_T + e] = p, p_t
