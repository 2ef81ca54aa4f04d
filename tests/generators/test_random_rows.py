"""RandomRows: the pattern of what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from partita.exceptions import PartitaWarning
from partita.generators import RandomRows

X = np.random.default_rng(0).normal(size=(150, 4))


@pytest.mark.parametrize(("ratio", "seen"), [(0.2, 30), (0.5, 75), (0.8, 120), (1.0, 150)])
def test_share_of_rows(ratio, seen):
    labels = RandomRows(40, ratio=ratio, random_state=0).fit_transform(X)
    assert_array_equal((labels >= 0).sum(axis=0), seen)


@pytest.mark.parametrize("ratio", [0.2, 0.8])
def test_share_of_rows_with_replacement(ratio):
    """1 - (1 - 1/n)^(ratio n) of the rows, about 1 - exp(-ratio)."""
    generator = RandomRows(200, ratio=ratio, replacement=True, k_max=2, max_iter=1, random_state=0)
    share = (generator.fit_transform(X) >= 0).mean(axis=0)
    expected = 1 - (1 - 1 / 150) ** (ratio * 150)
    assert share.mean() == pytest.approx(expected, abs=0.005)
    assert len(set(share)) > 1
    assert expected == pytest.approx(1 - np.exp(-ratio), abs=0.002)


def test_a_row_drawn_twice_counts_twice():
    """With one cluster the center is the mean of the draws."""
    views = []

    class Recording(RandomRows):
        def _view(self, n_samples, n_features, rng):
            views.append(super()._view(n_samples, n_features, rng))
            return views[-1]

    # one job, so that the views come in the order of the models
    options = {"ratio": 1.0, "replacement": True, "n_clusters": 1, "k_max": 1, "n_jobs": 1}
    generator = Recording(12, random_state=0, **options)
    generator.fit(X)
    prepared = generator._preparation.apply(X)
    for i, (view, model) in enumerate(zip(views, generator.models_, strict=True)):
        assert len(view.rows) == 150
        assert len(np.unique(view.rows)) < 150
        assert_allclose(model.centers[0], prepared[view.rows].mean(axis=0), rtol=0, atol=1e-5)
        assert_array_equal(np.unique(view.rows), np.flatnonzero(generator.labels_[:, i] >= 0))


def test_rows_are_drawn_evenly_and_anew():
    observed = RandomRows(200, ratio=0.3, k_max=2, max_iter=1, random_state=0).fit_transform(X) >= 0
    assert len({column.tobytes() for column in observed.T}) == 200
    # binomial(200, 0.3): mean 60, standard deviation 6.5
    assert np.all(np.abs(observed.sum(axis=1) - 60) < 30)


def test_unseen_rows_have_no_say():
    generator = RandomRows(8, ratio=0.5, random_state=0).fit(X)
    seen = generator.labels_[:, 0] >= 0
    others = X.copy()
    others[~seen] = X[~seen] + np.random.default_rng(1).normal(size=(75, 4))
    # shift and scale come from all rows, so the last digit of a seen row may change
    again = RandomRows(8, ratio=0.5, random_state=0)
    again.fit(np.where(seen[:, None], X, others))
    assert np.mean(again.labels_[seen, 0] == generator.labels_[seen, 0]) > 0.97


def test_transform_labels_everything():
    generator = RandomRows(10, random_state=0).fit(X)
    assert (generator.labels_ == -1).any()
    assert generator.transform(X).min() >= 0
    assert generator.transform(X[:3]).shape == (3, 10)


def test_k_max_follows_the_rows_a_partition_sees():
    clusters = RandomRows(100, ratio=0.2, max_iter=2, random_state=0).fit(X).n_clusters_
    assert set(clusters.tolist()) == {2, 3, 4, 5}
    with pytest.raises(ValueError, match=r"n_samples=30 rows, fewer than k_min=40"):
        RandomRows(ratio=0.2, n_clusters=40).fit(X)


def test_samples_in_no_partition_are_announced():
    with pytest.warns(PartitaWarning, match=r"of 150 samples have no label.*ratio=0.1"):
        RandomRows(2, ratio=0.1, random_state=0).fit(X)


@pytest.mark.parametrize("ratio", [0, 1.5])
def test_ratio_is_a_share(ratio):
    with pytest.raises(ValueError, match="ratio"):
        RandomRows(ratio=ratio).fit(X)
