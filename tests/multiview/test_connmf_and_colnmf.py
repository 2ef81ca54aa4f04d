"""ConNMF and ColNMF: one solver, two ways to scale the views."""

from __future__ import annotations

import numpy as np
import pytest
from planted_views import two_blind_views
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import ConvergenceWarning, InvalidEnsembleError
from partita.multiview import ColNMF, ConNMF


def multiplicative_updates(X, U, n_iter):
    """Plain factorization of X, from ones; the columns of U get sum 1 at the end."""
    V, objectives = np.ones((len(X), U.shape[1])), []
    for _ in range(n_iter):
        V = V * (X @ U) / (V @ U.T @ U)
        U = U * (X.T @ V) / (U @ V.T @ V)
        objectives.append(np.linalg.norm(X - V @ U.T) ** 2)
    return V * U.sum(axis=0), objectives


def test_connmf_equals_plain_updates_of_the_concatenation():
    views, _ = two_blind_views(8, noise=0.5)
    X = np.hstack(views)
    with pytest.warns(ConvergenceWarning):
        model = ConNMF(n_clusters=3, max_iter=4, tol=0.0, random_state=5).fit(views)
    start = 1.0 - np.random.default_rng(5).random((X.shape[1], 3))
    V, objectives = multiplicative_updates(X / X.sum(), start, 4)
    np.testing.assert_allclose(model.history_, objectives, rtol=1e-10)
    np.testing.assert_allclose(model.embedding_, V, rtol=1e-10)


def test_colnmf_equals_updates_of_weighted_scaled_views():
    views, _ = two_blind_views(8, noise=0.5)
    weights = np.array([1.0, 4.0])
    with pytest.warns(ConvergenceWarning):
        model = ColNMF(n_clusters=3, view_weights=weights, max_iter=4, tol=0.0, random_state=5).fit(
            views
        )
    roots = np.sqrt(weights)
    X = np.hstack([r * A / A.sum() for r, A in zip(roots, views, strict=True)])
    rng = np.random.default_rng(5)
    start = np.vstack(
        [r * (1.0 - rng.random((A.shape[1], 3))) for r, A in zip(roots, views, strict=True)]
    )
    _, objectives = multiplicative_updates(X, start, 4)
    np.testing.assert_allclose(model.history_, objectives, rtol=1e-10)


@pytest.mark.parametrize("method", [ConNMF, ColNMF])
def test_objective_never_rises(method):
    views, _ = two_blind_views(noise=1.0)
    model = method(n_clusters=4, max_iter=2000, tol=1e-5, random_state=0).fit(views)
    assert model.n_iter_ > 20
    assert np.all(np.diff(model.history_) <= 1e-13 * model.history_[0])


def test_units_of_the_whole_do_not_change_connmf():
    views, _ = two_blind_views(noise=1.0)
    labels = [
        ConNMF(n_clusters=4, scale=scale, random_state=0).fit_predict(views)
        for scale in ("none", "sum", "frobenius")
    ]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_unit_of_one_view_changes_connmf_and_not_colnmf():
    views, y = two_blind_views()
    views[1] = views[1] / 1000
    assert adjusted_rand_score(y, ColNMF(4, random_state=0).fit_predict(views)) == 1.0
    assert adjusted_rand_score(y, ConNMF(4, random_state=0).fit_predict(views)) < 0.6


def test_bad_view_weights():
    views, _ = two_blind_views()
    with pytest.raises(InvalidEnsembleError, match=r"view_weights must have shape \(2,\)"):
        ColNMF(4, view_weights=[1.0, 2.0, 3.0]).fit(views)
    with pytest.raises(InvalidEnsembleError, match="view_weights must be positive"):
        ColNMF(4, view_weights=[1.0, 0.0]).fit(views)
