"""Element-wise step of co-association self-enhancement, with one pass over every matrix.

The record `state` holds the matrices G, U and Q, see `enhance_rows`.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel

N_SUMS = 12
_ROWS = 32  # whose sums are formed together, column by column
_COLUMNS = 256  # of a tile: wide, as a call of NumPy takes as long as some hundred entries
_ARRAYS = 17 + N_SUMS  # of a tile


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


def _step(a, c, b, u, q, penalties, locked):
    """Return the new G, U and Q of entries, and the terms of the sums of `enhance_rows`.

    The entries are on the diagonal: they are their own transposes.
    """
    k = 0.5 * (penalties[1] + penalties[2])
    f_old = _clip(q)
    y = q - f_old
    p = c + y
    f = _clip(p)
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


class _Tile:
    """The step on a block of entries and their transposes, which are computed together.

    Does what `_step` does, in place: an array made for every operation would not stay in the cache.
    Locked entries are few; they are computed like free ones, and then replaced. A factor of 1 is
    left out.

    Parameters
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    penalties : lam, gamma1, gamma2
    scratch : array of shape (_ARRAYS, at least rows times columns)
    """

    def __init__(self, shape, penalties, scratch):
        self.penalties = penalties
        arrays = scratch[:, : shape[0] * shape[1]].reshape(_ARRAYS, *shape)
        # entries at 0, their transposes at 1
        self.c, self.b, self.u, self.q, self.v, self.pull, self.spare = (
            arrays[i : i + 2] for i in range(0, 14, 2)
        )
        self.a, self.f, self.f_old, self.weights, self.once = arrays[14:19]
        self.terms = arrays[19:]  # of the sums 0 to 7, 10 and 11
        self.by_column = np.zeros((N_SUMS, shape[1] + 1))

    def load(self, A, locked, r, C, state, rows, columns):
        """Copy a block of the matrices, in double precision."""
        for X, x in zip((C, *state), (self.c, self.b, self.u, self.q), strict=True):
            x[0] = X[rows, columns]
            x[1] = X[columns, rows].T
        self.a[:] = A[rows, columns]
        self.locked = np.flatnonzero(locked[rows, columns])
        np.multiply(r[rows, None], r[columns], out=self.weights)

    def store(self, state, rows, columns, above):
        """Copy the new entries above the diagonal, and their transposes, to the matrices."""
        for X, x in zip(state, (self.pull, self.v, self.q), strict=True):
            if above is None:
                X[rows, columns] = x[0]
                X[columns, rows] = x[1].T
            else:
                np.copyto(X[rows, columns], x[0], where=above)
                np.copyto(X[columns, rows].T, x[1], where=above)

    def step(self):
        """Compute the new G (`pull`), U (`v`) and Q (`q`), and the terms of the sums."""
        c, b, u, q, v = self.c, self.b, self.u, self.q, self.v
        f, f_old, spare, terms = self.f, self.f_old, self.spare, self.terms
        _, gamma1, gamma2 = self.penalties
        k = 0.5 * (gamma1 + gamma2)
        self._clip_mean(q, f_old)
        self._fill_pull(u, q, f_old)
        x = self.pull
        x *= 0.5
        x -= _times(c, k, spare)
        x *= c
        np.add(x[0], x[1], out=terms[8])
        self._fill_error()
        np.subtract(c, b, out=spare)
        self._fill_squares(spare, 0)
        self._fill_squares(b, 1)
        np.square(f_old, out=terms[3])
        q -= f_old
        self._fill_squares(q, 5)
        q += c
        self._clip_mean(q, f)
        np.subtract(f, f_old, out=terms[2])
        np.square(terms[2], out=terms[2])
        terms[2:4] += terms[2:4]
        np.subtract(c, f, out=spare)
        self._fill_squares(spare, 4)
        np.subtract(v, u, out=spare)
        self._fill_squares(spare, 6)
        self._fill_squares(u, 7)
        self._fill_squares(v, 9)
        self._fill_pull(v, q, f)

    def add_sums(self, totals):
        """Return totals plus the weighted sums: first of every column, then from left to right."""
        terms, by_column = self.terms, self.by_column
        terms *= self.weights
        by_column[:, 0] = totals
        flat = terms.reshape(len(terms), -1)
        column = self.locked % terms.shape[2]
        for s in (6, 7):
            # bincount adds in order, here from the first row to the last
            by_column[s + 2, 1:] = np.bincount(column, flat[s, self.locked], terms.shape[2])
        for s in (6, 7, 9):
            flat[s, self.locked] = 0.0
        # NumPy adds the rows of several columns in order, but not the numbers of a single column
        sums = (
            np.add.reduce(terms, axis=1)
            if terms.shape[2] > 1
            else np.add.accumulate(terms, axis=1)[:, -1]
        )
        by_column[:8, 1:], by_column[10:, 1:] = sums[:8], sums[8:]
        return np.cumsum(by_column, axis=1)[:, -1]

    def _clip_mean(self, x, out):
        """Fill `out` with the means of entries and their transposes, clipped to 0..1."""
        np.add(x[0], x[1], out=out)
        out *= 0.5
        np.maximum(out, 0.0, out=out)
        np.minimum(out, 1.0, out=out)

    def _fill_squares(self, x, number):
        """Fill terms with the squares of entries plus those of their transposes."""
        np.square(x, out=self.spare)
        np.add(self.spare[0], self.spare[1], out=self.terms[number])

    def _fill_pull(self, u, p, f):
        """Fill `pull` as the function `_pull` does."""
        lam, gamma1, gamma2 = self.penalties
        pull = self.pull
        np.multiply(u, lam - gamma1, out=pull)
        for x, y in zip(pull, u, strict=True):
            x.ravel()[self.locked] = y.ravel()[self.locked]
        pull += _times(self.a, gamma1, self.once)
        np.multiply(f, 2.0, out=self.once)
        pull += _times(self.once, gamma2, self.once)
        pull -= _times(p, gamma2, self.spare)

    def _fill_error(self):
        """Fill `v` as the function `_error` does."""
        lam, gamma1, _ = self.penalties
        a, v = _times(self.a, gamma1, self.once).ravel()[self.locked], self.v
        np.subtract(self.a, self.c, out=v)
        if gamma1 != 1.0:
            v *= gamma1
        v += np.multiply(self.u, lam, out=self.spare)
        v /= gamma1 + lam
        for x, c, u in zip(v, self.c, self.u, strict=True):
            x.ravel()[self.locked] = u.ravel()[self.locked] + a - gamma1 * c.ravel()[self.locked]


def _times(x, factor, out):
    """Return the product, in `out` unless the factor is 1."""
    return x if factor == 1.0 else np.multiply(x, factor, out=out)


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
    n = len(r)
    sums[:] = 0.0
    scratch, tiles = np.empty((_ARRAYS, _ROWS * _COLUMNS)), {}
    for top in range(start, stop, _ROWS):
        rows = slice(top, min(top + _ROWS, stop))
        of_group, own = np.zeros(N_SUMS), np.arange(rows.start, rows.stop)
        above = own > own[:, None]
        columns = rows  # the diagonal is in the first block of columns, which is small
        while columns.start < n:
            shape = rows.stop - rows.start, columns.stop - columns.start
            if shape not in tiles:
                tiles[shape] = _Tile(shape, penalties, scratch)
            tile = tiles[shape]
            tile.load(A, locked, r, C, state, rows, columns)
            is_first = columns is rows
            if is_first:
                tile.weights *= above
            tile.step()
            tile.store(state, rows, columns, above if is_first else None)
            of_group = tile.add_sums(of_group)
            columns = slice(columns.stop, min(columns.stop + _COLUMNS, n))
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
        new, terms = _step(a, c, b, u, q, penalties, is_locked)
        for X, line, values in zip(state, own[2:], new, strict=True):
            if of_pairs:
                np.fill_diagonal(X, values)
            else:
                line[:] = values
        sums += (weights * np.asarray(terms)).sum(axis=1)
