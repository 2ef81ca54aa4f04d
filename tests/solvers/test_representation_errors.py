"""Updates of errors and multipliers in a basis, against the same on whole matrices."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.representation_errors import (
    ColumnErrors,
    EntryErrors,
    all_below,
    largest_entry,
)

N, P_SIZE = 300, 20  # more rows than a block


@pytest.fixture
def basis():
    return np.linalg.qr(np.random.default_rng(0).standard_normal((N, P_SIZE)))[0]


@pytest.fixture
def root():
    return np.sqrt(np.random.default_rng(1).integers(1, 4, N))


def misfits():
    rng = np.random.default_rng(2)
    return [(rng.standard_normal((P_SIZE, N)), mu) for mu in (0.5, 0.7, 1.1)]


def follow(errors, shrink):
    """Run some updates on whole matrices too; both must agree after each."""
    P, root = errors.basis, errors.root
    Y = np.zeros((N, N))
    for misfit, mu in misfits():
        Q = P @ misfit + Y / mu
        E = shrink(Q, mu)
        residual = P @ misfit - E
        Y = Y + mu * residual
        norm = errors.update(misfit.copy(), mu)
        assert norm == pytest.approx(np.linalg.norm(residual), rel=1e-12)
        np.testing.assert_allclose(errors.error, P.T @ E, rtol=0, atol=1e-12)
        np.testing.assert_allclose(errors.multiplier, P.T @ Y, rtol=0, atol=1e-12)
        largest = np.max(np.abs(residual) / np.outer(root, root))
        assert errors.largest_residual() == pytest.approx(largest, rel=1e-10)
        assert errors.residual_below(1.01 * largest)
        assert not errors.residual_below(0.99 * largest)
    return E


@pytest.mark.parametrize("factors", [None, np.linspace(0.0, 2.0, N)])
def test_columns(basis, root, factors):
    thresholds = 3.0 * root * (1.0 if factors is None else factors)

    def shrink(Q, mu):
        length = np.linalg.norm(Q, axis=0)
        return Q * np.maximum(1 - thresholds / mu / length, 0)

    errors = ColumnErrors(basis, root, 3.0, factors)
    E = follow(errors, shrink)
    assert 0 < np.count_nonzero(np.linalg.norm(E, axis=0)) < N
    every = np.repeat(np.arange(N), np.rint(root**2).astype(int))  # a row per sample
    full = (E / np.outer(root, root))[np.ix_(every, every)]
    sizes = np.linalg.norm(full, axis=0)
    np.testing.assert_allclose(errors.sizes()[every], sizes, rtol=0, atol=1e-10)
    assert errors.total(errors.sizes() ** 2) == pytest.approx((sizes**2).sum(), rel=1e-10)


@pytest.mark.parametrize("factors", [None, np.random.default_rng(3).random((N, N))])
def test_entries(basis, root, factors):
    threshold = 0.1 * np.outer(root, root) * (1.0 if factors is None else factors)

    def shrink(Q, mu):
        return np.sign(Q) * np.maximum(np.abs(Q) - threshold / mu, 0)

    errors = EntryErrors(basis, root, 0.1, factors)
    E = follow(errors, shrink)
    np.testing.assert_allclose(errors.matrix, E, rtol=0, atol=1e-12)
    assert 0 < np.count_nonzero(E) < E.size
    every = np.repeat(np.arange(N), np.rint(root**2).astype(int))
    sizes = np.abs(E / np.outer(root, root))[np.ix_(every, every)]
    np.testing.assert_allclose(errors.sizes()[np.ix_(every, every)], sizes, rtol=0, atol=1e-12)
    assert errors.total(errors.sizes() ** 2) == pytest.approx((sizes**2).sum(), rel=1e-10)


@pytest.mark.parametrize("kind", ["even", "one entry"])
def test_largest_entry_and_its_bounds(basis, root, kind):
    C = np.random.default_rng(4).standard_normal((P_SIZE, N))
    if kind == "one entry":
        C[:, 1:] = 0.0
    largest = np.max(np.abs(basis @ C) / np.outer(root, root))
    assert largest_entry(basis, C, root) == pytest.approx(largest, rel=1e-12)
    for factor in (1e-6, 0.5, 0.999):
        assert not all_below(basis, C, root, factor * largest)
    for factor in (1.001, 2.0, 1e6):
        assert all_below(basis, C, root, factor * largest)


def test_an_entry_in_a_short_column_counts():
    """The longest columns have no entry above the limit; a shorter one has."""
    n, rng = 200, np.random.default_rng(0)
    C = rng.choice([-1.0, 1.0], (n, n)) * np.linspace(2.0, 1.0, n)
    C[:, -1] = 0.0
    C[0, -1] = 3.0  # alone in its column, which has the length 3 and the others 14 to 28
    assert not all_below(np.eye(n), C, np.ones(n), 2.5)
    assert all_below(np.eye(n), C, np.ones(n), 3.5)
