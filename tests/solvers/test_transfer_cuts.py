"""Rows that take part in a transfer cut without being embedded."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita.solvers import transfer_cut_embedding


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_links_are_further_rows_of_weight_one(form):
    rng = np.random.default_rng(0)
    graph = rng.random((30, 7)) * (rng.random((30, 7)) < 0.5)
    graph[:, 4] = 0.0  # a column tied to others by links only
    graph[:, 6] = 0.0  # a column tied to nothing
    graph[:, 0] += 0.1
    links = rng.random((9, 7))
    links[:, 6] = 0.0
    weights = rng.integers(1, 5, 30).astype(float)
    stacked, all_weights = np.vstack([graph, links]), np.concatenate([weights, np.ones(9)])
    expected_values, expected = transfer_cut_embedding(stacked, all_weights, 3)
    values, embedding = transfer_cut_embedding(form(graph), weights, 3, links)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-13)
    assert embedding.shape == (30, 3)
    np.testing.assert_allclose(
        embedding @ embedding.T, expected[:30] @ expected[:30].T, rtol=0, atol=1e-12
    )
