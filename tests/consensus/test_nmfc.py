"""NMFC: factored products against the n x n matrix, weights against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from partita import NMFC, Ensemble, coassociation
from partita.consensus.nmfc import _Fit, _Problem
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning
from partita.matrices import crowd_agreement
from partita.testing import check_consensus
from references import load_cases


def repeated(missing=0.0, seed=3):
    labels = make_partitions(30, 6, 3, noise=0.3, missing_ratio=missing, random_state=seed)[0]
    return np.repeat(labels, np.random.default_rng(seed).integers(1, 5, 30), axis=0)


def connective(labels):
    """M^(i) of all partitions on all samples, a missing label joining nothing."""
    return np.array(
        [(c[:, None] == c) & (c >= 0)[:, None] & (c >= 0) for c in labels.T], dtype=float
    )


def factorize_slowly(A, Q, max_iter=1000, tol=1e-3):
    """The papers' updates on the full matrix."""
    Q = Q / np.linalg.norm(Q, axis=0)
    D = np.diag(np.diag(Q.T @ A @ Q))
    history = []
    for _ in range(max_iter):
        new = Q * np.sqrt((A @ Q @ D) / (Q @ Q.T @ A @ Q @ D + 1e-12))
        moved = np.linalg.norm(new - Q) / np.linalg.norm(Q)
        Q = new
        D = D * np.sqrt((Q.T @ A @ Q) / (Q.T @ Q @ D @ Q.T @ Q + 1e-12))
        history.append(np.linalg.norm(A - Q @ D @ Q.T) ** 2)
        if moved <= tol:
            return Q, D, history
    raise AssertionError("the unreduced iteration did not converge")


