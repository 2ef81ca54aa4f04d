"""CCC against KCC, whose special case it is, and against k-means on the incidence matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from partita import CCC, KCC
from partita.datasets import make_partitions


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_ccc_is_kcc_with_category_utility(missing):
    labels = make_partitions(120, 9, 4, noise=0.4, missing_ratio=missing, random_state=5)[0]
    w = np.linspace(1, 2, 9)
    one = CCC(4, random_state=3, partition_weights=w).fit(labels)
    other = KCC(4, utility="c", random_state=3, partition_weights=w).fit(labels)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.objective_ == other.objective_
    assert one.utility_ == other.utility_


def test_ccc_is_k_means_on_the_incidence_matrix():
    labels = make_partitions(90, 8, 4, noise=0.3, random_state=7)[0]
    w = np.sqrt([2, 3, 5, 7, 11, 13, 17, 19])  # no two sums tie
    B = np.hstack([np.sqrt(w[i]) * np.eye(4)[column] for i, column in enumerate(labels.T)])
    seeds = [0, 20, 45, 80]
    plain = KMeans(4, init=B[seeds], n_init=1, tol=0).fit(B)
    method = CCC(4, init=seeds, partition_weights=w).fit(labels)
    assert method.objective_ == pytest.approx(plain.inertia_, rel=1e-10)
    assert adjusted_rand_score(method.labels_, plain.labels_) == 1.0


def test_more_clusters_than_rows_still_predicts():
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    with pytest.warns(UserWarning, match="distinct rows"):
        method = CCC(4).fit(labels)
    np.testing.assert_array_equal(method.predict(labels), method.labels_)
    assert method.objective_ == pytest.approx(0.0, abs=1e-12)
    assert method.utility_ == pytest.approx((1 - 0.5) + (1 - 0.625))
