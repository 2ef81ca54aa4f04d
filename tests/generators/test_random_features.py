"""RandomFeatures: which features a partition sees, and that it sees no others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from partita.generators import RandomFeatures

X = np.random.default_rng(0).normal(size=(80, 30))


@pytest.mark.parametrize(("ratio", "count"), [(0.1, 3), (0.5, 15), (1.0, 30), (0.001, 1)])
def test_share_of_features(ratio, count):
    models = RandomFeatures(5, ratio=ratio, random_state=0).fit(X).models_
    assert all(len(set(model.features.tolist())) == count for model in models)
    assert all(model.centers.shape[1] == count for model in models)


def test_published_ratio_is_the_default():
    assert RandomFeatures().ratio == 0.1


def test_all_features_get_their_turn():
    models = RandomFeatures(100, ratio=0.1, max_iter=1, random_state=0).fit(X).models_
    assert set(np.concatenate([model.features for model in models]).tolist()) == set(range(30))


def test_unseen_features_change_nothing():
    generator = RandomFeatures(6, ratio=0.2, random_state=0).fit(X)
    for i, model in enumerate(generator.models_):
        changed = X.copy()
        unseen = np.setdiff1d(np.arange(30), model.features)
        changed[:, unseen] = np.random.default_rng(1).normal(size=(80, len(unseen)))
        assert_array_equal(generator.transform(changed)[:, i], generator.labels_[:, i])


def test_informative_features_are_found_among_noise():
    truth = np.repeat([0, 1], 40)
    mixed = X.copy()
    mixed[:, :3] += 20 * truth[:, None]
    generator = RandomFeatures(40, ratio=0.05, k_min=2, k_max=2, random_state=0).fit(mixed)
    for model, column in zip(generator.models_, generator.labels_.T, strict=True):
        informed = np.any(model.features < 3)
        assert (adjusted_rand_score(truth, column) > 0.9) == informed


def test_text_rows_without_a_chosen_word_are_missing():
    words = sp.random(60, 200, density=0.02, random_state=0, format="csr")
    words = words[np.diff(words.indptr) > 0]
    generator = RandomFeatures(8, ratio=0.3, metric="cosine", k_max=4, random_state=0).fit(words)
    for model, column in zip(generator.models_, generator.labels_.T, strict=True):
        empty = np.asarray(words[:, model.features].sum(axis=1)).ravel() == 0
        assert 0 < empty.sum() < len(empty)
        assert_array_equal(column == -1, empty)


@pytest.mark.parametrize("ratio", [0, 1.5, -0.1])
def test_ratio_is_a_share(ratio):
    with pytest.raises(ValueError, match="ratio"):
        RandomFeatures(ratio=ratio).fit(X)
