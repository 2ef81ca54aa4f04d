"""HGPA against hyperedges counted one by one, the paper's toy, and exhaustive search on it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from balanced_cuts import EQUAL, TOY, TOY_ANSWER, UNEQUAL, blobs, hyperedges_cut
from sklearn.metrics import adjusted_rand_score

from partita import HGPA, config_context
from partita._packages import is_installed
from partita.datasets import make_partitions
from partita.solvers.graph_cut.hypergraphs import KAHYPAR_PINS
from partita.testing import consensus_checks
from references import load_cases


@pytest.fixture(params=("builtin", "kahypar"))
def partitioner(request):
    if request.param == "kahypar":
        pytest.importorskip("kahypar")
    return request.param


@pytest.mark.skipif(not is_installed("kahypar"), reason="tests/test_all_methods.py has it")
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_without_the_extra(check):
    check(HGPA(partitioner="builtin"))


def test_toy_of_the_paper(partitioner):
    """The expected answer cuts {3,4}, {5,6,7}, {1,4} and {2,5}; nothing balanced cuts fewer."""
    assert hyperedges_cut(TOY, TOY_ANSWER) == 4
    balanced = (np.array(p) for p in product(range(3), repeat=7))
    sizes_ok = (p for p in balanced if sorted(np.bincount(p, minlength=3)) == [2, 2, 3])
    fewest = min(hyperedges_cut(TOY, p) for p in sizes_ok if p[5] == p[6])
    found = HGPA(3, partitioner=partitioner, random_state=0).fit(TOY)
    assert found.objective_ == hyperedges_cut(TOY, found.labels_) == fewest == 4
    assert found.partitioner_ == partitioner


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_objective_is_the_number_of_hyperedges_cut(partitioner, missing):
    labels = np.repeat(make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing)[0], 3, axis=0)
    found = HGPA(4, partitioner=partitioner, random_state=0).fit(labels)
    assert found.objective_ == hyperedges_cut(labels, found.labels_) == found.history_[-1]
    heaviest = np.unique(labels, axis=0, return_counts=True)[1].max()
    assert np.bincount(found.labels_).max() <= max(1.05 * 30, 30 + heaviest)


def test_cut_of_ecoli(partitioner):
    case = load_cases("hgpa")[1]
    assert hyperedges_cut(case.partitions, case.y) == case.intermediate["cut_of_y"]
    method = HGPA(8, partitioner=partitioner, random_state=0).fit(case.partitions)
    assert method.objective_ <= case.expected[0]["at_most"]


def test_equal_blobs_are_found_and_unequal_ones_are_not(partitioner):
    truth, labels = blobs(EQUAL)
    method = HGPA(4, partitioner=partitioner, random_state=0)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) > 0.95
    truth, labels = blobs(UNEQUAL)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) < 0.7


def test_a_smaller_cut_may_be_a_worse_partition():
    """The docstring's warning: with every hyperedge cut anyway, saving one says nothing."""
    pytest.importorskip("kahypar")
    labels, truth = make_partitions(1000, 20, 8, noise=0.3, balanced=True)
    builtin = HGPA(8, partitioner="builtin", random_state=0).fit(labels)
    kahypar = HGPA(8, partitioner="kahypar", n_init=1, random_state=0).fit(labels)
    assert kahypar.objective_ < builtin.objective_ == hyperedges_cut(labels, truth) == 160
    assert adjusted_rand_score(truth, builtin.labels_) > 0.95
    assert adjusted_rand_score(truth, kahypar.labels_) < 0.5


def test_kahypar_cuts_no_more_than_the_start_that_joins_it():
    """Alone it cuts three hyperedges more here, and its partition has an ARI of 0.4."""
    pytest.importorskip("kahypar")
    labels, truth = make_partitions(500, 20, 5, noise=0.05, balanced=True)
    builtin = HGPA(5, partitioner="builtin", random_state=0).fit(labels)
    kahypar = HGPA(5, partitioner="kahypar", random_state=0).fit(labels)
    assert kahypar.objective_ <= builtin.objective_
    assert adjusted_rand_score(truth, kahypar.labels_) > 0.9


@pytest.mark.filterwarnings("ignore:.*all 12 samples have different labels")
def test_clusters_of_one_sample_are_no_hyperedges(partitioner):
    """KaHyPar itself crashes on them."""
    labels = np.column_stack([np.arange(12), np.arange(12) % 12, np.repeat([0, 1], 6)])
    found = HGPA(2, partitioner=partitioner, random_state=0).fit(labels)
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1], 6))
    alone = HGPA(3, partitioner=partitioner, random_state=0).fit(labels[:, :2])
    np.testing.assert_array_equal(np.bincount(alone.labels_), [4, 4, 4])


def test_large_ensembles_are_left_to_the_builtin_procedure():
    labels, truth = make_partitions(11_000, 20, 5, noise=0.5, balanced=True)
    with config_context(memory_budget=100 * 2**20):
        found = HGPA(5, n_init=1, random_state=0).fit(labels)
    assert found.partitioner_ == "builtin"
    assert adjusted_rand_score(truth, found.labels_) > 0.9
    assert KAHYPAR_PINS == 10_000, "the docstring names this number"
