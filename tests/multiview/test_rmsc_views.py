"""RMSC on features, against the iteration of the paper with a plain SVD and a plain projection."""

from __future__ import annotations

import numpy as np
import pytest
from planted_views import clear_views, two_blind_views
from sklearn.metrics import adjusted_rand_score

import partita
from partita.exceptions import ConvergenceWarning, MemoryBudgetError
from partita.multiview import RMSC, read_views
from partita.multiview.rmsc import _transitions


def transition_matrix(X):
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    W = np.exp(-(distances**2) / (2 * np.median(distances) ** 2))
    return W / W.sum(axis=1, keepdims=True)


def project(row):
    """Return the nearest point of the simplex, by bisection of the shift."""
    low, high = row.min() - 1.0, row.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - high, 0.0)


def soft(X, threshold):
    return np.sign(X) * np.maximum(np.abs(X) - threshold, 0.0)


def slow_rmsc(T, lam, mu, growth, n_iter):
    n, m = len(T[0]), len(T)
    Q = Z = np.zeros((n, n))
    E, Y = np.zeros((m, n, n)), np.zeros((m, n, n))
    residuals = []
    for _ in range(n_iter):
        P = (Q - Z / mu + sum(T[i] - E[i] - Y[i] / mu for i in range(m))) / (m + 1)
        P = np.array([project(row) for row in P])
        U, sigma, Vt = np.linalg.svd(P + Z / mu)
        Q = U @ np.diag(np.maximum(sigma - 1 / mu, 0.0)) @ Vt
        for i in range(m):
            E[i] = soft(T[i] - P - Y[i] / mu, lam / mu)
            Y[i] += mu * (P + E[i] - T[i])
        Z = Z + mu * (P - Q)
        mu *= growth
        gaps = [P - Q, *(P + E[i] - T[i] for i in range(m))]
        residuals.append(max(np.abs(gap).sum(axis=1).max() for gap in gaps))
    return P, residuals


def embed(P, K):
    values, vectors = np.linalg.eig(P.T)
    pi = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    root = np.sqrt(pi)
    A = P * root[:, None] / root
    U = np.linalg.eigh((A + A.T) / 2)[1][:, -K:]
    return U / np.linalg.norm(U, axis=1, keepdims=True)


@pytest.mark.parametrize("n_iter", [3, 20])
def test_iterations_are_those_of_the_paper(n_iter):
    views, _ = two_blind_views(6, noise=0.8)
    with pytest.warns(ConvergenceWarning, match="residuals still exceeded tol"):
        model = RMSC(3, lam=0.02, max_iter=n_iter, random_state=0).fit(views)
    P, residuals = slow_rmsc([transition_matrix(X) for X in views], 0.02, 1e-3, 1.9, n_iter)
    np.testing.assert_allclose(model.history_, residuals, rtol=1e-6, atol=1e-9)
    E = embed(P, 3)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, E @ E.T, atol=1e-5)
    errors = [np.abs(transition_matrix(X) - P).sum() for X in views]
    np.testing.assert_allclose(model.view_errors_, errors, rtol=1e-6)


def test_objective_of_the_shared_walk():
    views, _ = clear_views(6)
    model = RMSC(4, lam=0.01, random_state=0).fit(views)
    assert model.converged_
    P, _ = slow_rmsc([transition_matrix(X) for X in views], 0.01, 1e-3, 1.9, model.n_iter_)
    objective = np.linalg.svd(P)[1].sum() + 0.01 * model.view_errors_.sum()
    assert model.objective_ == pytest.approx(objective, rel=1e-4)


def test_view_of_noise_has_the_larger_error():
    views, y = clear_views()
    noise = np.random.default_rng(0).random((len(y), 12))
    model = RMSC(4, random_state=0).fit([*views, noise])
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.view_errors_.argmax() == 2
    assert model.lam_ == pytest.approx(2 * 4 / (3 * 80))


def test_memory_budget_is_respected():
    with (
        partita.config_context(memory_budget=10_000),
        pytest.raises(MemoryBudgetError, match=r"RMSC on 80 samples and 2 views.*ConKM"),
    ):
        RMSC(4).fit(clear_views()[0])


@pytest.mark.parametrize("parameters", [{"lam": 0.0}, {"mu": 0.0}, {"growth": 1.0}, {"tol": 0.0}])
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        RMSC(4, **parameters).fit(clear_views()[0])


def test_a_partial_view_has_unknown_entries():
    """The known part of a walk over half of the samples is half of it, as of the shared walk."""
    views, y = clear_views(8)
    n = len(y)
    half = np.arange(n) % 2 == 0
    present = [np.ones(n, bool), half]
    data = read_views([views[0], views[1]], present=present)
    walk = _transitions(data, 1, np.ones((half.sum(), half.sum())))
    assert np.isnan(walk[~half]).all()
    assert np.isnan(walk[:, ~half]).all()
    np.testing.assert_allclose(np.nansum(walk[half], axis=1), half.mean())
    # a sample that only one view has gets the cluster of its neighbors there
    model = RMSC(4, random_state=0).fit(views, present=present)
    assert adjusted_rand_score(y, model.labels_) == 1.0
