"""The fused step: both forms, and equations (11), (13) and (14) written out on full matrices."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel
LAM = 0.3
PENALTIES = [(LAM, 1.0, 1.0), (LAM, 0.1, 10.0)]  # lam, gamma1, gamma2


def step_slowly(A, omega, penalties, C, C_old, E_old, F_old, Y1_old, Y2_old):
    lam, g1, g2 = penalties
    E = (g1 * (A - C) + Y1_old) / (lam + g1)
    E[omega] = 0.0
    P = C + Y2_old / g2
    F = np.clip((P + P.T) / 2, 0.0, 1.0)
    Y1, Y2 = Y1_old + g1 * (A - C - E), Y2_old + g2 * (C - F)
    pull = g1 * (A - E_old) + Y1_old + g2 * F_old - Y2_old
    squares = {
        0: (C - C_old) ** 2,
        1: C_old**2,
        2: (F - F_old) ** 2,
        3: F_old**2,
        4: (C - F) ** 2,
        5: (Y2_old / g2) ** 2,
        10: C * (pull - (g1 + g2) * C) / 2,  # C Phi C for (2 Phi + (g1 + g2) I) C = pull
        11: E**2,
    }
    return E, F, Y1, Y2, g1 * (A - E) + Y1 + g2 * F - Y2, squares


def random_state(n, rng, gamma2=1.0):
    """Matrices as they stand between two iterations: Y1 = lam E where E is free, 0 elsewhere."""
    A = rng.random((n, n))
    A = (A + A.T) / 2
    omega = rng.random((n, n)) < 0.3
    omega |= omega.T
    C, C_old = rng.normal(0.5, 0.6, (2, n, n))
    U = rng.normal(0, 0.5, (n, n))
    Q = rng.normal(0.5, 0.6, (n, n))
    E = np.where(omega, 0.0, U)
    Y1 = np.where(omega, U, LAM * U)
    F = np.clip((Q + Q.T) / 2, 0.0, 1.0)
    return A, omega, C, C_old, U, Q, E, F, Y1, gamma2 * (Q - F)


@pytest.mark.parametrize(
    ("block", "penalties"), [(300, PENALTIES[0]), (64, PENALTIES[0]), (17, PENALTIES[1])]
)
def test_step_on_a_matrix_without_repeats(block, penalties):
    rng = np.random.default_rng(0)
    n = 300
    A, omega, C, C_old, U, Q, *old = random_state(n, rng, penalties[2])
    E_old, _, Y1_old, _ = old
    np.fill_diagonal(omega, False)
    E, F, Y1, Y2, pull, squares = step_slowly(A, omega, penalties, C, C_old, *old)

    G, r = C_old.copy(), np.ones(n)
    sums = np.zeros(_kernels.enhancement.N_SUMS)
    for start in range(0, n, block):
        part = np.zeros_like(sums)
        stop = min(start + block, n)
        step = _kernels.enhancement.enhance_rows
        _, (*_, (G, U, Q), part) = call_both(
            step, A, omega, r, penalties, C, start, stop, (G, U, Q), part
        )
        sums += part
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(G[off], pull[off], rtol=0, atol=1e-13)
    np.testing.assert_allclose(U[off], np.where(omega, Y1, E)[off], rtol=0, atol=1e-13)
    np.testing.assert_allclose(Q[off], (F + Y2 / penalties[2])[off], rtol=0, atol=1e-13)
    for k, terms in squares.items():
        assert sums[k] == pytest.approx(terms[off].sum(), rel=1e-12), k
    free = off & ~omega
    U_old, U_new = np.where(omega, Y1_old, E_old), np.where(omega, Y1, E)
    for k, where in ((6, free), (8, off & omega)):
        assert sums[k] == pytest.approx(np.square(U_new - U_old)[where].sum(), rel=1e-12), k
        assert sums[k + 1] == pytest.approx(np.square(U_old)[where].sum(), rel=1e-12), k


@pytest.mark.parametrize("penalties", PENALTIES)
def test_step_on_repeated_rows_is_the_step_on_the_full_matrix(penalties):
    rng = np.random.default_rng(1)
    n = 9
    r = rng.integers(1, 4, n).astype(float)
    A, omega, C, C_old, U, Q, *_ = random_state(n, rng)
    np.fill_diagonal(omega, True)
    own = rng.normal(0.5, 0.6, (5, n))

    index = np.repeat(np.arange(n), r.astype(int))
    block, alone = np.ix_(index, index), np.diag_indices(len(index))

    def full(matrix, diagonal):
        result = matrix[block].copy()
        result[alone] = diagonal[index]
        return result

    A_full, C_full = full(A, own[0]), full(C, own[1])
    C_old_full, U_full, Q_full = full(C_old, own[2]), full(U, own[3]), full(Q, own[4])
    omega_full = omega[block].copy()
    omega_full[alone] = False
    E_old = np.where(omega_full, 0.0, U_full)
    Y1_old = np.where(omega_full, U_full, LAM * U_full)
    F_old = np.clip((Q_full + Q_full.T) / 2, 0.0, 1.0)
    old = E_old, F_old, Y1_old, penalties[2] * (Q_full - F_old)
    E, F, Y1, Y2, pull, squares = step_slowly(
        A_full, omega_full, penalties, C_full, C_old_full, *old
    )

    G = C_old.copy()
    sums, diagonal_sums = np.zeros((2, _kernels.enhancement.N_SUMS))
    _, (*_, (G, U, Q), sums) = call_both(
        _kernels.enhancement.enhance_rows, A, omega, r, penalties, C, 0, n, (G, U, Q), sums
    )
    _kernels.enhancement.enhance_diagonal(A, omega, r, penalties, C, (G, U, Q), own, diagonal_sums)
    sums += diagonal_sums
    np.testing.assert_allclose(own[2][index], pull[alone], rtol=0, atol=1e-13)
    several = (r > 1) | ~np.eye(n, dtype=bool)  # no pair within a row of one sample
    known = several[block].copy()
    known[alone] = False
    np.testing.assert_allclose(G[block][known], pull[known], rtol=0, atol=1e-13)
    np.testing.assert_allclose(Q[block][known], (F + Y2 / penalties[2])[known], rtol=0, atol=1e-13)
    for k, terms in squares.items():
        assert sums[k] == pytest.approx(terms.sum(), rel=1e-12), k
    assert sums[8] == pytest.approx(np.square(Y1 - Y1_old)[omega_full].sum(), rel=1e-12)
    assert sums[6] == pytest.approx(np.square(E - E_old)[~omega_full].sum(), rel=1e-12)


def test_single_precision_is_computed_in_double_precision():
    rng = np.random.default_rng(3)
    n = 70
    A, omega, C, C_old, U, Q, *_ = random_state(n, rng)
    stored = [X.astype(np.float32) for X in (A, C, C_old, U, Q)]
    A, C, G, U, Q = stored
    r, sums = rng.uniform(1, 3, n), np.zeros(_kernels.enhancement.N_SUMS)
    step = _kernels.enhancement.enhance_rows
    _, (*_, state, sums) = call_both(step, A, omega, r, PENALTIES[0], C, 0, n, (G, U, Q), sums)
    wide = [X.astype(np.float64) for X in stored]
    expected, A, C, *state_of_wide = np.zeros_like(sums), *wide
    step(A, omega, r, PENALTIES[0], C, 0, n, tuple(state_of_wide), expected)
    np.testing.assert_array_equal(sums, expected)
    for X, Y in zip(state, state_of_wide, strict=True):
        np.testing.assert_array_equal(X, Y.astype(np.float32))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [1, 2, 31, 33, 34, 288, 289, 290, 321])
def test_forms_agree_on_tiles_of_any_size_and_share_of_locked_pairs(n, share):
    rng = np.random.default_rng(n)
    A, _, C, C_old, U, Q, *_ = random_state(n, rng)
    locked = np.triu(rng.random((n, n)) < share)
    locked |= locked.T
    r = rng.uniform(0.5, 3, n)
    for penalties in (*PENALTIES, (LAM, 1.0, 2.0), (LAM, 2.0, 1.0), (1.0, 1.0, 1.0)):
        for start in range(0, n, 256):
            stop = min(start + 256, n)
            sums = np.full(_kernels.enhancement.N_SUMS, np.nan)
            step = _kernels.enhancement.enhance_rows
            state = C_old, U, Q
            _, (*_, state, sums) = call_both(
                step, A, locked, r, penalties, C, start, stop, state, sums
            )
            C_old, U, Q = state
            assert np.isfinite(sums).all()


def test_ties_and_bounds_of_the_clip():
    """Means of exactly 0 and 1, and equal old and new entries."""
    n = 40
    values = np.random.default_rng(5).choice([-1.0, 0.0, 0.5, 1.0, 2.0], (4, n, n))
    A, C, U, Q = values
    locked = np.eye(n, dtype=bool)
    sums = np.zeros(_kernels.enhancement.N_SUMS)
    step = _kernels.enhancement.enhance_rows
    _, (*_, sums) = call_both(
        step, A, locked, np.ones(n), PENALTIES[0], C, 0, n, (C.copy(), U, Q), sums
    )
    assert sums[0] == 0.0  # C has not changed
