"""EAC against its published program and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.cluster.hierarchy import cut_tree
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from partita import EAC, Ensemble
from partita.datasets import make_partitions


def test_by_hand():
    # a,b together in 3 of 3; c,d in 2; b,c in 1: heights 0, 1/3, then the average of all others
    labels = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    method = EAC(2).fit(labels)
    np.testing.assert_array_equal(method.labels_, [0, 0, 1, 1])
    np.testing.assert_allclose(method.tree_.height, [1 / 3, (2 * 2 / 3 + 2 * 1) / 4])


def test_lifetime_chooses_the_number_of_clusters():
    labels, truth = make_partitions(80, 30, 4, noise=0.1)
    method = EAC(n_clusters=None).fit(labels)
    assert method.n_clusters_ == 4
    assert adjusted_rand_score(truth, method.labels_) == 1.0


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_missing_path_without_missing_labels_is_the_plain_path(linkage, monkeypatch):
    # eight partitions: eighths are exact, so that ties are ties in floating point too
    labels = make_partitions(50, 8, 3, noise=0.35, random_state=2)[0]
    plain = EAC(4, linkage=linkage).fit(labels)
    monkeypatch.setattr(Ensemble, "n_missing", 1)
    other = EAC(4, linkage=linkage).fit(labels)
    np.testing.assert_allclose(plain.tree_.height, other.tree_.height, rtol=0, atol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("linkage", ["average", "single"])
def test_published_labels(oracle, linkage):
    # Ties are broken in other ways there: ours may differ as much as the published labels differ
    # from those of SciPy on the same matrix in another order.
    reference = oracle("eac")
    found = EAC(oracle.n_clusters, linkage=linkage).fit_predict(oracle.labels)

    def agreement(labels):
        return max(
            adjusted_rand_score(labels, reference[f"labels_{kind}{linkage}"])
            for kind in ("", "nnchain_")
        )

    rng = np.random.default_rng(0)
    by_chance = [
        agreement(shuffled_linkage(1 - reference["CA"], linkage, oracle.n_clusters, rng))
        for _ in range(5)
    ]
    assert agreement(found) >= min(by_chance)


def shuffled_linkage(distances, linkage, n_clusters, rng):
    order = rng.permutation(len(distances))
    condensed = squareform(np.round(distances[np.ix_(order, order)], 12), checks=False)
    labels = np.empty(len(order), int)
    labels[order] = cut_tree(hierarchy.linkage(condensed, linkage), n_clusters).ravel()
    return labels


@pytest.mark.shared
def test_published_single_link_heights(oracle):
    distances = 1 - oracle("eac")["CA"]
    heights = hierarchy.linkage(squareform(distances, checks=False), "single")[:, 2]
    tree = EAC(2, linkage="single").fit(oracle.labels).tree_
    above = heights[len(heights) - len(tree.height) :]
    np.testing.assert_allclose(tree.height, above, rtol=0, atol=1e-12)
