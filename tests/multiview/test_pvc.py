"""PVC: a slow version with a general solver, its conditions, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from planted_views import clear_views, two_blind_views, with_missing_rows
from scipy.optimize import nnls
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import ConvergenceWarning, NotSupportedError
from partita.multiview import PVC, pvc


def slow_step(rows, design, penalty):
    """min_w>=0 ‖x - w D‖² + penalty Σ w for every row x, as least squares with one more column.

    Up to a constant, ‖x - w D‖² + p Σ w is ‖x' - w D‖² for the x' with x' Dᵀ = x Dᵀ - p/2.
    """
    shift = np.linalg.lstsq(design, np.full(len(design), penalty / 2), rcond=None)[0]
    return np.array([nnls(design.T, x - shift)[0] for x in rows])


def slow_pvc(X, Y, is_x, is_y, K, lam, start, n_iter):
    """Alternate exact steps as the paper writes them; X and Y have a row per sample."""
    n_entries = is_x.sum() * X.shape[1] + is_y.sum() * Y.shape[1]
    mean = (X[is_x].sum() + Y[is_y].sum()) / n_entries
    unit = lam / K * mean**2
    (Ux, Uy), both = start, is_x & is_y
    only_x, only_y = is_x & ~is_y, is_y & ~is_x
    weight = np.zeros(len(X))
    weight[is_x] += unit * X.shape[1]
    weight[is_y] += unit * Y.shape[1]
    P = np.zeros((len(X), K))

    def joint():
        design = np.hstack([Ux.T, Uy.T])
        return slow_step(np.hstack([X, Y])[both], design, unit * design.shape[1])

    P[both] = joint()
    history = []
    for stage in ("paired", "all"):
        in_x, in_y = (both, both) if stage == "paired" else (is_x, is_y)
        history = []
        for _ in range(n_iter):
            if stage == "all":
                P[only_x] = slow_step(X[only_x], Ux.T, unit * X.shape[1])
                P[only_y] = slow_step(Y[only_y], Uy.T, unit * Y.shape[1])
            Ux = np.array([nnls(P[in_x], column)[0] for column in X[in_x].T])
            Uy = np.array([nnls(P[in_y], column)[0] for column in Y[in_y].T])
            P[both] = joint()
            history.append(
                np.linalg.norm(X[in_x] - P[in_x] @ Ux.T) ** 2
                + np.linalg.norm(Y[in_y] - P[in_y] @ Uy.T) ** 2
                + weight[in_x | in_y] @ P[in_x | in_y].sum(axis=1)
            )
    return P, history


def test_first_iterations_are_those_of_exact_steps(monkeypatch):
    monkeypatch.setattr(pvc, "_SWEEPS", 20_000)
    views, _ = clear_views(6, noise=0.5)
    missing = with_missing_rows(views, 0.2)
    is_x, is_y = (~np.isnan(X[:, 0]) for X in missing)
    rng = np.random.default_rng(2)
    present = np.concatenate([X[~np.isnan(X)] for X in missing])
    start = [present.mean() * (1.0 - rng.random((X.shape[1], 3))) for X in views]
    with pytest.warns(ConvergenceWarning):
        model = PVC(3, scale="none", lam=0.5, max_iter=2, tol=0.0, random_state=2).fit(missing)
    P, history = slow_pvc(*views, is_x, is_y, 3, 0.5, start, 2)
    np.testing.assert_allclose(model.history_, history, rtol=1e-5)
    rows = P / np.linalg.norm(P, axis=1, keepdims=True)
    np.testing.assert_allclose(model.embedding_, rows, atol=1e-3)


@pytest.mark.parametrize("ratio", [0.0, 0.2])
def test_objective_never_rises(ratio):
    views = with_missing_rows(two_blind_views(noise=0.8)[0], ratio)
    model = PVC(4, random_state=0).fit(views)
    assert model.n_iter_ > 1
    assert np.all(np.diff(model.history_) <= 1e-12 * model.history_[0])


def test_unit_of_all_features_does_not_matter():
    """λ is relative to the mean feature."""
    views, _ = clear_views(noise=1.0)
    plain = PVC(4, scale="none", random_state=0).fit(views)
    small = PVC(4, scale="none", random_state=0).fit([2.0**-20 * X for X in views])
    np.testing.assert_array_equal(plain.labels_, small.labels_)
    assert small.objective_ == pytest.approx(plain.objective_ * 2.0**-40, rel=1e-9)


def test_larger_penalty_gives_fewer_coefficients():
    views, _ = clear_views(noise=1.0)
    counts = [
        np.count_nonzero(PVC(4, lam=lam, random_state=0).fit(views).embedding_)
        for lam in (0.0, 0.2)
    ]
    assert counts[1] < counts[0]


def test_samples_of_one_view_follow_the_paired_ones():
    """Half of the samples are in one view only, and all of them are clustered correctly."""
    views, y = clear_views(30)
    missing = with_missing_rows(views, 0.25)
    assert adjusted_rand_score(y, PVC(4, random_state=0).fit_predict(missing)) == 1.0


@pytest.mark.parametrize("n_views", [1, 3])
def test_other_numbers_of_views_are_refused(n_views):
    views = {f"v{i}": np.ones((5, 2)) for i in range(n_views)}
    with pytest.raises(NotSupportedError, match=rf"two views, got {n_views}: v0.*MultiNMF"):
        PVC(2).fit(views)


def test_views_without_a_common_sample_are_refused():
    first, second = np.ones((6, 2)), np.ones((6, 3))
    first[:3], second[3:] = np.nan, np.nan
    with pytest.raises(NotSupportedError, match="in both views, 'view1' and 'view2'"):
        PVC(2).fit([first, second])


@pytest.mark.parametrize("parameters", [{"lam": -0.1}, {"max_iter": 0}, {"tol": -1.0}])
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        PVC(4, **parameters).fit(clear_views()[0])
