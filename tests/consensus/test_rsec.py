"""RSEC: equal to the plain algorithm on all samples, the published accuracy, the contract."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from unreduced_representation import (
    accuracy,
    assert_equals_unreduced,
    partition,
    repeated_rows,
    represent,
)

from partita import NRSEC, RSEC, Ensemble, config_context
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning

BOTH = pytest.mark.parametrize("method", [RSEC, NRSEC])


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_unreduced_computation(missing, seed):
    labels = repeated_rows(missing, seed)
    method = RSEC(3, random_state=0).fit(labels)
    assert len(method.core_matrix_) < 0.7 * len(labels)
    assert_equals_unreduced(method, represent(labels, 3, 0.1, 0.01, concave=False))


def test_other_penalties():
    labels = repeated_rows(0.0, 2)
    method = RSEC(4, lambda1=0.5, lambda2=0.1, tol=1e-5, random_state=0).fit(labels)
    assert_equals_unreduced(method, represent(labels, 4, 0.5, 0.1, concave=False, tol=1e-5))


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_errors_by_entry(missing):
    labels = repeated_rows(missing, 3)
    method = RSEC(3, error_norm="l1", random_state=0).fit(labels)
    assert_equals_unreduced(method, represent(labels, 3, 0.1, 0.01, concave=False, norm="l1"))
    by_column = RSEC(3, random_state=0).fit(labels)
    assert np.abs(method.core_matrix_ - by_column.core_matrix_).max() > 1e-3


def test_errors_by_entry_find_planted_clusters_with_missing_labels():
    labels, truth = make_partitions(120, 30, noise=0.05, missing_ratio=0.3, random_state=5)
    method = RSEC(3, error_norm="l1", lambda1=1.0, random_state=0)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) > 0.95


@pytest.mark.parametrize(("rho", "mu"), [(1.5, None), (1.1, 0.3), (1.4, 5.0)])
def test_course_of_the_penalty(rho, mu):
    labels = repeated_rows(0.0, 5)
    method = RSEC(3, rho=rho, mu=mu, random_state=0).fit(labels)
    assert_equals_unreduced(method, represent(labels, 3, 0.1, 0.01, concave=False, rho=rho, mu=mu))


@BOTH
@pytest.mark.parametrize("similarity", ["share", "signed"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_similarities(method, similarity, missing):
    labels = repeated_rows(missing, 6)
    fitted = method(3, similarity=similarity, random_state=0).fit(labels)
    concave = method is NRSEC
    unreduced = represent(labels, 3, fitted.lambda1, 0.01, concave=concave, similarity=similarity)
    assert_equals_unreduced(fitted, unreduced)
    auto = method(3, random_state=0).fit(labels)
    same = similarity == ("signed" if missing else "share")
    assert np.array_equal(auto.core_matrix_, fitted.core_matrix_) == same


@BOTH
@pytest.mark.parametrize(
    ("similarity", "jump"), [("auto", True), ("share", False), ("signed", False)]
)
def test_first_missing_label(method, similarity, jump):
    """With "auto" it changes S into 2 S - 1, so that the result jumps; otherwise hardly."""
    labels = make_partitions(60, 20, noise=0.3, random_state=0)[0]
    complete = method(3, similarity=similarity, random_state=0).fit(labels).consensus_matrix()
    labels[0, 0] = -1
    incomplete = method(3, similarity=similarity, random_state=0).fit(labels).consensus_matrix()
    change = np.linalg.norm(incomplete - complete) / np.linalg.norm(complete)
    assert (change > 0.1) == jump
    assert jump or change < 0.06


@BOTH
def test_orthonormal_embedding(method):
    labels = repeated_rows(0.0, 8)
    fitted = method(3, scale_embedding=False, random_state=0).fit(labels)
    concave = method is NRSEC
    unreduced = represent(labels, 3, fitted.lambda1, 0.01, concave=concave, scaled=False)
    assert_equals_unreduced(fitted, unreduced)
    H = fitted.embedding_
    np.testing.assert_allclose(H.T @ H, np.eye(3), atol=1e-10)


@BOTH
def test_embedding_is_scaled_by_the_degrees(method):
    """D^½ H has orthonormal columns, where D are the degrees of the affinity."""
    labels = repeated_rows(0.0, 7)
    fitted = method(3, random_state=0).fit(labels)
    Z, H = fitted.consensus_matrix(), fitted.embedding_
    # H of the iteration before is not kept; at convergence the degrees hardly change
    _, degree, _ = partition((Z + Z.T) / 2 + H @ H.T, 3)
    np.testing.assert_allclose(H.T @ (degree[:, None] * H), np.eye(3), atol=1e-4)
    assert np.abs(H.T @ H - np.eye(3)).max() > 0.5


@pytest.fixture(scope="module")
def iris_ensembles():
    """The paper's protocol: 100 k-means, K_i uniform in 3..12; nine seeds in a row."""
    X, truth = load_iris(return_X_y=True)

    def ensemble(seed):
        rng = np.random.default_rng(seed)
        runs = [
            KMeans(int(rng.integers(3, 13)), n_init=1, random_state=int(rng.integers(2**31)))
            for _ in range(100)
        ]
        return np.column_stack([run.fit_predict(X) for run in runs])

    return truth, [ensemble(seed) for seed in range(9)]