@pytest.mark.parametrize("init", ["k-means", "random"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_equals_the_unreduced_computation(init, missing):
    labels = repeated(missing)
    method = NMFC(3, init=init, n_init=1, random_state=5).fit(labels)
    core = Ensemble.from_partitions(labels).compress()
    start = method._initialize(core, np.ones(6), np.random.default_rng(5).spawn(1)[0])
    A = coassociation(labels, missing="disagree")
    Q, D, history = factorize_slowly(A, core.expand(start))
    np.testing.assert_allclose(method.membership_, Q @ np.sqrt(D), rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, history, rtol=1e-8)
    expected = np.argmax(Q @ np.sqrt(D), axis=1)
    assert adjusted_rand_score(method.labels_, expected) == 1.0


def test_by_hand():
    """A = [[1, 1, .5, 0], [1, 1, .5, 0], [.5, .5, 1, .5], [0, 0, .5, 1]] in the groups {0,1} and
    {2,3}: D = (2, 1.5); what is left is .25² four times and .5² four times."""
    ensemble = Ensemble.from_partitions(np.array([[0, 0], [0, 0], [1, 0], [1, 1]]))
    problem = _Problem.of(ensemble)
    Q = np.array([[1, 0], [1, 0], [0, 1], [0, 1]]) / np.sqrt(2)
    w = np.array([0.5, 0.5])
    D = problem.through_clusters(Q, w)[1].diagonal()
    np.testing.assert_allclose(D, [2.0, 1.5])
    assert problem.objective(Q, D, w) == pytest.approx(1.25, rel=1e-12)
    # joined pairs, in order: both times 2² + 2² and 3² + 1², together 2² + 1² + 1²
    np.testing.assert_array_equal(problem.G, [[8, 6], [6, 10]])


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_weights_are_the_nearest(missing):
    """On the simplex, against a general solver on the full matrices."""
    labels = repeated(missing)
    core = Ensemble.from_partitions(labels).compress()
    rng = np.random.default_rng(0)
    Q, D = rng.random((core.n_rows, 3)) / 5, rng.random(3) * 20
    problem = _Problem.of(core)
    w = np.empty(6)
    w[core.partition_order] = problem.nearest_weights(Q, D)
    M = connective(labels)
    full = core.expand(Q)
    U = full @ np.diag(D) @ full.T
    G = np.einsum("ixy,jxy->ij", M, M)
    order = core.partition_order
    np.testing.assert_allclose(problem.G, G[np.ix_(order, order)])

    def error(v):
        return ((np.tensordot(v, M, 1) - U) ** 2).sum()

    expected = minimize(
        error,
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1.0)
    assert error(w) <= expected.fun * (1 + 1e-9)
    assert problem.objective(Q, D, w[order]) == pytest.approx(error(w), rel=1e-10)


def test_learned_weights():
    """Partitions at random get less than those that agree; the objective is that of A(w)."""
    rng = np.random.default_rng(2)
    labels = make_partitions(80, 6, 3, noise=0.15, random_state=1)[0]
    labels = np.column_stack([rng.integers(0, 3, 80), labels, rng.integers(0, 3, 80)])
    method = NMFC(3, partition_weights="learned", random_state=0).fit(labels)
    w = method.partition_weights_
    assert w.sum() == pytest.approx(1.0)
    assert max(w[0], w[-1]) < w[1:-1].max() / 4
    A = np.tensordot(w, connective(labels), 1)
    U = method.membership_ @ method.membership_.T
    assert method.objective_ == pytest.approx(((A - U) ** 2).sum(), rel=1e-8)
    order = rng.permutation(8)
    other = NMFC(3, partition_weights="learned", random_state=0).fit(labels[:, order])
    np.testing.assert_allclose(other.partition_weights_, w[order], rtol=0, atol=1e-8)


def test_equal_weights_are_equal():
    method = NMFC(3, random_state=0).fit(repeated())
    np.testing.assert_allclose(method.partition_weights_, 1 / 6)


@pytest.mark.parametrize("weights", ["equal", "learned"])
@pytest.mark.parametrize("init", ["k-means", "random"])
def test_all_settings_find_a_planted_partition(weights, init):
    labels, truth = make_partitions(90, 12, 3, noise=0.1, missing_ratio=0.1)
    method = NMFC(3, partition_weights=weights, init=init, random_state=0).fit(labels)
    assert adjusted_rand_score(truth, method.labels_) > 0.95


def test_the_objective_falls():
    """From a random start, to a fraction; it may rise a little before Q is orthogonal."""
    method = NMFC(4, init="random", n_init=1, random_state=0).fit(repeated(seed=7))
    assert method.history_[-1] < 0.9 * method.history_[0]
    assert np.diff(method.history_).max() < 0.02 * method.history_[0]


def test_starts_that_lose_a_cluster_come_last():
    labels = make_partitions(60, 4, 3, noise=0.6, random_state=2)[0]
    assert NMFC(10, random_state=0).fit(labels).n_clusters_ == 10


def test_max_iter_is_reported():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        method = NMFC(3, max_iter=2, n_init=1, random_state=0).fit(repeated())
    assert not method.converged_
    assert method.n_iter_ == 2


def test_first_updates_equal_those_of_the_full_matrix():
    """Intermediate values of the reference file."""
    (case,) = load_cases("nmfc")
    labels, expected = case.partitions, case.intermediate
    core = Ensemble.from_partitions(labels).compress()
    problem = _Problem.of(core)
    G = np.empty((10, 10))
    G[np.ix_(core.partition_order, core.partition_order)] = problem.G
    np.testing.assert_allclose(G[0], expected["squared_overlaps"])
    H = np.eye(8)[labels[:, 0]] + 0.2
    Q = np.empty((core.n_rows, 8))
    Q[core.inverse] = H  # a function of the labels, so equal rows agree
    Q /= np.sqrt(core.weights @ Q**2)
    w = np.full(10, 0.1)
    D = problem.through_clusters(Q, w)[1].diagonal()
    method = NMFC(8, max_iter=expected["updates"], tol=1e-300)
    fit = method._factorize(problem, _Fit(Q, D, w))
    assert not fit.converged
    np.testing.assert_allclose(fit.history, expected["objective"], rtol=1e-9)
    np.testing.assert_allclose(np.sort(fit.D), expected["D"], rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"partition_weights": "uniform"}, "partition_weights"),
        ({"partition_weights": [1.0, 2.0]}, r"partition_weights must have shape \(6,\)"),
        ({"partition_weights": [1.0, 2, 3, 4, 5, 0]}, "partition_weights must be positive"),
        ({"tol": 0.0}, "tol"),
        ({"init": "svd"}, "init"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        NMFC(3, **parameters).fit(repeated())


def test_array_of_weights():
    """The factorization of Σ_i w_i M^(i) / Σ_i w_i, whatever the order of the partitions."""
    labels, w = repeated(0.2), np.array([1.0, 2, 4, 1, 3, 1])
    method = NMFC(3, partition_weights=w, init="random", n_init=1, random_state=5).fit(labels)
    np.testing.assert_allclose(method.partition_weights_, w / 12)
    core = Ensemble.from_partitions(labels).compress()
    columns = w[core.partition_order]
    start = method._initialize(core, columns, np.random.default_rng(5).spawn(1)[0])
    A = np.tensordot(w / 12, connective(labels), 1)
    Q, D, history = factorize_slowly(A, core.expand(start))
    np.testing.assert_allclose(method.membership_, Q @ np.sqrt(D), rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, history, rtol=1e-8)
    order = np.random.default_rng(0).permutation(6)
    other = NMFC(3, partition_weights=w[order], random_state=0).fit(labels[:, order])
    one = NMFC(3, partition_weights=w, random_state=0).fit(labels)
    np.testing.assert_allclose(other.membership_, one.membership_, rtol=0, atol=1e-10)


def test_the_unit_of_an_array_of_weights_does_not_matter():
    labels = repeated()
    one = NMFC(3, partition_weights=np.ones(6), random_state=0).fit(labels)
    three = NMFC(3, partition_weights=[3.0] * 6, random_state=0).fit(labels)
    equal = NMFC(3, random_state=0).fit(labels)
    np.testing.assert_array_equal(one.membership_, equal.membership_)
    np.testing.assert_allclose(three.membership_, equal.membership_, rtol=0, atol=1e-12)


def test_weights_by_agreement():
    labels = repeated()
    method = NMFC(3, partition_weights="agreement", random_state=0).fit(labels)
    agreement = crowd_agreement(labels)
    np.testing.assert_allclose(method.partition_weights_, agreement / agreement.sum())


@pytest.mark.parametrize("weights", ["learned", "agreement"])
def test_battery_with_other_weights(weights):
    check_consensus(NMFC(partition_weights=weights, n_init=2))


@pytest.mark.parametrize("weights", ["equal", "learned"])
@pytest.mark.parametrize("unit", [2.0**-36, 2.0**36])
def test_the_unit_of_the_weights_does_not_matter(weights, unit):
    labels = make_partitions(40, 6, 3, noise=0.3)[0]
    counts = np.random.default_rng(0).integers(1, 5, 40).astype(float)
    method = NMFC(3, partition_weights=weights, random_state=0)
    expected = clone(method).fit(Ensemble.from_partitions(labels, weights=counts))
    found = clone(method).fit(Ensemble.from_partitions(labels, weights=counts * unit))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.membership_, expected.membership_, rtol=0, atol=1e-12)
    assert found.objective_ / unit**2 == pytest.approx(expected.objective_, rel=1e-12)
