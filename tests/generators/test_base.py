"""What every generator promises, whatever it runs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import config_context
from partita.consensus import LWGP
from partita.generators import (
    LandmarkSpectral,
    MixedEstimators,
    RandomFeatures,
    RandomK,
    RandomMetrics,
    RandomProjections,
    RandomRows,
    SpectralBandwidths,
)

KMEANS = [
    RandomK(6, random_state=0),
    RandomFeatures(6, ratio=0.5, random_state=0),
    RandomProjections(6, random_state=0),
    RandomRows(6, ratio=0.8, random_state=0),
]
ALL = [
    *KMEANS,
    LandmarkSpectral(6, n_clusters=3, random_state=0),
    RandomMetrics(6, n_clusters=3, random_state=0),
    SpectralBandwidths(3, multipliers=[0.5, 1.0, 5.0], random_state=0),
    MixedEstimators([KMeans(3), KMeans(9, init="random", n_init=1)], random_state=0),
]
by_name = pytest.mark.parametrize("generator", ALL, ids=lambda g: type(g).__name__)
by_kmeans_name = pytest.mark.parametrize("generator", KMEANS, ids=lambda g: type(g).__name__)


@pytest.fixture(scope="module")
def X():  # noqa: N802
    return make_blobs(120, 6, centers=4, cluster_std=2.0, random_state=3)[0]


@by_name
def test_output(generator, X):
    generator = clone(generator)
    labels = generator.fit_transform(X)
    assert labels.dtype == np.int32
    assert labels.shape == (120, generator._count())
    assert labels.min() >= -1
    assert_array_equal(labels, generator.labels_)
    counted = [len(set(column[column >= 0].tolist())) for column in labels.T]
    assert_array_equal(generator.n_clusters_, counted)


@by_name
def test_same_seed_same_labels_whatever_n_jobs(generator, X):
    one = clone(generator).set_params(n_jobs=1).fit_transform(X)
    assert_array_equal(one, clone(generator).set_params(n_jobs=2).fit_transform(X))
    with config_context(n_threads=2):
        assert_array_equal(one, clone(generator).fit_transform(X))


@by_name
def test_other_seed_other_labels(generator, X):
    first = clone(generator).fit_transform(X)
    assert not np.array_equal(first, clone(generator).set_params(random_state=1).fit_transform(X))


@by_kmeans_name
def test_partitions_differ_from_each_other(generator, X):
    labels = clone(generator).set_params(k_min=8, k_max=8).fit_transform(X)
    assert len({column.tobytes() for column in labels.T}) == 6


@by_kmeans_name
def test_first_partitions_do_not_depend_on_how_many_follow(generator, X):
    few = (
        clone(generator).set_params(n_partitions=4, ratio=0.9)
        if hasattr(generator, "ratio")
        else clone(generator).set_params(n_partitions=4)
    )
    many = clone(few).set_params(n_partitions=9)
    assert_array_equal(few.fit_transform(X), many.fit_transform(X)[:, :4])


@by_name
def test_any_kind_of_random_state(generator, X):
    for make in (np.random.RandomState, np.random.default_rng):
        first = clone(generator).set_params(random_state=make(7)).fit_transform(X)
        second = clone(generator).set_params(random_state=make(7)).fit_transform(X)
        assert_array_equal(first, second)


# RandomRows leaves a sample without a label in about one of a hundred random draws
@pytest.mark.filterwarnings("ignore:.* have no label in any:partita.exceptions.PartitaWarning")
@by_name
@pytest.mark.parametrize("random_state", [0, None])
def test_global_random_state_and_input_untouched(generator, X, random_state):
    given, copy = X.copy(), X.copy()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    position = np.random.get_state()[2]  # noqa: NPY002
    clone(generator).set_params(random_state=random_state).fit(given)
    assert_array_equal(given, copy)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert np.random.get_state()[2] == position  # noqa: NPY002


@by_name
def test_sparse_equals_dense(generator):
    # six groups on six axes: nobody is near a tie, so rounding cannot tell the two apart
    rng = np.random.default_rng(0)
    dense = np.kron(10 * np.eye(6), np.ones((20, 1))) * rng.uniform(0.9, 1.1, (120, 6))
    sparse = sp.csr_matrix(dense)
    copy = sparse.copy()
    generator = clone(generator)
    if isinstance(generator, RandomK | RandomFeatures | RandomRows | RandomProjections):
        generator.set_params(k_min=3, k_max=3)
    labels = generator.fit_transform(sparse)
    for array in ("data", "indices", "indptr"):
        assert_array_equal(getattr(sparse, array), getattr(copy, array))
    for form in (dense, sp.csc_array(dense), sp.coo_matrix(dense)):
        assert_array_equal(labels, clone(generator).fit_transform(form))


@by_kmeans_name
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_transform_repeats_the_training_labels(generator, X, metric):
    generator = clone(generator).set_params(metric=metric)
    labels = generator.fit_transform(X)
    again = generator.transform(X)
    assert again.min() >= 0
    assert_array_equal(again[labels >= 0], labels[labels >= 0])
    assert_array_equal(pickle.loads(pickle.dumps(generator)).transform(X), again)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("generator", ALL[:5] + ALL[7:], ids=lambda g: type(g).__name__)
def test_new_samples_may_be_sparse_after_a_dense_fit_and_dense_after_a_sparse_one(
    generator, X, metric
):
    forms = X, sp.csr_matrix(X)
    for fitted, other in (forms, forms[::-1]):
        generator = clone(generator).set_params(metric=metric).fit(fitted)
        assert_array_equal(generator.transform(other), generator.transform(fitted))


@by_kmeans_name
def test_transform_of_new_samples_takes_the_nearest_center(generator, X):
    rng = np.random.default_rng(5)
    new = X[rng.permutation(120)[:30]] + rng.normal(0, 0.5, (30, 6))
    generator = clone(generator).fit(X)
    labels = generator.transform(new)
    prepared = generator._preparation.apply(new).astype(float)
    for column, model in zip(labels.T, generator.models_, strict=True):
        features = np.arange(6) if model.features is None else model.features
        seen = prepared[:, features] if features.ndim == 1 else prepared @ features
        distances = np.linalg.norm(seen[:, None] - model.centers, axis=2)
        chosen = distances[np.arange(30), column]
        assert np.all(chosen <= distances.min(axis=1) * (1 + 1e-5))


@by_name
def test_cosine_knows_no_length(generator):
    rng = np.random.default_rng(1)
    X = np.kron(np.eye(6), np.ones((20, 1))) + rng.uniform(0, 0.2, (120, 6))
    generator = clone(generator).set_params(metric="cosine")
    longer = X * rng.uniform(0.01, 100, (120, 1))
    expected = clone(generator).fit_transform(X)
    assert_array_equal(clone(generator).fit_transform(longer), expected)
    generator.set_params(metric="euclidean")
    assert not np.array_equal(clone(generator).fit_transform(longer), expected)


@by_name
def test_progress(generator, X):
    steps = []
    generator = clone(generator).set_params(n_jobs=2)
    with config_context(progress=steps.append):
        generator.fit(X)
    count = generator._count()
    assert [(s.task, s.done, s.total) for s in steps] == [
        ("generate", i, count) for i in range(1, count + 1)
    ]


@by_name
def test_names_and_containers_of_the_output(generator, X):
    generator = clone(generator).set_output(transform="pandas")
    frame = generator.fit_transform(X)
    prefix = type(generator).__name__.lower()
    names = [f"{prefix}{i}" for i in range(generator._count())]
    assert list(frame.columns) == names
    assert list(generator.get_feature_names_out()) == names
    assert_array_equal(frame.to_numpy(), generator.labels_)


def test_in_a_pipeline(X):
    pipeline = make_pipeline(
        StandardScaler(), RandomK(20, random_state=0), LWGP(n_clusters=4, random_state=0)
    )
    labels = pipeline.fit_predict(X)
    assert len(np.unique(labels)) == 4


def test_transform_is_there_only_where_models_predict():
    assert all(hasattr(generator, "transform") for generator in KMEANS)
    assert hasattr(LandmarkSpectral(), "transform")
    assert not hasattr(RandomMetrics(), "transform")
    assert not hasattr(SpectralBandwidths(3), "transform")
    assert not hasattr(MixedEstimators([KMeans(3), DBSCAN()]), "transform")
    assert hasattr(MixedEstimators([KMeans(3)]), "transform")


def test_an_exception_of_a_partition_reaches_the_caller(X):
    class Broken(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            raise RuntimeError("broken base")

    with pytest.raises(RuntimeError, match="broken base"):
        MixedEstimators([KMeans(2), Broken(2), KMeans(2)], n_jobs=2).fit(X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_partitions": 0},
        {"n_clusters": 0},
        {"k_min": 2.5},
        {"metric": "manhattan"},
        {"n_init": 0},
        {"max_iter": 0},
        {"n_jobs": 0},
    ],
    ids=str,
)
@by_kmeans_name
def test_wrong_parameters_are_refused_at_fit(generator, X, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        clone(generator).set_params(**wrong).fit(X)
