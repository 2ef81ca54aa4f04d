"""Element-wise step of co-association self-enhancement, with one pass over every matrix.

The record `state` holds the matrices G, U and Q, see `enhance_rows`.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel

N_SUMS = 12
_ROWS = 32  # whose sums are formed together, column by column
_COLUMNS = 256  # of a tile, whose arrays stay in the cache


def _clip(x):
    return np.minimum(np.maximum(x, 0.0), 1.0)


def _pull(a, u, p, f, penalties, locked):
    """Return gamma1 (A - E) + Y1 + gamma2 F - Y2, from which the next C follows.

    Y2 is gamma2 (p - F).
    """
    lam, gamma1, gamma2 = penalties
    pull = gamma1 * a + np.where(locked, u, (lam - gamma1) * u)
    return pull + gamma2 * (2.0 * f) - gamma2 * p


def _error(a, c, u, penalties, locked):
    """Return E where it is free (then Y1 = lam E), and Y1 where E is fixed at 0 (locked)."""
    lam, gamma1, _ = penalties
    # for gamma1 = 1 in the order of operations u + a - c
    fixed = u + gamma1 * a - gamma1 * c
    return np.where(locked, fixed, (gamma1 * (a - c) + lam * u) / (gamma1 + lam))


def _step(a, c, b, u, q, penalties, locked, mean):
    """Return the new G, U and Q of entries, and the terms of the sums of `enhance_rows`.

    `mean` returns the mean of entries and their transposes.
    """
    k = 0.5 * (penalties[1] + penalties[2])
    f_old = _clip(mean(q))
    y = q - f_old
    p = c + y
    f = _clip(mean(p))
    v = _error(a, c, u, penalties, locked)
    step, size = np.square(v - u), np.square(u)
    terms = (
        np.square(c - b),
        np.square(b),
        np.square(f - f_old),
        np.square(f_old),
        np.square(c - f),
        np.square(y),
        np.where(locked, 0.0, step),
        np.where(locked, 0.0, size),
        np.where(locked, step, 0.0),
        np.where(locked, size, 0.0),
        # C solves (2 Phi + 2 k I) C = pull, so that Phi C = pull / 2 - k C
        c * (0.5 * _pull(a, u, q, f_old, penalties, locked) - k * c),
        np.where(locked, 0.0, np.square(v)),
    )
    return (_pull(a, v, p, f, penalties, locked), v, p), terms


def _add_in_order(totals, terms):
    """Return totals plus the sums of the rows of `terms`, from left to right."""
    return np.cumsum(np.column_stack([totals, terms]), axis=1)[:, -1]


@kernel
def enhance_rows(A, locked, r, penalties, C, start, stop, state, sums):
    """Update `state` in place for rows start..stop and the columns symmetric to them; fill `sums`.

    Entries on the diagonal are left to `enhance_diagonal`. `penalties` are lam, gamma1 and gamma2.
    On entry C is new, G is the previous C, U the old E or Y1 (see `_error`), and Q the old
    C + Y2 / gamma2, from which F = clip((Q + Qᵀ) / 2) and Y2 = gamma2 (Q - F) follow. On exit G is
    the matrix that the inverse is applied to next. `sums` are weighted sums of squares:
    0 C - C_old, 1 C_old, 2 F - F_old, 3 F_old, 4 C - F, 5 Y2_old / gamma2, 6 U - U_old where free,
    7 U_old where free, 8 and 9 the same where locked, 10 tr(Cᵀ Phi C), 11 E.

    Sums run over 32 rows of a column, then over the columns, then over groups of 32 rows. Matrices
    of single precision are computed in double precision and rounded.
    """
    G, U, Q = state
    n = len(r)
    sums[:] = 0.0
    for top in range(start, stop, _ROWS):
        rows = slice(top, min(top + _ROWS, stop))
        of_group = np.zeros(N_SUMS)
        for left in range(top, n, _COLUMNS):
            columns = slice(left, min(left + _COLUMNS, n))
            own = np.arange(rows.start, rows.stop)[:, None]
            above = np.arange(columns.start, columns.stop) > own
            # an entry and its transpose are computed together
            c, b, u, q = (
                np.stack([X[rows, columns], X[columns, rows].T], dtype=np.float64)
                for X in (C, G, U, Q)
            )
            a = A[rows, columns].astype(np.float64, copy=False)
            entries = a, c, b, u, q, penalties, locked[rows, columns]
            new, terms = _step(*entries, lambda x: 0.5 * (x[0] + x[1]))
            for X, values in zip(state, new, strict=True):
                np.copyto(X[rows, columns], values[0], where=above)
                np.copyto(X[columns, rows].T, values[1], where=above)
            weights = np.where(above, r[rows, None] * r[columns], 0.0)
            both = (x[0] + x[1] if x.ndim == 3 else x + x for x in terms)
            by_column = [np.add.reduce(weights * x, axis=0) for x in both]
            of_group = _add_in_order(of_group, np.asarray(by_column))
        sums += of_group


def enhance_diagonal(A, locked, r, penalties, C, state, own, sums):
    """Update the diagonals of `state`, and `own`, in place; add to `sums`.

    A row of weight r stands for r (r - 1) pairs of different samples, whose entries are on the
    diagonals of the matrices, and for r pairs of a sample with itself. The entries of the latter
    are `own`, with the lines A, C, G, U and Q; they are never locked. O(n): not compiled.
    """
    for of_pairs in (True, False):
        if of_pairs:
            a, c, b, u, q = (X.diagonal().astype(np.float64) for X in (A, C, *state))
            is_locked, weights = locked.diagonal(), np.maximum(r * (r - 1.0), 0.0)
        else:
            a, c, b, u, q = own
            is_locked, weights = np.zeros(len(r), bool), r
        new, terms = _step(a, c, b, u, q, penalties, is_locked, lambda x: x)
        for X, line, values in zip(state, own[2:], new, strict=True):
            if of_pairs:
                np.fill_diagonal(X, values)
            else:
                line[:] = values
        sums += (weights * np.asarray(terms)).sum(axis=1)
