"""CRSC, against eigendecompositions of formed matrices."""

from __future__ import annotations

import numpy as np
import pytest
from planted_views import two_blind_views
from sklearn.metrics import adjusted_rand_score

import partita
from partita.exceptions import ConvergenceWarning, MemoryBudgetError
from partita.multiview import CRSC
from partita.multiview._gaussian import gaussian_kernel


def slow_affinity(X):
    n = len(X)
    distances = np.array([[np.linalg.norm(X[i] - X[j]) for j in range(n)] for i in range(n)])
    sigma = np.median(distances)
    W = np.exp(-(distances**2) / (2 * sigma**2))
    d = W.sum(axis=1)
    return W / np.sqrt(np.outer(d, d)), sigma


def top(matrix, k):
    return np.linalg.eigh(matrix)[1][:, -k:]


def unit_rows(U):
    return U / np.linalg.norm(U, axis=1, keepdims=True)


@pytest.fixture
def views():
    return two_blind_views(8, noise=0.6)[0]


def test_pairwise_is_that_of_the_paper(views):
    with pytest.warns(ConvergenceWarning):
        model = CRSC(3, lam=0.3, max_iter=2, tol=0.0, random_state=0).fit(views)
    (L1, s1), (L2, s2) = (slow_affinity(X) for X in views)
    np.testing.assert_allclose(model.bandwidths_, [s1, s2], rtol=1e-12)
    U1, U2 = top(L1, 3), top(L2, 3)
    for _ in range(2):
        U2 = top(L2 + 0.3 * U1 @ U1.T, 3)
        U1 = top(L1 + 0.3 * U2 @ U2.T, 3)
    objective = np.trace(U1.T @ L1 @ U1) + np.trace(U2.T @ L2 @ U2)
    objective += 0.3 * np.linalg.norm(U1.T @ U2) ** 2
    assert model.objective_ == pytest.approx(objective, rel=1e-12)
    E = unit_rows(np.hstack([U1, U2]))
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, E @ E.T, atol=1e-9)
    with pytest.warns(ConvergenceWarning):
        first = CRSC(3, lam=0.3, embedding="first", max_iter=2, tol=0.0).fit(views)
    E = unit_rows(U1)
    np.testing.assert_allclose(first.embedding_ @ first.embedding_.T, E @ E.T, atol=1e-9)


def test_centroid_is_that_of_the_paper(views):
    with pytest.warns(ConvergenceWarning):
        model = CRSC(3, coupling="centroid", lam=0.3, max_iter=2, tol=0.0).fit(views)
    L = [slow_affinity(X)[0] for X in views]
    U = [top(A, 3) for A in L]
    for _ in range(2):
        star = top(sum(V @ V.T for V in U), 3)
        U = [top(A + 0.3 * star @ star.T, 3) for A in L]
    E = unit_rows(star)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, E @ E.T, atol=1e-9)


@pytest.mark.parametrize("coupling", ["pairwise", "centroid"])
def test_objective_never_falls(coupling):
    views, _ = two_blind_views(noise=1.0)
    model = CRSC(4, coupling=coupling, max_iter=200, tol=1e-5, random_state=0).fit(views)
    assert model.n_iter_ > 2
    assert np.all(np.diff(model.history_) >= -1e-12)


def test_unit_of_a_view_does_not_matter():
    views, y = two_blind_views()
    views[1] = views[1] / 1000
    assert adjusted_rand_score(y, CRSC(4, random_state=0).fit_predict(views)) == 1.0


def test_bandwidth_if_most_distances_are_zero():
    X = np.zeros((10, 2))
    X[0] = [3.0, 4.0]
    kernel, sigma = gaussian_kernel(X)
    assert sigma == pytest.approx(5.0)
    assert kernel[0, 1] == pytest.approx(np.exp(-0.5))
    assert gaussian_kernel(np.ones((3, 2)))[0].tolist() == np.ones((3, 3)).tolist()


def test_equal_rows_far_from_the_origin_have_distance_zero():
    X = np.repeat(np.random.default_rng(0).random((3, 40)) + 100, 4, axis=0)
    kernel, _ = gaussian_kernel(X)
    assert np.all(kernel[:4, :4] == 1.0)


def test_memory_budget_is_respected(views):
    message = r"CRSC on 32 samples and 2 views.*ColNMF"
    with (
        partita.config_context(memory_budget=10_000),
        pytest.raises(MemoryBudgetError, match=message),
    ):
        CRSC(3).fit(views)


@pytest.mark.parametrize(
    "parameters", [{"coupling": "triple"}, {"lam": 0.0}, {"embedding": "last"}, {"tol": -1.0}]
)
def test_bad_parameters(views, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        CRSC(3, **parameters).fit(views)
