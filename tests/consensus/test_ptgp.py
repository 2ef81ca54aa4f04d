"""PTGP against its published program and against its definition without any reduction of work."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from published import their_clusters, their_rows, within_sum_of_squares
from sklearn.metrics import adjusted_rand_score

from partita import PTGP, Ensemble, matrices, trajectory_similarity
from partita.datasets import make_partitions
from partita.solvers import transfer_cut_embedding
from references import load_cases


@pytest.mark.shared
def test_published_graph_embedding_and_labels(oracle):
    published = oracle("pta_ptgp")
    core = Ensemble.from_partitions(oracle.labels).compress()
    rows = their_rows(core, published["mc_of_object"] - 1)
    columns = their_clusters(core, oracle.labels)
    graph = PTGP(oracle.n_clusters)._graph(core)
    np.testing.assert_allclose(
        graph, published["PTGP_B"][np.ix_(rows, columns)], rtol=0, atol=1e-12
    )
    values, embedding = transfer_cut_embedding(graph, np.ones(core.n_rows), oracle.n_clusters)
    eigenvalues = np.sort(published["PTGP_eigenvalues"])[::-1][: oracle.n_clusters]
    np.testing.assert_allclose(values, eigenvalues, rtol=0, atol=1e-12)
    theirs = published["PTGP_embedding"][rows]
    np.testing.assert_allclose(embedding @ embedding.T, theirs @ theirs.T, rtol=0, atol=1e-10)

    method = PTGP(oracle.n_clusters, n_init=20, random_state=0).fit(oracle.labels)
    their_labels = their_rows(core, published["labels_PTGP"])
    inertia = within_sum_of_squares(theirs, their_labels)
    assert method.objective_ <= inertia * (1 + 1e-9), "a poorer optimum than the published run"
    agreement = adjusted_rand_score(method.labels_, published["labels_PTGP"])
    same_optimum = method.objective_ > inertia * (1 - 1e-9)
    assert agreement >= (1.0 if same_optimum else 0.85)


@pytest.mark.parametrize("case", load_cases("ptgp"), ids=attrgetter("name"))
def test_graph_and_embedding_of_the_program(case):
    """Intermediate values of the reference file."""
    expected = case.intermediate
    core = Ensemble.from_partitions(case.partitions).compress()
    method = PTGP(**case.parameters)
    graph = method._graph(core)
    every = expected["every"]
    sums = core.expand(graph.sum(axis=1))[::every]
    np.testing.assert_allclose(sums, expected["graph_row_sums"], rtol=1e-11)
    values, vectors = transfer_cut_embedding(graph, np.ones(core.n_rows), method.n_clusters)
    np.testing.assert_allclose(values, expected["eigenvalues"], rtol=0, atol=1e-11)
    embedding = core.expand(vectors)
    gram = embedding @ embedding.sum(axis=0)
    np.testing.assert_allclose(gram[::every], expected["gram_row_sums"], rtol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_graph_is_the_mean_similarity_to_the_micro_clusters_of_a_cluster(missing):
    labels = make_partitions(40, 5, 3, noise=0.3, missing_ratio=missing, random_state=5)[0]
    core = Ensemble.from_partitions(np.repeat(labels, 2, axis=0)).compress()
    similarity = trajectory_similarity(core, expand=False)
    found = PTGP(3)._graph(core)
    for i in range(core.n_partitions):
        for k in range(core.n_clusters[i]):
            members = core.codes[:, i] == k
            expected = similarity[:, members].mean(axis=1)
            np.testing.assert_allclose(found[:, core.offsets[i] + k], expected, rtol=0, atol=1e-14)


def test_sizes_enter_the_walk_only():
    """Weights change the labels' embedding through PTS and through nothing else."""
    labels = np.unique(make_partitions(60, 6, 3, noise=0.3)[0], axis=0)
    repeated = np.repeat(labels, 1 + np.arange(len(labels)) % 4, axis=0)
    core = Ensemble.from_partitions(repeated).compress()
    B = matrices.incidence(core).toarray()
    expected = trajectory_similarity(core, expand=False) @ B / B.sum(axis=0)
    np.testing.assert_allclose(PTGP(3)._graph(core), expected, rtol=0, atol=1e-14)
    once = PTGP(3, random_state=0).fit(labels)
    many = PTGP(3, random_state=0).fit(repeated)
    assert once.objective_ != many.objective_
