"""MCLA against plain NumPy and, for the toy of the paper, votes worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from balanced_cuts import EQUAL, TOY, TOY_ANSWER, UNEQUAL, blobs, jaccard, one_hot
from sklearn.metrics import adjusted_rand_score

from partita import MCLA, Ensemble, matrices
from partita._packages import is_installed
from partita.datasets import make_partitions
from partita.exceptions import PartitaWarning
from partita.solvers.graph_cut.graphs import cut_graph
from partita.solvers.meta_clusters import find_meta_clusters
from partita.testing import consensus_checks
from references import load_cases

OPTIONS = {"balance": 0.05, "n_init": 5, "task": "test"}


@pytest.fixture(params=("builtin", "metis"))
def partitioner(request):
    if request.param == "metis":
        pytest.importorskip("pymetis")
    return request.param


@pytest.mark.skipif(not is_installed("pymetis"), reason="tests/test_all_methods.py has it")
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_without_the_extra(check):
    check(MCLA(partitioner="builtin"))


def test_toy_of_the_paper(partitioner):
    """Meta-clusters {h3,h4,h9}, {h2,h6,h8,h10}, {h1,h5,h7,h11} need 10 of 25: 20 % over a share."""
    method = MCLA(3, partitioner=partitioner, balance=0.2, random_state=0).fit(TOY)
    np.testing.assert_array_equal(method.labels_, TOY_ANSWER)
    core = Ensemble.from_partitions(TOY).compress()
    found = find_meta_clusters(
        matrices.incidence(core),
        matrices.cluster_jaccard(core),
        matrices.cluster_sizes(core),
        3,
        np.random.default_rng(0),
        partitioner=partitioner,
        **{**OPTIONS, "balance": 0.2},
    )
    association = core.expand(found.association)
    by_hand = np.array(
        [
            [3 / 4, 1, 1 / 2, 0, 1 / 4, 0, 0],
            [1 / 4, 0, 1 / 4, 1, 1 / 2, 0, 0],
            [0, 0, 0, 0, 1 / 3, 1, 1],
        ]
    ).T
    order = [association[o].argmax() for o in (1, 3, 6)]
    np.testing.assert_allclose(association[:, order], by_hand, atol=1e-15)


def test_few_base_clusters_have_room(partitioner):
    """11 base clusters for 3 meta-clusters: 25/3 + 25/11 = 10.6 is allowed."""
    found = MCLA(3, partitioner=partitioner, random_state=0).fit(TOY)
    np.testing.assert_array_equal(found.labels_, TOY_ANSWER)
    strict = MCLA(3, balance=0.0, partitioner=partitioner, random_state=0).fit(TOY)
    assert strict.objective_ == found.objective_ == pytest.approx(2.75, rel=1e-8)
    # twice as many base clusters, no room: no meta-cluster may exceed 50/3 by more than 5 %
    strict = MCLA(3, partitioner=partitioner, random_state=0).fit(np.hstack([TOY, TOY]))
    roomy = MCLA(3, balance=0.2, partitioner=partitioner, random_state=0).fit(np.hstack([TOY, TOY]))
    assert strict.objective_ > roomy.objective_


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_votes_on_distinct_rows_are_those_on_all_samples(missing):
    """Jaccard, sizes, votes and labels computed on all samples, from the meta-clusters found."""
    labels = np.repeat(make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing)[0], 3, axis=0)
    core = Ensemble.from_partitions(labels).compress()
    J, sizes = matrices.cluster_jaccard(core), matrices.cluster_sizes(core)
    B = core.expand(matrices.incidence(core).toarray())
    shared = B.T @ B
    size = shared.diagonal()
    np.testing.assert_allclose(sizes, size, atol=1e-12)
    np.testing.assert_allclose(J, shared / (size[:, None] + size - shared), atol=1e-12)
    found = find_meta_clusters(
        matrices.incidence(core), J, sizes, 3, np.random.default_rng(0), partitioner="builtin",
        **OPTIONS,
    )  # fmt: skip
    groups = found.groups.labels
    votes = np.column_stack([B[:, groups == k].mean(axis=1) for k in range(3)])
    np.testing.assert_allclose(core.expand(found.association), votes, atol=1e-12)
    np.testing.assert_array_equal(core.expand(found.labels), votes.argmax(axis=1))
    loads = np.bincount(groups, sizes)
    assert loads.max() <= 1.05 * loads.mean() + sizes.max()
    apart = groups[:, None] != groups
    assert found.groups.cut == pytest.approx(J[apart].sum() / 2, rel=1e-6)


def test_jaccard_coefficients_and_cut_of_ecoli(partitioner):
    case = load_cases("mcla")[1]
    core = Ensemble.from_partitions(case.partitions).compress()
    sums = np.sort(matrices.cluster_jaccard(core).sum(axis=1))[:: case.intermediate["every"]]
    np.testing.assert_allclose(sums, case.intermediate["jaccard_row_sums_sorted"], rtol=1e-10)
    method = MCLA(8, partitioner=partitioner, random_state=0).fit(case.partitions)
    assert method.objective_ <= case.expected[0]["at_most"]


def test_moderately_unequal_clusters_are_found(partitioner):
    """Meta-clusters are balanced, votes are shares: 1 : 2 : 3 is no obstacle, 1 : 2 : 4 : 8 is."""
    method = MCLA(3, partitioner=partitioner, random_state=0)
    labels, truth = make_partitions(noise=0.1)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) > 0.9
    truth, labels = blobs(EQUAL)
    method.set_params(n_clusters=4)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) > 0.95
    truth, labels = blobs(UNEQUAL)
    assert adjusted_rand_score(truth, method.fit_predict(labels)) < 0.8


def test_more_clusters_requested_than_exist():
    labels = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]]).T
    with pytest.warns(PartitaWarning, match="instead of"):
        found = MCLA(3, random_state=0).fit(labels[:, [0, 1, 1, 1]])
    assert found.n_clusters_ < 3
    many = make_partitions(40, 2, 2, noise=0.5)[0]
    assert len(np.unique(many, axis=0)) == 4
    with pytest.warns(PartitaWarning, match="distinct rows"):
        MCLA(6, random_state=0).fit(many)


def test_similarities_cut_as_a_graph():
    """The meta-clusters are the cut of the Jaccard graph itself, whatever the diagonal holds."""
    labels = make_partitions(60, 5, 3, noise=0.2)[0]
    J, size = jaccard(labels), one_hot(labels).sum(axis=0)
    emptied = J.copy()
    np.fill_diagonal(emptied, 0.0)
    cuts = [
        cut_graph(graph, size, 3, np.random.default_rng(0), partitioner="builtin", **OPTIONS)
        for graph in (J, emptied)
    ]
    assert cuts[0].cut == pytest.approx(cuts[1].cut)
