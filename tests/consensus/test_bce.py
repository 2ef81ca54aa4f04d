"""BCE against a computation on all samples, and the promises of variational EM."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from unreduced_bce import variational_em

from partita import BCE, Ensemble
from partita.consensus import Size
from partita.consensus.bce import _Problem
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning


def repeated(seed, missing=0.0, noise=0.3):
    partitions, _ = make_partitions(15, 6, 3, noise=noise, missing_ratio=missing, random_state=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.repeat(np.arange(15), rng.integers(1, 4, 15)))
    return partitions[order]


def start(core, n_clusters, seed):
    """Return α, β as the method has it, and β as a table per partition of the user."""
    alpha, beta = _Problem(core).draw(n_clusters, np.random.default_rng(seed))
    tables = [None] * core.n_partitions
    for i, column in enumerate(core.partition_order):
        first, last = core.offsets[i : i + 2]
        names = [int(name) for name in core.categories[i]]
        tables[column] = np.full((n_clusters, max(names) + 1), np.nan)
        tables[column][:, names] = beta[first:last].T
    return alpha, beta, tables


# -- plain computation ---------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("n_clusters", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_plain_computation_on_all_samples(seed, n_clusters, missing):
    partitions = repeated(seed, missing)
    core = Ensemble.from_partitions(partitions).compress()
    assert core.n_rows < len(partitions)
    alpha, beta, tables = start(core, n_clusters, seed)
    assert not any(np.isnan(table).any() for table in tables)
    expected = variational_em(partitions, alpha, tables, n_iter=12)
    fit = BCE(n_clusters, max_iter=12, tol=1e-300)._maximize(_Problem(core), alpha, beta)
    np.testing.assert_allclose(fit.history, expected.bound, rtol=1e-9)
    np.testing.assert_allclose(fit.alpha, expected.alpha, rtol=1e-6)
    np.testing.assert_allclose(fit.gamma[core.inverse], expected.gamma, rtol=1e-6, atol=1e-9)
    for i, column in enumerate(core.partition_order):
        first, last = core.offsets[i : i + 2]
        names = [int(name) for name in core.categories[i]]
        np.testing.assert_allclose(
            fit.beta[first:last].T, expected.beta[column][:, names], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("init", ["k-means", "random"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bound_never_decreases(init, missing):
    partitions, _ = make_partitions(80, 10, 4, noise=0.35, missing_ratio=missing)
    core = Ensemble.from_partitions(partitions).compress()
    problem, method = _Problem(core), BCE(4, tol=1e-7)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        first = problem.cluster(4, rng) if init == "k-means" else problem.draw(4, rng)
        history = method._maximize(problem, *first).history
        assert len(history) > 5
        assert (np.diff(history) >= -1e-12 * abs(history[-1])).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    partitions, _ = make_partitions(60, 8, 3, noise=0.3, missing_ratio=0.1)
    method = BCE(3, n_init=2, random_state=0).fit(partitions)
    monkeypatch.setattr("partita.consensus.bce._ENTRIES", 300)
    again = BCE(3, n_init=2, random_state=0).fit(partitions)
    np.testing.assert_allclose(again.objective_, method.objective_, rtol=1e-10)
    np.testing.assert_allclose(again.membership_, method.membership_, atol=1e-6)


# -- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["k-means", "random"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_recovers_planted_clusters(init, missing):
    partitions, y = make_partitions(150, 12, 4, noise=0.05, missing_ratio=missing)
    method = BCE(4, init=init, n_init=4, random_state=0).fit(partitions)
    assert adjusted_rand_score(y, method.labels_) > (0.99 if missing == 0 else 0.95)
    assert method.converged_
    assert method.history_[-1] == method.objective_
    assert len(method.history_) == method.n_iter_


def test_membership_belongs_to_the_labels():
    partitions, _ = make_partitions(100, 9, 3, noise=0.4, shuffle=True)
    partitions = np.insert(partitions, 4, -1, axis=0)
    method = BCE(3, random_state=0).fit(Ensemble.from_partitions(partitions, unlabeled="keep"))
    assert method.membership_.shape == (101, 3)
    assert np.isnan(method.membership_[4]).all()
    kept = np.arange(101) != 4
    np.testing.assert_allclose(method.membership_[kept].sum(axis=1), 1.0)
    np.testing.assert_array_equal(method.membership_[kept].argmax(axis=1), method.labels_[kept])
    assert (method.membership_[kept] > 0).all()
    assert method.alpha_.shape == (3,)


def test_doubtful_samples_have_soft_memberships():
    partitions = np.repeat([[0] * 10, [1] * 10], 20, axis=0)
    partitions[0, 5:] = 1  # half of the partitions put it with the others
    method = BCE(2, random_state=0).fit(partitions)
    assert 0.3 < method.membership_[0, 0] < 0.7
    assert method.membership_[1:].max(axis=1).min() > 0.95


def test_more_restarts_do_not_lower_the_bound():
    partitions, _ = make_partitions(80, 8, 5, noise=0.45)
    bounds = [
        BCE(5, n_init=n, init="random", random_state=3).fit(partitions).objective_
        for n in (1, 4, 12)
    ]
    assert bounds[0] <= bounds[1] <= bounds[2]
    assert bounds[0] < bounds[2]


def test_order_of_rows_and_names_change_nothing():
    partitions, _ = make_partitions(80, 8, 4, noise=0.4)
    method = BCE(4, n_init=3, random_state=0).fit(partitions)
    order = np.random.default_rng(0).permutation(80)
    again = BCE(4, n_init=3, random_state=0).fit(9 - partitions[order])
    assert again.objective_ == method.objective_
    assert adjusted_rand_score(again.labels_, method.labels_[order]) == 1.0


def test_as_many_clusters_as_distinct_rows():
    with pytest.warns(PartitaWarning, match="distinct rows"):
        method = BCE(4).fit([[1, 0, 0, 1, 2, 2], [0, 1, 1, 0, 0, 0]])
    expected = np.eye(4)[[0, 1, 1, 0, 2, 2]]
    np.testing.assert_array_equal(method.membership_, expected)


def test_stopping_early_warns():
    partitions, _ = make_partitions(60, 8, 3, noise=0.3)
    with pytest.warns(ConvergenceWarning, match="BCE stopped after max_iter=3 iterations"):
        method = BCE(3, max_iter=3, random_state=0).fit(partitions)
    assert not method.converged_
    assert method.n_iter_ == 3


@pytest.mark.parametrize("n_clusters", [1, 2, 11])
@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_weights_of_any_size_and_numbers_of_clusters(factor, n_clusters):
    partitions, _ = make_partitions(12, 5, 3, noise=0.4)
    partitions = np.column_stack([partitions, np.zeros(12, int), np.arange(12) // 2])
    weights = factor * np.random.default_rng(0).uniform(0.2, 3, 12)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "BCE returned", PartitaWarning)
        method = BCE(n_clusters, n_init=2, random_state=0).fit(
            Ensemble.from_partitions(partitions, weights=weights)
        )
    assert np.isfinite(method.history_).all()
    np.testing.assert_allclose(method.membership_.sum(axis=1), 1.0)


def test_a_fit_stays_within_the_bytes_it_requires():
    partitions, _ = make_partitions(20_000, 10, 6, noise=0.4, k_min=10, k_max=10)
    rows = Ensemble.from_partitions(partitions).compress()
    method = BCE(6, n_init=2, max_iter=2, random_state=0)
    required = method.bytes_needed(Size.of(rows, 6))
    with pytest.warns(ConvergenceWarning):
        method.fit(partitions[:100])  # imports what it needs
    tracemalloc.start()
    try:
        with pytest.warns(ConvergenceWarning):
            method.fit(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 * required < peak < 1.3 * required
