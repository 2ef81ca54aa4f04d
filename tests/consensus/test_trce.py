"""TRCE against its authors' program and a computation on all samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score
from unreduced_trce import Unreduced, tri_level

from partita import TRCE, Ensemble
from partita.consensus.trce import _Model
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning


def fit(partitions, n_clusters, **options) -> TRCE:
    """Fit, and take the warning about the number of components for granted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The graph learned by TRCE has", PartitaWarning)
        return TRCE(n_clusters, **options).fit(partitions)


def components(method: TRCE) -> np.ndarray:
    return connected_components(method.core_matrix_)[1][method.core_index_]


def repeated(n_rows, seed, missing=0.0, noise=0.3):
    labels, _ = make_partitions(n_rows, 9, 3, noise=noise, missing_ratio=missing, random_state=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.repeat(np.arange(n_rows), rng.integers(1, 5, n_rows)))
    return labels[order]


# -- the authors' program ------------------------------------------------------------------------


class StaleIndex(_Model):
    """The program's slip: its loss of a sample sums over the last partition, m times."""

    def sample_losses(self):
        last = np.argmax(self.ensemble.partition_order)
        return self.ensemble.n_partitions * self.divergence[:, last] / self.alpha[last]


@pytest.mark.shared
@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_equals_the_authors_program(oracle, gamma):
    expected = oracle(f"trce_gamma{gamma:g}".replace(".", "p"))
    core = Ensemble.from_partitions(oracle.labels).compress()
    model = StaleIndex(core, oracle.n_clusters, gamma)
    trace, has_rank = [], False
    while not (has_rank and len(trace) > 1):
        model.update_samples()
        model.update_graphs()
        model.update_partitions()
        rho = model.rho
        has_rank = model.update_penalty()
        low = model.spectrum.sum_smallest, model.spectrum.sum_with_next
        trace.append((len(trace) + 1, rho, model.lam, *low))
    published = expected["trace_iter_rho_lambda_fn1_fn2"]
    np.testing.assert_allclose(trace, published, rtol=1e-10, atol=1e-12)
    assert model.rho == expected["rho_final"]
    assert model.spectrum.n_components == expected["n_components"]
    inverse = core.inverse
    for matrix, itself, name in (
        (model.B, model.B_itself, "B"),
        (model.S, model.S_itself, "S"),
    ):
        full = matrix[np.ix_(inverse, inverse)]
        np.fill_diagonal(full, itself[inverse])
        np.testing.assert_allclose(full, expected[name], rtol=0, atol=1e-12)
    alpha = expected["alpha_weights"][core.partition_order]
    np.testing.assert_allclose(model.alpha, alpha, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.w[inverse], expected["w"], rtol=0, atol=1e-12)
    found = model.spectrum.component[inverse]
    assert adjusted_rand_score(found, expected["labels"]) == 1.0


@pytest.mark.shared
@pytest.mark.parametrize("oracle", ["iris_a"], indirect=True)
def test_the_plain_computation_equals_the_authors_program(oracle):
    """The twin of the other tests, with the stale index."""
    expected = oracle("trce_gamma1")
    twin = tri_level(oracle.labels, oracle.n_clusters, 1.0, stale=True)
    for value, name in ((twin.S, "S"), (twin.B, "B"), (twin.w, "w"), (twin.alpha, "alpha_weights")):
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_all_partitions_in_the_losses_change_no_component_much(oracle, gamma):
    expected = oracle(f"trce_gamma{gamma:g}".replace(".", "p"))
    method = fit(oracle.labels, oracle.n_clusters, gamma=gamma)
    assert method.n_components_ == oracle.n_clusters
    ours = adjusted_rand_score(oracle.truth, method.labels_)
    assert ours > adjusted_rand_score(oracle.truth, expected["labels"]) - 0.05


# -- plain computation: every sample, the matrix of every partition --------------------------------


