"""LWEA against its published program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import partita
from partita import LWEA
from partita.datasets import make_partitions


@pytest.mark.shared
def test_published_labels(oracle):
    found = LWEA(oracle.n_clusters).fit_predict(oracle.labels)
    assert adjusted_rand_score(found, oracle("lwea_lwgp")["labels_LWEA"]) == 1.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_reduced_equals_unreduced(seed, missing):
    """Linkage on the full n x n matrix, SciPy's, gives the same partition."""
    labels = make_partitions(120, 8, 4, noise=0.25, missing_ratio=missing, random_state=seed)[0]
    matrix = partita.locally_weighted_coassociation(labels)
    tree = linkage(squareform(1 - matrix, checks=False), "average")
    expected = cut_tree(tree, 4).ravel()
    assert adjusted_rand_score(LWEA(4).fit_predict(labels), expected) == 1.0


def test_theta_matters():
    labels = make_partitions(100, 10, 3, noise=0.4)[0]
    heights = [LWEA(3, theta=t).fit(labels).tree_.height.max() for t in (0.1, 1.0)]
    assert heights[0] > heights[1]
    with pytest.raises(ValueError, match="theta"):
        LWEA(3, theta=0).fit(labels)
    assert np.isnan(LWEA(3).fit(labels).objective_)
