"""CSPA against cuts counted on the full graph, the toy of the paper, and sizes no graph fits."""

from __future__ import annotations

import numpy as np
import pytest
from balanced_cuts import EQUAL, TOY, TOY_ANSWER, UNEQUAL, blobs, coassociation_cut
from sklearn.metrics import adjusted_rand_score

from partita import CSPA, LWGP, Ensemble, config_context, matrices
from partita._packages import is_installed
from partita.config import Progress
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.solvers.graph_cut.graphs import METIS_ROWS, cut_cliques
from partita.testing import consensus_checks
from references import load_cases

PARTITIONERS = ("builtin", "metis")


@pytest.fixture(params=PARTITIONERS)
def partitioner(request):
    if request.param == "metis":
        pytest.importorskip("pymetis")
    return request.param


@pytest.mark.skipif(not is_installed("pymetis"), reason="tests/test_all_methods.py has it")
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_without_the_extra(check):
    check(CSPA(partitioner="builtin"))


def test_toy_of_the_paper(partitioner):
    """Five agreements in four clusterings are cut: 1-4, 2-5, 3-4, 5-6 and 5-7."""
    found = CSPA(3, partitioner=partitioner, random_state=0).fit(TOY)
    np.testing.assert_array_equal(found.labels_, TOY_ANSWER)
    assert found.objective_ == 5 / 4
    assert found.partitioner_ == partitioner


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_objective_is_the_cut_of_the_full_graph(partitioner, missing):
    labels = np.repeat(make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing)[0], 3, axis=0)
    found = CSPA(4, partitioner=partitioner, random_state=0).fit(labels)
    assert found.objective_ == pytest.approx(coassociation_cut(labels, found.labels_), rel=1e-12)
    assert found.history_[-1] == pytest.approx(found.objective_, rel=1e-12)
    sizes = np.bincount(found.labels_)
    heaviest = np.unique(labels, axis=0, return_counts=True)[1].max()
    assert sizes.max() <= max(1.05 * 30, 30 + heaviest)


def test_weighted_rows_are_the_full_graph():
    """The same partition cuts the same on distinct rows and on samples."""
    labels = np.repeat(make_partitions(30, 5, 3, noise=0.4)[0], 2, axis=0)
    full = Ensemble.from_partitions(labels)
    core = full.compress()
    options = {"balance": 0.05, "n_init": 2, "partitioner": "builtin", "task": "test"}
    found = cut_cliques(
        matrices.incidence(core), core.weights, 3, np.random.default_rng(0), **options
    )
    assert found.cut / 5 == pytest.approx(coassociation_cut(labels, core.expand(found.labels)))


def test_cut_of_ecoli(partitioner):
    case = load_cases("cspa")[1]
    cut = coassociation_cut(case.partitions, case.y)
    assert cut == pytest.approx(case.intermediate["cut_of_y"])
    method = CSPA(8, partitioner=partitioner, random_state=0).fit(case.partitions)
    assert method.objective_ <= case.expected[0]["at_most"]


def test_equal_blobs_are_found_and_unequal_ones_are_not(partitioner):
    """The figures in the docstring: a balanced cut must break large clusters."""
    truth, labels = blobs(EQUAL)
    method = CSPA(4, partitioner=partitioner, random_state=0)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) > 0.95
    truth, labels = blobs(UNEQUAL)
    assert 0.5 < adjusted_rand_score(truth, method.fit_predict(labels)) < 0.7
    assert adjusted_rand_score(truth, LWGP(4, random_state=0).fit_predict(labels)) > 0.95


def test_twenty_thousand_rows_without_an_n_by_n_matrix():
    """All rows distinct, in a budget far below the 3.2 GB that n² doubles would take."""
    labels, truth = make_partitions(20_000, 20, 5, noise=0.5, balanced=True)
    with config_context(memory_budget=100 * 2**20):
        found = CSPA(5, n_init=1, random_state=0).fit(labels)
    assert found.partitioner_ == "builtin"
    assert adjusted_rand_score(truth, found.labels_) > 0.9


def test_metis_needs_the_graph_and_says_so():
    labels = make_partitions(2000, 10, 5, noise=0.5)[0]
    with config_context(memory_budget=20 * 2**20):
        with pytest.raises(MemoryBudgetError, match="CSPA on"):
            CSPA(5, partitioner="metis").fit(labels)
        assert CSPA(5, partitioner="builtin", n_init=1, random_state=0).fit(labels).n_clusters_ == 5
    assert METIS_ROWS == 500, "the docstring names this number"


def test_progress_is_told_and_interrupts_go_through():
    steps: list[Progress] = []
    labels = make_partitions(60, 6)[0]
    with config_context(progress=steps.append):
        CSPA(3, partitioner="builtin", random_state=0).fit(labels)
    assert [s.done for s in steps] == list(range(1, len(steps) + 1))
    assert {(s.task, s.total) for s in steps} == {("CSPA", len(steps))}

    def interrupt(_):
        raise KeyboardInterrupt

    with config_context(progress=interrupt), pytest.raises(KeyboardInterrupt):
        CSPA(3, partitioner="builtin", random_state=0).fit(labels)


@pytest.mark.parametrize(("name", "value"), [("balance", -0.1), ("partitioner", "kahypar")])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        CSPA(2, **{name: value}).fit(TOY)
