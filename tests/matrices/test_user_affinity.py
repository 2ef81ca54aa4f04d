"""Matrices with a row per sample, on the rows of an ensemble."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble, locally_weighted_coassociation
from partita.datasets import make_partitions
from partita.exceptions import NotSupportedError
from partita.matrices.user_affinity import is_constant_on_rows, reduce_pairs, split_rows


@pytest.fixture
def labels():
    return make_partitions(60, 4, noise=0.2)[0]


def test_reducing_undoes_expanding(labels):
    core = Ensemble.from_partitions(labels).compress()
    assert core.n_rows < len(labels)
    full = locally_weighted_coassociation(labels)
    assert is_constant_on_rows(full, core)
    values, own = reduce_pairs(full, core)
    expected = locally_weighted_coassociation(core, expand=False)
    several = (core.weights > 1) | ~np.eye(core.n_rows, dtype=bool)
    np.testing.assert_allclose(values[several], expected[several], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(values[~several], 1.0)  # one sample: all there is of it
    np.testing.assert_array_equal(own, 1.0)


@pytest.mark.parametrize("where", ["pair", "diagonal"])
def test_one_different_entry_is_detected(labels, where):
    core = Ensemble.from_partitions(labels).compress()
    members = np.flatnonzero(core.inverse == np.argmax(core.weights))
    p, q = (members[1], members[1]) if where == "diagonal" else (members[1], members[2])
    full = locally_weighted_coassociation(labels)
    full[p, q] += 1e-6
    full[q, p] = full[p, q]
    assert not is_constant_on_rows(full, core)


def test_unlabeled_samples_do_not_count(labels):
    labels[[3, 17]] = -1
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    core = ensemble.compress()
    full = locally_weighted_coassociation(ensemble)
    full[3] = full[:, 3] = np.random.default_rng(0).random(len(labels))
    assert is_constant_on_rows(full, core)
    affinity = np.random.default_rng(1).random((60, 60))
    rows = split_rows(affinity + affinity.T, ensemble)
    assert rows.n_rows == 58
    assert rows.n_samples == 60
    np.testing.assert_array_equal(np.flatnonzero(rows.inverse < 0), [3, 17])


def test_a_row_per_sample_keeps_labels_and_weights(labels):
    weights = np.random.default_rng(2).random(60) + 0.5
    ensemble = Ensemble.from_partitions(labels, weights=weights)
    affinity = np.random.default_rng(3).random((60, 60))
    rows = split_rows(affinity + affinity.T, ensemble)
    np.testing.assert_array_equal(rows.weights[rows.inverse], weights)
    core = ensemble.compress()
    np.testing.assert_array_equal(rows.codes[rows.inverse], core.codes[core.inverse])
    order = np.random.default_rng(4).permutation(60)
    shuffled = split_rows(
        (affinity + affinity.T)[np.ix_(order, order)],
        Ensemble.from_partitions(labels[order], weights=weights[order]),
    )
    np.testing.assert_array_equal(shuffled.inverse, rows.inverse[order])


def test_weights_lost_by_compressing_are_an_error(labels):
    affinity = np.random.default_rng(5).random((60, 60))
    assert (
        split_rows(affinity + affinity.T, Ensemble.from_partitions(labels).compress()).n_rows == 60
    )
    weighted = Ensemble.from_partitions(labels, weights=np.full(60, 2.0)).compress()
    with pytest.raises(NotSupportedError, match="before compression"):
        split_rows(affinity + affinity.T, weighted)
