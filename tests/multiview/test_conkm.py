"""ConKM: k-means on the concatenation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from planted_views import two_blind_views
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from partita.multiview import ConKM
from partita.multiview._concatenation import concatenate


def test_objective_is_that_of_k_means_on_scaled_views():
    views, _ = two_blind_views(noise=0.8)
    unit = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in views]
    best = KMeans(4, n_init=50, random_state=0).fit(np.hstack(unit))
    model = ConKM(n_clusters=4, random_state=0).fit(views)
    assert model.objective_ == pytest.approx(best.inertia_, rel=1e-6)
    assert adjusted_rand_score(model.labels_, best.labels_) == 1.0


def test_scale_decides():
    """A view in a small unit has no influence if its features are used as they are."""
    views, y = two_blind_views()
    views[1] = views[1] / 1000
    scaled = ConKM(n_clusters=4, scale="frobenius", random_state=0).fit_predict(views)
    plain = ConKM(n_clusters=4, scale="none", random_state=0).fit_predict(views)
    assert adjusted_rand_score(y, scaled) == 1.0
    assert adjusted_rand_score(y, plain) < 0.6


def test_concatenation_is_sparse_where_that_is_smaller():
    dense, thin = np.ones((10, 2)), sp.random(10, 50, 0.1, "csr", random_state=0)
    wide = concatenate([dense, thin])
    assert sp.issparse(wide)
    assert wide.indices.dtype == np.int32
    np.testing.assert_array_equal(wide.toarray(), np.hstack([dense, thin.toarray()]))
    full = concatenate([dense, sp.csr_array(np.ones((10, 3)))])
    np.testing.assert_array_equal(full, np.ones((10, 5)))
