"""The work of BaseConsensus for every method, shown on a trivial method."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from partita import EAC, LWEA, NRSEC, RSEC, Ensemble, config_context, matrices
from partita.consensus import BaseConsensus, LearnedMatrixConsensus, MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError, NotSupportedError, PartitaWarning
from partita.registry import all_methods

INFO = replace(EAC.info, key="probe", bytes_needed=lambda size: size.n_rows)


class Probe(BaseConsensus):
    """Assign rows to the clusters in turn, and store the ensemble and a random number."""

    info: ClassVar[MethodInfo] = INFO
    _parameter_constraints: ClassVar[dict] = {"n_clusters": N_CLUSTERS}

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def _solve(self, ensemble, rng):
        self.received = ensemble
        self.drawn = rng.integers(2**40)
        return Solution(np.arange(ensemble.n_rows) % self.n_clusters)


LABELS = np.array([[0, 0], [1, 0], [0, 0], [2, 1], [3, 1]])


# -- what _solve gets ------------------------------------------------------------------------


def test_solve_gets_distinct_rows_with_weights():
    method = Probe(2).fit(LABELS)
    assert method.received.n_rows == 4
    assert sorted(method.received.weights.tolist()) == [1, 1, 1, 2]
    assert method.received.is_compressed
    assert method.labels_.shape == (5,)
    assert method.labels_[0] == method.labels_[2]


def test_solve_is_not_called_with_few_rows():
    method = Probe(4).fit(LABELS)
    assert not hasattr(method, "received")
    assert method.labels_.tolist() == [0, 1, 0, 2, 3]
    assert method.n_iter_ == 0


def test_fewer_rows_than_clusters_warn():
    with pytest.warns(
        PartitaWarning, match=r"Probe returned 4 clusters instead of n_clusters=5: .*4"
    ):
        Probe(5).fit(LABELS)


def test_a_method_without_a_random_state_draws_the_same():
    assert Probe(2).fit(LABELS).drawn == Probe(2).fit(LABELS).drawn


# -- what comes back -------------------------------------------------------------------------


class Returns(Probe):
    answer: ClassVar = None

    def _solve(self, ensemble, rng):
        return type(self).answer


def returning(solution, base=Returns):
    return type("Returning", (base,), {"answer": solution})


def test_clusters_are_numbered_by_first_appearance():
    method = returning(Solution(np.array([7, 3, 7, 90])))(3).fit(LABELS)
    _, first = np.unique(method.labels_, return_index=True)
    assert method.labels_.max() == 2
    assert np.all(np.diff(first) > 0)
    assert method.n_clusters_ == 3


def test_what_was_learned_becomes_attributes():
    solution = Solution(
        np.array([0, 1, 0, 1]),
        objective=np.float32(2.5),
        n_iter=np.int64(9),
        converged=np.False_,
        history=[3, 2],
        learned={"extra_": "kept"},
    )
    method = returning(solution)(2).fit(LABELS)
    assert (method.objective_, method.n_iter_, method.converged_) == (2.5, 9, False)
    assert [type(v) for v in (method.objective_, method.n_iter_, method.converged_)] == [
        float,
        int,
        bool,
    ]
    assert method.history_.tolist() == [3, 2]
    assert method.extra_ == "kept"


def test_a_refit_removes_earlier_attributes():
    method = returning(Solution(np.array([0, 1, 0, 1]), history=[1], learned={"extra_": 1}))(2)
    method.fit(LABELS)
    method.set_params(n_clusters=4).fit(LABELS)
    assert not hasattr(method, "extra_")
    assert not hasattr(method, "history_")


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (np.zeros(3, int), ValueError, "each of 4 rows, got 3"),
        (np.zeros(5, int), ValueError, "each of 4 rows, got 5"),
        (np.array([0, -1, 0, 1]), TypeError, "number clusters from 0 on"),
        (np.array([0.0, 1.0, 0.0, 1.0]), TypeError, "number clusters from 0 on"),
    ],
)
def test_invalid_labels(labels, error, words):
    with pytest.raises(error, match=words):
        returning(Solution(labels))(2).fit(LABELS)


def test_too_few_clusters_warn():
    with pytest.warns(
        PartitaWarning, match="returned 1 clusters instead of n_clusters=2: the meth"
    ):
        returning(Solution(np.zeros(4, int)))(2).fit(LABELS)


def test_unlabeled_samples_are_minus_one():
    table = np.insert(LABELS, 0, -1, axis=0)
    with pytest.raises(ValueError, match=r"unlabeled=\"keep\""):
        Probe(2).fit(table)
    method = Probe(2).fit(Ensemble.from_partitions(table, unlabeled="keep"))
    assert method.labels_[0] == -1
    assert method.labels_[1] == 0
    assert method.n_clusters_ == 2


# -- what may not be done --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fit", "fit_predict"])
def test_fit_is_final(name):
    with pytest.raises(TypeError, match=rf"Wrong overrides \['{name}'\]; write `_solve` instead"):
        type("Wrong", (Probe,), {name: lambda self, X: self})


def test_a_method_must_define_solve():
    class Abstract(BaseConsensus):
        info = INFO

    with pytest.raises(TypeError, match="_solve"):
        Abstract()


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, "3", None])
def test_wrong_n_clusters(n_clusters):
    with pytest.raises(ValueError, match="'n_clusters' parameter of Probe must be"):
        Probe(n_clusters).fit(LABELS)


def test_more_clusters_than_samples():
    with pytest.raises(ValueError, match=r"n_clusters=6 must be between 1 and.*n_samples=5"):
        Probe(6).fit(LABELS)


# -- missing labels and noise ----------------------------------------------------------------

NOISY = np.array([[0, -1], [0, 1], [1, -1], [1, 2]])


@pytest.mark.parametrize(
    ("noise", "clusters", "missing"),
    [("missing", [2, 2], 2), ("cluster", [2, 3], 0), ("singletons", [2, 4], 0)],
)
def test_what_minus_one_means(noise, clusters, missing):
    method = Probe(2).fit(NOISY, noise=noise)
    assert sorted(method.received.n_clusters.tolist()) == clusters
    assert method.received.n_missing == missing
    np.testing.assert_array_equal(Probe(2).fit_predict(NOISY, noise=noise), method.labels_)
    with pytest.raises(ValueError, match="noise must be one of"):
        Probe(2).fit(NOISY, noise="drop")


def test_refusing_missing_labels_names_methods_that_accept_them():
    class Refuses(Probe):
        info = replace(INFO, missing="refused")

    with pytest.raises(NotSupportedError, match=r"2 are missing. Methods that accept them: .*EAC"):
        Refuses(2).fit(NOISY)
    Refuses(2).fit(NOISY, noise="cluster")


# -- memory ----------------------------------------------------------------------------------


def test_memory_is_checked_before_solving():
    with (
        config_context(memory_budget=3),
        pytest.raises(MemoryBudgetError, match=r"Probe on 4 distinct rows needs 4 bytes"),
    ):
        Probe(2).fit(LABELS)
    with config_context(memory_budget=4):
        assert Probe(2).fit(LABELS).received.n_rows == 4


def test_the_error_names_methods_that_would_fit():
    ensemble = Ensemble.from_partitions(make_partitions(3000, 12, noise=0.5)[0]).compress()
    with config_context(memory_budget=20 * 2**20):
        with pytest.raises(MemoryBudgetError) as caught:
            LWEA(3).fit(ensemble)
        assert f"({8 * ensemble.n_rows**2} bytes)" in str(caught.value)
        assert "Methods that would fit:" in str(caught.value)
        assert "LWGP" in str(caught.value)
        assert "EAC" not in str(caught.value).replace("WEAC", "")


def test_methods_that_refuse_missing_labels_are_not_suggested():
    class RefusesButFits(Probe):
        info = replace(INFO, missing="refused", bytes_needed=lambda size: 1)

    with config_context(memory_budget=2):
        with pytest.raises(MemoryBudgetError, match="RefusesButFits"):
            Probe(2).fit(NOISY, noise="cluster")
        with pytest.raises(MemoryBudgetError) as caught:
            Probe(2).fit(NOISY)
    assert "RefusesButFits" not in str(caught.value)


# -- learned matrices ------------------------------------------------------------------------


class Learns(LearnedMatrixConsensus, Returns):
    pass


def test_learned_matrix_per_sample():
    matrix = np.arange(16.0).reshape(4, 4)
    matrix += matrix.T
    table = np.insert(LABELS, 2, -1, axis=0)
    solution = Solution(np.array([0, 1, 0, 1]), matrix=matrix, diagonal=np.full(4, 100.0))
    method = returning(solution, Learns)(2)
    with pytest.raises(NotFittedError):
        method.consensus_matrix()
    method.fit(Ensemble.from_partitions(table, unlabeled="keep"))
    full, index = method.consensus_matrix(), method.core_index_
    assert index[2] == -1
    for p in range(6):
        for q in range(6):
            expected = 0.0 if 2 in (p, q) else matrix[index[p], index[q]] + 100.0 * (p == q)
            assert full[p, q] == expected
    with config_context(memory_budget=100), pytest.raises(MemoryBudgetError, match="6 x 6"):
        method.consensus_matrix()


def test_no_matrix_where_nothing_was_learned():
    method = returning(Solution(np.zeros(4, int)), Learns)(4).fit(LABELS)
    with pytest.raises(NotSupportedError, match="every distinct row became a cluster"):
        method.consensus_matrix()


# -- scikit-learn ----------------------------------------------------------------------------


def test_names_of_a_data_frame_are_stored():
    frame = pd.DataFrame(LABELS, columns=["first", "second"])
    method = Probe(2).fit(frame)
    assert method.feature_names_in_.tolist() == ["first", "second"]
    assert method.n_features_in_ == 2
    assert not hasattr(Probe(2).fit(LABELS), "feature_names_in_")
    assert Probe(2).fit(Ensemble.from_partitions(LABELS)).n_features_in_ == 2


# -- over all methods ------------------------------------------------------------------------

METHODS = all_methods()


def quick(method, n_clusters=3):
    settings = {"n_clusters": n_clusters}
    # few restarts: what these tests show, no restart changes
    few = {"random_state": 0, "n_init": 2}
    return method(**settings, **{name: few[name] for name in few if name in method().get_params()})


def fit(method, labels, n_clusters=3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        return quick(method, n_clusters).fit(labels)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
class TestEveryMethod:
    def test_one_partition(self, method):
        labels = np.repeat([0, 1, 2, 3], [4, 1, 2, 3])[:, None]
        assert adjusted_rand_score(labels[:, 0], fit(method, labels, 4).labels_) == 1

    def test_one_sample(self, method):
        assert fit(method, np.array([[5, 6]]), 1).labels_.tolist() == [0]

    def test_more_partitions_than_a_byte_counts(self, method):
        labels, truth = make_partitions(40, 300, noise=0.1, balanced=method.info.balanced)
        assert adjusted_rand_score(truth, fit(method, labels).labels_) > 0.9

    def test_a_partition_of_singletons(self, method):
        """300 clusters: two bytes a label."""
        labels, truth = make_partitions(300, 8, noise=0, balanced=method.info.balanced)
        found = fit(method, np.column_stack([labels, np.arange(300)])).labels_
        assert adjusted_rand_score(truth, found) > 0.9

    def test_an_ensemble_can_be_used_twice(self, method):
        ensemble = Ensemble.from_partitions(make_partitions()[0])
        before = ensemble.codes.copy(), ensemble.weights.copy()
        first, second = fit(method, ensemble).labels_, fit(method, ensemble).labels_
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(ensemble.codes, before[0])
        np.testing.assert_array_equal(ensemble.weights, before[1])

    def test_the_unit_of_weights(self, method):
        if method in (RSEC, NRSEC):
            pytest.skip("its penalty counts samples: twice as many is another problem")
        labels = make_partitions(40, 8)[0]
        weights = np.random.default_rng(0).integers(1, 4, 40)
        plain = fit(method, Ensemble.from_partitions(labels, weights=weights)).labels_
        for unit in (0.1, 3):
            other = fit(method, Ensemble.from_partitions(labels, weights=weights * unit)).labels_
            assert adjusted_rand_score(plain, other) == 1


@pytest.mark.parametrize("method", [EAC(3), LWEA(3)], ids=repr)
def test_the_unit_of_weights_where_many_pairs_tie(method):
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels = rng.integers(0, 3, (20, 3))
        weights = rng.integers(1, 4, 20)
        plain = method.fit_predict(Ensemble.from_partitions(labels, weights=weights))
        for unit in (0.1, 1 / 3, 7):
            other = method.fit_predict(Ensemble.from_partitions(labels, weights=weights * unit))
            np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize(
    "method",
    [m for m in METHODS if issubclass(m, LearnedMatrixConsensus)],
    ids=lambda m: m.__name__,
)
def test_learned_matrices_of_unlabeled_samples(method):
    table = np.insert(make_partitions(30, 6)[0], 3, -1, axis=0)
    full = fit(method, Ensemble.from_partitions(table, unlabeled="keep")).consensus_matrix()
    assert full.shape == (31, 31)
    assert not full[3].any()
    assert not full[:, 3].any()
    assert np.isfinite(full).all()


@pytest.mark.parametrize(
    "matrix",
    [
        matrices.coassociation,
        matrices.locally_weighted_coassociation,
        matrices.trajectory_similarity,
    ],
    ids=lambda f: f.__name__,
)
def test_matrices_of_unlabeled_samples(matrix):
    table = np.insert(make_partitions(30, 6)[0], 3, -1, axis=0)
    full = matrix(Ensemble.from_partitions(table, unlabeled="keep"))
    expected = matrix(np.delete(table, 3, axis=0))
    np.testing.assert_array_equal(np.delete(np.delete(full, 3, 0), 3, 1), expected)
    assert not np.delete(full[3], 3).any()
