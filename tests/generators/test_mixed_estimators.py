"""MixedEstimators: any clusterers, noise as missing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita.generators import MixedEstimators

X = make_blobs(100, 3, centers=3, random_state=1)[0]
NOISY = np.vstack([X, [[200.0, 0, 0], [0, 300.0, 0]]])


def test_labels_are_the_estimators_own():
    estimators = [AgglomerativeClustering(3), KMeans(4, random_state=5), DBSCAN(1.0)]
    labels = MixedEstimators(estimators).fit_transform(X)
    for column, estimator in zip(labels.T, estimators, strict=True):
        assert_array_equal(column, estimator.fit_predict(X))


@pytest.mark.parametrize("estimator", [DBSCAN(2.0), HDBSCAN(10, copy=True)], ids=str)
def test_noise_is_missing(estimator):
    labels = MixedEstimators([estimator]).fit_transform(NOISY)
    assert_array_equal(labels[-2:], -1)
    assert labels.max() >= 1


def test_every_negative_label_is_missing():
    class Codes(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            return np.array([0, 1, -1, -2, -3])

    assert MixedEstimators([Codes(2)]).fit_transform(X[:5]).ravel().tolist() == [0, 1, -1, -1, -1]


def test_given_seeds_stay_and_absent_ones_are_set():
    estimators = [KMeans(3, random_state=7), KMeans(3), make_pipeline(StandardScaler(), KMeans(3))]
    generator = MixedEstimators(estimators, random_state=0).fit(X)
    fixed, seeded, nested = generator.models_
    assert fixed.random_state == 7
    assert isinstance(seeded.random_state, int)
    assert isinstance(nested[-1].random_state, int)
    assert seeded.random_state != nested[-1].random_state
    assert estimators[1].random_state is None
    assert not hasattr(estimators[0], "cluster_centers_")


def test_transform_predicts():
    generator = MixedEstimators([KMeans(3), GaussianMixture(3), KMeans(5)], random_state=0).fit(X)
    labels = generator.transform(NOISY)
    assert labels.dtype == np.int32
    for column, model in zip(labels.T, generator.models_, strict=True):
        assert_array_equal(column, model.predict(NOISY))


def test_wrong_estimators():
    with pytest.raises(ValueError, match="estimators is empty"):
        MixedEstimators([]).fit(X)
    with pytest.raises(TypeError, match=r"estimators\[1\] must be a clusterer.*StandardScaler"):
        MixedEstimators([KMeans(2), StandardScaler()]).fit(X)
    for wrong in (KMeans, "kmeans"):
        with pytest.raises(TypeError, match=r"estimators\[0\] must be a clusterer"):
            MixedEstimators([wrong]).fit(X)

    class Soft(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(TypeError, match=r"estimators\[0\] must label samples with one integer"):
        MixedEstimators([Soft(2)]).fit(X)