@BOTH
def test_published_accuracy_on_iris(method, iris_ensembles):
    """Table 2: 97.33, on one ensemble. It depends on the ensemble (others give 0.75 to 0.91)."""
    truth, ensembles = iris_ensembles
    found = [accuracy(truth, method(3, random_state=0).fit_predict(e)) for e in ensembles]
    assert max(found) == pytest.approx(146 / 150)
    assert np.count_nonzero(np.isclose(found, 146 / 150)) >= 3


@BOTH
def test_trace_falls_as_in_figure_3(method, iris_ensembles):
    fitted = method(3, random_state=0).fit(iris_ensembles[1][0])
    assert fitted.history_.shape == (fitted.n_iter_,)
    assert fitted.history_[14] < 0.05 * fitted.history_[0]
    assert fitted.history_[-1] < 1e-6
    assert fitted.converged_


@BOTH
def test_assign_by_the_representation(method):
    labels, truth = make_partitions(80, 10, noise=0.2)
    by_partition = method(3, random_state=0).fit(labels)
    by_matrix = method(3, assign_labels="representation", random_state=0).fit(labels)
    np.testing.assert_array_equal(by_partition.core_matrix_, by_matrix.core_matrix_)
    Z = by_matrix.consensus_matrix()
    H, _, _ = partition((Z + Z.T) / 2, 3)
    unit = H / np.linalg.norm(H, axis=1, keepdims=True)
    expected = KMeans(3, n_init=20, random_state=0).fit_predict(unit)
    assert adjusted_rand_score(expected, by_matrix.labels_) == 1.0
    assert adjusted_rand_score(truth, by_matrix.labels_) > 0.9


@BOTH
def test_core_matrix_is_the_consensus_matrix(method):
    fitted = method(3, random_state=0).fit(repeated_rows(0.0, 3))
    index = fitted.core_index_
    expanded = fitted.core_matrix_[np.ix_(index, index)]
    np.testing.assert_array_equal(expanded, fitted.consensus_matrix())


@BOTH
def test_repeats_are_weights(method):
    labels = make_partitions(30, 6, noise=0.2)[0]
    times = np.random.default_rng(6).integers(1, 5, size=30)
    repeated = method(3, random_state=0).fit(np.repeat(labels, times, axis=0))
    weighted = method(3, random_state=0).fit(Ensemble.from_partitions(labels, weights=times))
    expanded = np.repeat(np.repeat(weighted.consensus_matrix(), times, axis=0), times, axis=1)
    np.testing.assert_allclose(repeated.consensus_matrix(), expanded, rtol=0, atol=1e-10)


@BOTH
@pytest.mark.parametrize("missing", [0.2, 0.5])
def test_incomplete_partitions(method, missing):
    labels, truth = make_partitions(120, 30, noise=0.05, missing_ratio=missing, random_state=5)
    found = method(3, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(truth, found) > 0.95


@BOTH
def test_cap_without_convergence_is_said(method):
    labels = make_partitions()[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        fitted = method(3, max_iter=4, random_state=0).fit(labels)
    assert not fitted.converged_
    assert fitted.n_iter_ == len(fitted.history_) == 4


@BOTH
def test_progress_is_reported_and_can_stop_the_fit(method):
    seen = []

    def stop_at_five(progress):
        seen.append((progress.task, progress.done, progress.total))
        if progress.done == 5:
            raise KeyboardInterrupt

    labels = make_partitions()[0]
    with config_context(progress=stop_at_five), pytest.raises(KeyboardInterrupt):
        method(3, max_iter=70, random_state=0).fit(labels)
    assert seen == [(method.__name__, done, 70) for done in range(1, 6)]


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lambda1", 0.0),
        ("lambda1", -1.0),
        ("lambda2", 0.0),
        ("lambda2", -0.1),
        ("tol", 0.0),
        ("max_iter", 0),
        ("n_init", 0),
        ("assign_labels", "kmeans"),
        ("error_norm", "l2"),
        ("similarity", "cosine"),
        ("rho", 1.0),
        ("mu", 0.0),
        ("scale_embedding", "no"),
        ("lambda1", "much"),
    ],
)
def test_bad_parameters_are_named(method, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of {method.__name__} must be"):
        method(3, **{name: value}).fit(make_partitions()[0])
