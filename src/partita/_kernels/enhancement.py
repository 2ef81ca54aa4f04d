"""Element-wise step of co-association self-enhancement, with one pass over every matrix.

The record `state` holds the matrices G, U and Q, see `enhance_rows`.
"""

from __future__ import annotations

from partita._kernels._compiled._jit import jit

_TILE = 32  # a tile of five matrices and its transpose, 80 kB, stay in the second-level cache
N_SUMS = 12


@jit
def _clip(x):
    return min(max(x, 0.0), 1.0)


@jit
def _pull(a, u, p, f, lam, locked):
    """Return A - E + Y1 + F - Y2, from which the next C is computed, with Y2 = p - F."""
    return a + (u if locked else (lam - 1.0) * u) + 2.0 * f - p


@jit
def _error(a, c, u, lam, locked):
    """Return E where it is free (then Y1 = lam E), and Y1 where E is fixed at 0 (locked)."""
    return u + a - c if locked else (a - c + lam * u) / (1.0 + lam)


@jit
def _squares(x, y):
    return x * x + y * y


@jit
def enhance_rows(A, locked, r, lam, C, start, stop, state, sums):
    """Update `state` in place for rows start..stop and the columns symmetric to them; fill `sums`.

    Entries on the diagonal are left to `enhance_diagonal`. On entry C is new, G is the previous C,
    U the old E or Y1 (see `_error`), and Q the old C + Y2, from which F = clip((Q + Qᵀ) / 2) and
    Y2 = Q - F follow. On exit G is the matrix that the inverse is applied to next. `sums` are
    weighted sums of squares:
    0 C - C_old, 1 C_old, 2 F - F_old, 3 F_old, 4 C - F, 5 Y2_old, 6 U - U_old where free,
    7 U_old where free, 8 and 9 the same where locked, 10 tr(Cᵀ Phi C), 11 E.
    """
    G, U, Q = state
    n = len(r)
    c_step = c_size = f_step = f_size = gap = y_size = 0.0
    free_step = free_size = locked_step = locked_size = trace = error = 0.0
    for top in range(start, stop, _TILE):
        for left in range(top, n, _TILE):
            right = min(left + _TILE, n)
            for i in range(top, min(top + _TILE, stop)):
                for j in range(max(left, i + 1), right):
                    w = r[i] * r[j]
                    a = A[i, j]
                    fixed = locked[i, j]
                    c, c_t = C[i, j], C[j, i]
                    b, b_t = G[i, j], G[j, i]
                    u, u_t = U[i, j], U[j, i]
                    q, q_t = Q[i, j], Q[j, i]
                    f_old = _clip(0.5 * (q + q_t))
                    y, y_t = q - f_old, q_t - f_old
                    p, p_t = c + y, c_t + y_t
                    f = _clip(0.5 * (p + p_t))
                    v, v_t = _error(a, c, u, lam, fixed), _error(a, c_t, u_t, lam, fixed)
                    if fixed:
                        locked_step += w * _squares(v - u, v_t - u_t)
                        locked_size += w * _squares(u, u_t)
                    else:
                        free_step += w * _squares(v - u, v_t - u_t)
                        free_size += w * _squares(u, u_t)
                        error += w * _squares(v, v_t)
                    c_step += w * _squares(c - b, c_t - b_t)
                    c_size += w * _squares(b, b_t)
                    f_step += w * _squares(f - f_old, f - f_old)
                    f_size += w * _squares(f_old, f_old)
                    gap += w * _squares(c - f, c_t - f)
                    y_size += w * _squares(y, y_t)
                    # C solves (2 Phi + 2 I) C = pull, so that Phi C = pull / 2 - C
                    trace += w * c * (0.5 * _pull(a, u, q, f_old, lam, fixed) - c)
                    trace += w * c_t * (0.5 * _pull(a, u_t, q_t, f_old, lam, fixed) - c_t)
                    G[i, j] = _pull(a, v, p, f, lam, fixed)
                    G[j, i] = _pull(a, v_t, p_t, f, lam, fixed)
                    U[i, j], U[j, i] = v, v_t
                    Q[i, j], Q[j, i] = p, p_t
    values = (
        c_step, c_size, f_step, f_size, gap, y_size,
        free_step, free_size, locked_step, locked_size, trace, error,
    )  # fmt: skip
    for k in range(N_SUMS):
        sums[k] = values[k]


@jit
def _enhance_entry(a, c, b, u, q, lam, locked, w, sums):
    """Add the squares of a diagonal entry to `sums`; return its new G, U and Q."""
    f_old = _clip(q)
    p = c + q - f_old
    f = _clip(p)
    v = _error(a, c, u, lam, locked)
    sums[0] += w * (c - b) ** 2
    sums[1] += w * b**2
    sums[2] += w * (f - f_old) ** 2
    sums[3] += w * f_old**2
    sums[4] += w * (c - f) ** 2
    sums[5] += w * (q - f_old) ** 2
    sums[8 if locked else 6] += w * (v - u) ** 2
    sums[9 if locked else 7] += w * u**2
    sums[10] += w * c * (0.5 * _pull(a, u, q, f_old, lam, locked) - c)
    sums[11] += 0.0 if locked else w * v**2
    return _pull(a, v, p, f, lam, locked), v, p


@jit
def enhance_diagonal(A, locked, r, lam, C, state, own, sums):
    """Update the diagonals of `state`, and `own`, in place; add to `sums`.

    A row of weight r stands for r (r - 1) pairs of different samples, whose entries are on the
    diagonals of the matrices, and for r pairs of a sample with itself. The entries of the latter
    are `own`, with the lines A, C, G, U and Q; they are never locked.
    """
    G, U, Q = state
    for i in range(len(r)):
        pairs = max(r[i] * (r[i] - 1.0), 0.0)
        G[i, i], U[i, i], Q[i, i] = _enhance_entry(
            A[i, i], C[i, i], G[i, i], U[i, i], Q[i, i], lam, locked[i, i], pairs, sums
        )
        own[2, i], own[3, i], own[4, i] = _enhance_entry(
            own[0, i], own[1, i], own[2, i], own[3, i], own[4, i], lam, False, r[i], sums
        )
