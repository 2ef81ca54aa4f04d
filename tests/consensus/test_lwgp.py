"""LWGP against its published program, and what makes it the default."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import LWGP, Ensemble, config_context, matrices
from partita.datasets import make_partitions
from partita.solvers import transfer_cut_embedding
from references import load_cases


@pytest.mark.shared
def test_published_embedding_and_labels(oracle):
    reference = oracle("lwea_lwgp")
    ensemble = Ensemble.from_partitions(oracle.labels)
    graph = matrices.incidence(ensemble, matrices.cluster_certainty(ensemble))
    np.testing.assert_allclose(graph.toarray(), reference["LWGP_B"], rtol=0, atol=1e-14)
    values, embedding = transfer_cut_embedding(graph, ensemble.weights, oracle.n_clusters)
    published = np.sort(reference["LWGP_eigenvalues"])[::-1][: oracle.n_clusters]
    np.testing.assert_allclose(values, published, rtol=0, atol=1e-12)
    theirs = reference["LWGP_embedding"]
    np.testing.assert_allclose(embedding @ embedding.T, theirs @ theirs.T, rtol=0, atol=1e-10)

    method = LWGP(oracle.n_clusters, n_init=50, random_state=0).fit(oracle.labels)
    centers = [theirs[reference["labels_LWGP"] == k] for k in np.unique(reference["labels_LWGP"])]
    inertia = sum(((c - c.mean(axis=0)) ** 2).sum() for c in centers)
    assert method.objective_ <= inertia * (1 + 1e-9), "a poorer optimum than the published run"
    assert adjusted_rand_score(method.labels_, reference["labels_LWGP"]) >= 0.9


@pytest.mark.parametrize("case", load_cases("lwgp"), ids=attrgetter("name"))
def test_embedding_of_the_program(case):
    """Intermediate values of the reference file."""
    core = Ensemble.from_partitions(case.partitions).compress()
    graph = matrices.incidence(core, matrices.cluster_certainty(core))
    values, vectors = transfer_cut_embedding(graph, core.weights, case.parameters["n_clusters"])
    np.testing.assert_allclose(values, case.intermediate["eigenvalues"], rtol=0, atol=1e-12)
    embedding = core.expand(vectors)
    gram = (embedding @ embedding.sum(axis=0))[:: case.intermediate["every"]]
    np.testing.assert_allclose(gram, case.intermediate["gram_row_sums"], rtol=1e-9)


def test_reduction_is_exact():
    labels = np.repeat(make_partitions(40, 6, 3, noise=0.3)[0], 3, axis=0)
    full = Ensemble.from_partitions(labels)
    core = full.compress()
    embeddings = []
    for ensemble in (full, core):
        graph = matrices.incidence(ensemble, matrices.cluster_certainty(ensemble))
        _, vectors = transfer_cut_embedding(graph, ensemble.weights, 3)
        embeddings.append(vectors if ensemble is full else core.expand(vectors))
    np.testing.assert_allclose(
        embeddings[0] @ embeddings[0].T, embeddings[1] @ embeddings[1].T, rtol=0, atol=1e-10
    )


def test_twenty_thousand_rows_without_an_n_by_n_matrix():
    """In seconds, and with a budget far below the 3.2 GB that n² doubles would take."""
    labels, truth = make_partitions(20_000, 100, 10, noise=0.3)
    with config_context(memory_budget=200 * 2**20):
        found = LWGP(10, n_init=1, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(truth, found) > 0.95


def test_more_clusters_than_base_clusters():
    """K may exceed the number of base clusters; the embedding then has fewer columns."""
    labels = make_partitions(60, 2, 2, noise=0.5)[0]
    with pytest.warns(UserWarning, match="distinct rows"):
        LWGP(9, random_state=0).fit(labels)