def assert_equals_unreduced(method: TRCE, expected: Unreduced) -> None:
    np.testing.assert_allclose(method.consensus_matrix(), expected.S, rtol=0, atol=1e-9)
    np.testing.assert_allclose(method.sample_weights_, expected.w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(method.alpha_, expected.alpha, rtol=0, atol=1e-9)
    np.testing.assert_allclose(method.history_, expected.objective, rtol=1e-9)
    assert method.rho_ == expected.rho
    # equal samples stay together, even where S parts them
    equal = method.core_index_[:, None] == method.core_index_
    assert method.n_components_ == connected_components((expected.S > 0) | equal)[0]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n_clusters", [2, 3, 6])
def test_equals_the_plain_program_on_all_samples(n_clusters, gamma, missing):
    partitions = repeated(16, 1, missing)
    expected = tri_level(partitions, n_clusters, gamma)
    assert expected.gap > 1e-4, "choose a seed where the embedding is unique"
    assert_equals_unreduced(fit(partitions, n_clusters, gamma=gamma), expected)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_vectors_that_part_equal_samples_take_part(gamma):
    """With many clusters, eigenvectors outside the space of distinct rows are among the K."""
    partitions = repeated(16, 1, 0.2)
    expected = tri_level(partitions, 10, gamma)
    assert expected.parts_equal_samples
    assert expected.gap > 1e-4
    assert_equals_unreduced(fit(partitions, 10, gamma=gamma), expected)


def test_many_partitions():
    """Row sums of C above 1e4, beyond the bracket of the authors' program."""
    partitions, y = make_partitions(40, 150, 3, noise=0.4)
    expected = tri_level(partitions, 3, 1.0)
    assert_equals_unreduced(fit(partitions, 3, gamma=1.0), expected)
    assert adjusted_rand_score(y, fit(partitions, 3).labels_) == 1.0


# -- what is ours --------------------------------------------------------------------------------


def test_samples_without_loss_do_not_remove_the_others():
    """A third of the samples is the same cluster in all partitions: the program's λ would be 0."""
    y = np.repeat([0, 1, 2], 20)
    partitions, _ = make_partitions(60, 10, 3, noise=0.2, balanced=True)
    partitions = np.where(y[:, None] == 0, 3, partitions)
    method = TRCE(3).fit(partitions)
    assert (method.sample_weights_[:20] == 1).all()
    assert (method.sample_weights_ > 0).all()
    assert len(np.unique(method.labels_[:20])) == 1
    assert not np.isin(method.labels_[20:], method.labels_[:20]).any()


def test_unlike_samples_and_partitions_lose_weight():
    partitions, y = make_partitions(90, 12, noise=0.05)
    rng = np.random.default_rng(0)
    partitions[:, 4] = rng.integers(3, size=90)
    partitions[7] = rng.permutation(np.arange(12) % 3)
    method = TRCE(3).fit(partitions)
    assert np.argmax(method.alpha_) == 4
    assert method.sample_weights_[7] < np.median(method.sample_weights_)
    others = np.arange(90) != 7
    assert adjusted_rand_score(y[others], method.labels_[others]) == 1.0
    order = rng.permutation(12)
    np.testing.assert_allclose(TRCE(3).fit(partitions[:, order]).alpha_, method.alpha_[order])


def test_the_right_number_of_components_says_nothing():
    partitions, y = make_partitions(noise=0.05)
    method = TRCE(3).fit(partitions)  # a warning would be an error
    assert method.converged_
    assert method.n_components_ == 3
    assert adjusted_rand_score(y, method.labels_) == 1.0
    np.testing.assert_allclose(method.consensus_matrix().sum(), 60.0)


def test_too_many_components_are_merged_whole():
    partitions, _ = make_partitions(40, 6, 3, noise=0.3)
    with pytest.warns(PartitaWarning, match="instead of n_clusters=3; they were merged") as caught:
        method = TRCE(3, gamma=1e-5).fit(partitions)
    assert not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert caught[0].filename == __file__
    assert method.n_components_ > method.n_clusters_ == 3
    assert not method.converged_
    groups = components(method)
    assert all(len(np.unique(method.labels_[groups == g])) == 1 for g in np.unique(groups))


def test_too_few_components_are_split_inside():
    partitions, y = make_partitions(60, 10, 3, noise=0.2)
    with pytest.warns(PartitaWarning, match="smaller gamma"):
        method = TRCE(3, gamma=1e4).fit(partitions)
    assert method.n_components_ < method.n_clusters_ == 3
    groups, labels = components(method), method.labels_
    assert all(len(np.unique(groups[labels == k])) == 1 for k in range(3))
    assert adjusted_rand_score(y, labels) > 0.9


def test_unanimous_partitions():
    """Nothing to learn: α and w keep their start."""
    partitions = np.repeat([[0, 0, 5], [1, 2, 6], [2, 1, 7], [3, 3, 8]], 3, axis=0)
    method = fit(partitions, 2)
    np.testing.assert_allclose(method.alpha_, 1 / 3)
    np.testing.assert_array_equal(method.sample_weights_, 1.0)
    assert method.n_components_ == 4
    assert method.n_clusters_ == 2


@pytest.mark.parametrize("n_samples", [3, 5, 12])
def test_few_samples(n_samples):
    partitions, _ = make_partitions(n_samples, 6, 2, noise=0.2)
    method = fit(partitions, 2)
    assert np.isfinite(method.history_).all()
    assert method.n_clusters_ == 2


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e9])
def test_fractional_and_huge_weights(factor):
    partitions, _ = make_partitions(40, 8, 3, noise=0.2)
    weights = factor * np.random.default_rng(0).uniform(0.2, 3, 40)
    method = fit(Ensemble.from_partitions(partitions, weights=weights), 3)
    assert np.isfinite(method.core_matrix_).all()
    sums = method.core_matrix_ @ method._core.weights
    np.testing.assert_allclose(sums @ method._core.weights, weights.sum(), rtol=1e-6)
