"""`labels_for_each` gives the labels of separate fits, with less work."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from partita.consensus import CCGP, EAC, LWGP
from partita.consensus.nested import labels_for_each, labels_for_parts
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.ensemble.column_reduction import compress_columns
from partita.exceptions import PartitaWarning
from partita.metrics import adjusted_rand
from partita.registry import all_methods, prepare

PARTITIONS = make_partitions(60, 9, 3, noise=0.3)[0]


@pytest.mark.parametrize("method", [m for m in all_methods() if m not in (LWGP, CCGP)])
def test_the_labels_are_those_of_separate_fits(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        together = list(labels_for_each(prepare(method, None, 3), PARTITIONS, [2, 3, 5]))
        apart = [prepare(method, k, 3).fit_predict(PARTITIONS) for k in (2, 3, 5)]
    np.testing.assert_array_equal(together, apart)


def test_lwgp_finds_the_clusters_of_a_fit():
    partitions, y = make_partitions(90, 20, 4, noise=0.2)
    (labels,) = labels_for_each(LWGP(random_state=0), partitions, [4])
    np.testing.assert_array_equal(labels, LWGP(4, random_state=0).fit_predict(partitions))
    assert adjusted_rand(y, labels) > 0.95


def test_lwgp_of_a_number_depends_on_no_other_number():
    (one,) = labels_for_each(LWGP(random_state=0), PARTITIONS, [5])
    _, _, same, _ = labels_for_each(LWGP(random_state=0), PARTITIONS, [2, 3, 5, 8])
    np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("method", [EAC(), LWGP(random_state=0)])
def test_more_clusters_than_distinct_rows(method):
    table = np.repeat([[0, 0], [0, 1], [1, 1]], 4, axis=0)
    with pytest.warns(PartitaWarning, match="3 clusters for n_clusters=5, 6: .* 3 distinct"):
        two, five, _ = labels_for_each(method, table, [2, 5, 6])
    assert two.max() == 1
    np.testing.assert_array_equal(five, np.repeat([0, 1, 2], 4))


def test_samples_without_any_label_stay_without():
    table = np.vstack([PARTITIONS, np.full((1, 9), -1)])
    ensemble = Ensemble.from_partitions(table, unlabeled="keep")
    for labels in labels_for_each(LWGP(random_state=0), ensemble, [2, 3]):
        assert np.flatnonzero(labels < 0).tolist() == [60]


@pytest.mark.parametrize("method", [LWGP(random_state=0), CCGP(random_state=0), EAC()])
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_parts_are_clustered_as_by_themselves(method, share_missing):
    """Shared terms of the certainty change no label of a subset of the partitions."""
    rng = np.random.default_rng(0)
    partitions = make_partitions(60, 20, 3, noise=0.5)[0]
    table = np.where(rng.random(partitions.shape) < share_missing, -1, partitions)
    ensemble = Ensemble.from_partitions(table, unlabeled="keep")
    core = ensemble.compress()
    rows = Ensemble.from_codes(core.codes, core.layout, weights=core.weights)
    subsets = [rng.permutation(20)[:10], rng.permutation(20)[:11]]
    every = labels_for_parts(method, ensemble, rows, subsets, [2, 3], warn=False)
    apart = [
        labels
        for part in (ensemble, *(rows.subset(partitions=subset) for subset in subsets))
        for labels in labels_for_each(method, part, [2, 3], warn=False)
    ]
    for together, expected in zip(every, apart, strict=True):
        np.testing.assert_array_equal(together, expected)


def test_compressed_columns_keep_their_order_and_clusters():
    ensemble = Ensemble.from_partitions(PARTITIONS)
    columns = np.array([5, 2, 7])
    part, whole = compress_columns(ensemble, columns), ensemble.subset(partitions=columns)
    np.testing.assert_array_equal(part.codes[part.inverse], ensemble.codes[:, columns])
    np.testing.assert_array_equal(part.weights, whole.compress().weights)
    np.testing.assert_array_equal(part.inverse, whole.compress().inverse)
