"""RandomMetrics: the graph against the published formulas, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import PartitaWarning
from partita.generators import RandomMetrics, random_metrics
from partita.generators.random_metrics import _graph

NOISE = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)


def published_graph(X, r, mu):
    """Entry by entry, as the authors' program computes it, up to a constant factor."""
    n = len(X)
    d = np.array([[np.sum((X[i] - X[j]) ** 2) for j in range(n)] for i in range(n)])
    e = np.array([np.sort(np.delete(d[i], i))[:r].mean() for i in range(n)])
    w = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = mu * (e[i] + e[j] + d[i, j]) / 3
            w[i, j] = np.exp(-(d[i, j] ** 2) / (2 * s**2)) / s if i != j else 0
    kept = np.zeros((n, n))
    for i in range(n):
        strongest = np.argsort(-w[i])[:r]
        kept[i, strongest] = w[i, strongest]
    return np.maximum(kept, kept.T)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("block", [1 << 21, 300])
def test_graph_is_the_published_one(form, block, monkeypatch):
    monkeypatch.setattr(random_metrics, "_DISTANCES", block)
    graph = _graph(form(NOISE), 6, 0.4).toarray()
    assert_allclose(graph, published_graph(NOISE.astype(float), 6, 0.4), rtol=1e-6)


def test_groups_are_separated():
    X, y = make_blobs(150, 8, centers=4, cluster_std=0.5, random_state=0)
    labels = RandomMetrics(6, k_min=4, k_max=4, random_state=0).fit_transform(X)
    assert np.median([adjusted_rand_score(y, column) for column in labels.T]) == 1


def test_range_of_k():
    clusters = RandomMetrics(60, n_clusters=3, random_state=0).fit(NOISE).n_clusters_
    assert set(clusters.tolist()) == {3, 4, 5, 6, 7}


def test_constant_and_repeated_rows():
    assert_array_equal(RandomMetrics(3, random_state=0).fit_transform(np.ones((20, 2))), 0)
    X = np.repeat([[0.0, 0.0], [1.0, 2.0], [5.0, 5.0]], 30, axis=0)
    generator = RandomMetrics(4, ratio=1.0, k_min=5, k_max=9, random_state=0).fit(X)
    for column in generator.labels_.T:
        assert adjusted_rand_score(np.repeat([0, 1, 2], 30), column) == 1


@pytest.mark.parametrize("n", [2, 3, 6])
def test_few_samples(n):
    labels = RandomMetrics(4, n_clusters=2, random_state=0).fit_transform(NOISE[:n])
    assert labels.min() == 0


def test_rows_without_direction_stay_unlabeled():
    X = np.vstack([np.zeros((2, 5)), np.abs(NOISE)])
    with pytest.warns(PartitaWarning, match="2 of 62 rows are all zero"):
        labels = RandomMetrics(4, metric="cosine", random_state=0).fit_transform(X)
    assert_array_equal(labels[:2], -1)
    assert labels[2:].min() == 0


@pytest.mark.parametrize(
    "wrong", [{"n_neighbors": (9, 5)}, {"multipliers": (0.0, 1.0)}, {"ratio": 0.0}], ids=str
)
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RandomMetrics(2, **wrong).fit(NOISE)
