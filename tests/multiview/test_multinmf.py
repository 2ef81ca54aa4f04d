"""MultiNMF: the updates of one round entry by entry, and the whole on partial views."""

from __future__ import annotations

import numpy as np
import pytest
from planted_views import clear_views, two_blind_views, with_missing_rows
from sklearn.metrics import adjusted_rand_score

from partita.multiview import MultiNMF, multinmf


def slow_updates(X, V, U, common, lam, n_iter):
    """The updates with sums over entries, and the objective with Q as the paper writes it."""
    (n, d), K = X.shape, V.shape[1]
    objectives = []
    for _ in range(n_iter):
        new = np.empty_like(V)
        for j in range(n):
            for k in range(K):
                above = sum(X[j, f] * U[f, k] for f in range(d)) + lam * common[j, k]
                below = sum((V[j] @ U[f]) * U[f, k] for f in range(d)) + lam * V[j, k]
                new[j, k] = V[j, k] * above / below
        V = new
        new = np.empty_like(U)
        for f in range(d):
            for k in range(K):
                above = sum(X[j, f] * V[j, k] for j in range(n))
                above += lam * sum(V[j, k] * common[j, k] for j in range(n))
                below = sum((V[j] @ U[f]) * V[j, k] for j in range(n))
                below += lam * U[:, k].sum() * sum(V[j, k] ** 2 for j in range(n))
                new[f, k] = U[f, k] * above / below
        U = new
        Q = np.diag(U.sum(axis=0))
        objectives.append(
            np.linalg.norm(X - V @ U.T) ** 2 + lam * np.linalg.norm(V @ Q - common) ** 2
        )
        U, V = U @ np.linalg.inv(Q), V @ Q
    return V, U, objectives


def test_updates_of_a_view_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    X, common = rng.random((9, 6)), rng.random((9, 3))
    view = multinmf._Factors(X, np.arange(9), 0.7)
    view.V, U = rng.random((9, 3)), rng.random((6, 3))
    view.U = U / U.sum(axis=0)
    V, U, objectives = slow_updates(X, view.V, view.U, common, 0.7, 3)
    history = view.update(common, 3, 0.0)
    np.testing.assert_allclose(history, objectives, rtol=1e-11)
    np.testing.assert_allclose(view.V, V, rtol=1e-11)
    np.testing.assert_allclose(view.U, U, rtol=1e-11)
    assert view.error == pytest.approx(np.linalg.norm(X - V @ U.T) ** 2)


def test_updates_of_a_view_never_raise_its_objective():
    rng = np.random.default_rng(1)
    view = multinmf._Factors(rng.random((20, 8)), np.arange(20), 2.0)
    view.V, U = rng.random((20, 4)), rng.random((8, 4))
    view.U = U / U.sum(axis=0)
    history = view.update(rng.random((20, 4)), 300, 0.0)
    assert len(history) > 50
    assert np.all(np.diff(history) <= 1e-12 * history[0])


@pytest.mark.parametrize("ratio", [0.0, 0.2])
def test_objective_never_rises(ratio):
    views = with_missing_rows(two_blind_views(noise=0.8)[0], ratio)
    model = MultiNMF(4, lam=0.1, scale="rows", max_iter=300, random_state=0).fit(views)
    assert model.n_iter_ > 3
    assert np.all(np.diff(model.history_) <= 1e-12 * model.history_[0])


def test_strong_coupling_makes_the_coefficients_equal(monkeypatch):
    views, _ = clear_views()
    kept = []
    update = multinmf._Factors.update

    def keep(self, *arguments):
        result = update(self, *arguments)
        kept.append(self)
        return result

    monkeypatch.setattr(multinmf._Factors, "update", keep)
    gaps = []
    for lam in (1e-3, 10.0):
        kept.clear()
        MultiNMF(4, lam=lam, scale="rows", max_iter=500, random_state=0).fit(views)
        gaps.append(np.linalg.norm(kept[-1].V - kept[-2].V))
    assert gaps[1] < 0.2 * gaps[0]


def test_common_coefficients_are_means_over_the_views_that_have_a_sample():
    views = [multinmf._Factors(np.ones((2, 1)), np.array(s), 1.0) for s in ([0, 1], [1, 2])]
    views[0].V, views[1].V = np.array([[1.0], [2.0]]), np.array([[4.0], [8.0]])
    assert multinmf._mean_of(views, 3).ravel().tolist() == [1.0, 3.0, 8.0]
    assert multinmf._first_of(views, 3).ravel().tolist() == [1.0, 2.0, 8.0]


def test_three_views_and_one():
    views, y = clear_views()
    for several in ([*views, views[0] ** 2], views[:1]):
        labels = MultiNMF(4, random_state=0).fit_predict(several)
        assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("parameters", [{"lam": 0.0}, {"max_iter": 0}, {"tol": -1.0}])
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        MultiNMF(4, **parameters).fit(clear_views()[0])
