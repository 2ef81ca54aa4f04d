"""Views in, labels out: pseudo views, partial views, generators and weights by view."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    CCGP,
    EAC,
    SEC,
    Ensemble,
    RandomFeatures,
    RandomK,
    RandomProjections,
    adjusted_rand,
    config_context,
)
from partita.exceptions import InvalidEnsembleError, PartitaWarning
from partita.generators import RandomRows, SpectralBandwidths
from partita.multiview import MultiViewClustering, scan_k_views

SIZE = 120
Y = np.repeat(np.arange(4), SIZE // 4)


def planted_views(*n_features, noise=0.4, seed=0):
    """Return views in which the four classes lie around random centers, and a different unit."""
    rng = np.random.default_rng(seed)
    views = {}
    for v, d in enumerate(n_features):
        centers = rng.normal(size=(4, d))
        views["abcdef"[v]] = 10.0**v * (centers[Y] + noise * rng.normal(size=(SIZE, d)))
    return views


VIEWS = planted_views(10, 30)


def without(views, share, seed):
    """Return the views with a share of the rows NaN in each, no sample missing everywhere."""
    rng = np.random.default_rng(seed)
    n_missing = round(share * SIZE)
    is_free = np.ones(SIZE, bool)
    partial = {}
    for name, matrix in views.items():
        rows = rng.choice(np.flatnonzero(is_free), n_missing, replace=False)
        is_free[rows] = False
        partial[name] = matrix.copy()
        partial[name][rows] = np.nan
    return partial


def test_pseudo_views_are_fused_by_the_method():
    model = MultiViewClustering(4, random_state=0).fit(VIEWS)
    assert isinstance(model.method_, CCGP)
    assert adjusted_rand(Y, model.labels_) == 1
    assert model.n_clusters_ == 4
    assert model.view_names_ == ["a", "b"]
    assert model.sample_ids_ is None
    assert isinstance(model.partitions_, Ensemble)
    assert model.view_of_partition_.tolist() == ["a"] * 20 + ["b"] * 20
    assert model.partitions_.partition_names[[0, 19, 20]].tolist() == ["a/1", "a/20", "b/1"]
    assert set(model.partitions_.n_clusters) == {4}
    for name, d in (("a", 5), ("b", 15)):
        assert {len(m.features) for m in model.generators_[name].models_} == {d}
    np.testing.assert_array_equal(
        model.labels_, clone(model.method_).fit_predict(model.partitions_)
    )


def few(*arguments, **parameters):
    """Return an estimator with six partitions per view, which is quick."""
    return MultiViewClustering(*arguments, partitions_per_view=6, **parameters)


def test_a_number_that_nobody_gave_is_chosen_by_a_scan():
    model = few(generator=RandomK(6), random_state=0).fit(VIEWS)
    assert model.n_clusters_ == model.scan_.best_k == 4
    assert adjusted_rand(Y, model.labels_) == 1
    assert few(method=SEC(5, n_init=1), random_state=0).fit(VIEWS).scan_ is None


def test_partial_views_are_scanned():
    partial = without(VIEWS, 0.2, seed=1)
    options = {"n_resamples": 2, "n_null": 4, "random_state": 0}
    assert scan_k_views(partial, range(2, 6), **options).best_k == 4
    part = scan_k_views(partial, range(2, 6), max_samples=60, **options)
    assert len(part.labels[4]) == 60


def test_numbers_that_are_not_passed_fit_the_smallest_view():
    grid = np.repeat(np.indices((4, 3)).reshape(2, -1).T * 30.0, 6, axis=0)
    points = grid + np.random.default_rng(0).normal(size=grid.shape)
    views = [points, points[::8]]  # k-means on 80 % of 9 samples
    options = {"present": [range(72), range(0, 72, 8)], "n_resamples": 2, "n_null": 4}
    scan = scan_k_views(views, None, generator=RandomRows(6, ratio=0.8), random_state=0, **options)
    assert scan.k.tolist() == list(range(2, 8))


@pytest.mark.parametrize("is_same", [True, False])
def test_views_of_noise_have_no_structure(is_same):
    """Two views of the same noise agree with each other, as two of the reference data do."""
    rng = np.random.default_rng(1)
    first = rng.random((80, 3))
    second = first @ rng.normal(size=(3, 3)) if is_same else rng.random((80, 3))
    options = {"n_resamples": 2, "n_null": 4, "random_state": 0}
    assert scan_k_views([first, second], range(2, 6), **options).best_k is None


def test_views_without_structure_are_one_cluster(monkeypatch):
    monkeypatch.setattr("partita.select_k._choice._LARGEST", 3)
    noise = list(np.random.default_rng(1).random((2, 80, 3)))
    with pytest.warns(PartitaWarning, match="all samples are one cluster"):
        model = few(generator=RandomK(6), random_state=0).fit(noise)
    assert model.n_clusters_ == 1


def test_no_number_is_scanned_that_exceeds_the_rows_of_a_partition():
    """Partitions of a scan cluster four fifths of the samples of the smallest view: 7 of 9."""
    first, second = np.random.default_rng(0).normal(size=(2, 14, 2))
    second[9:] = np.nan
    with pytest.warns(PartitaWarning, match="all samples are one cluster"):
        model = MultiViewClustering(random_state=0).fit([first, second])
    assert list(model.scan_.k) == list(range(2, 8))


def test_sparse_views_need_a_number():
    with pytest.raises(ValueError, match=r"View 'view2' is sparse.*Pass the number of clusters"):
        few().fit([VIEWS["a"], sp.csr_array(VIEWS["b"])])


def test_one_partition_per_view_uses_all_features():
    model = MultiViewClustering(4, partitions_per_view=1, random_state=0).fit(VIEWS)
    assert model.partitions_.n_partitions == 2
    assert [g.ratio for g in model.generators_.values()] == [1.0, 1.0]
    half = clone(model).set_params(feature_ratio=0.5).fit(VIEWS)
    assert [g.ratio for g in half.generators_.values()] == [0.5, 0.5]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("method", [SEC(n_init=5), "ccgp", "eac"])
def test_every_sample_of_partial_views_gets_a_label(share, method):
    views = without(planted_views(10, 30, 5), share, seed=1)
    model = few(4, method=method, random_state=0).fit(views)
    assert model.labels_.shape == (SIZE,)
    assert model.labels_.min() == 0
    assert adjusted_rand(Y, model.labels_) > 0.95
    for name, view in views.items():
        columns = model.view_of_partition_ == name
        missing = np.isnan(view).all(axis=1)
        np.testing.assert_array_equal(
            model.partitions_.observed[:, columns].any(axis=1), ~missing, strict=True
        )
        assert (model.partitions_.observed[:, columns].all(axis=1) == ~missing).all()


def test_forms_of_partial_views_give_the_same_labels():
    partial = without(VIEWS, 0.2, seed=3)
    masks = {name: ~np.isnan(view).any(axis=1) for name, view in partial.items()}
    model = MultiViewClustering(4, partitions_per_view=5, random_state=0)
    expected = model.fit_predict(partial)
    by_mask = model.fit_predict(VIEWS, present=masks)
    by_index = model.fit_predict(
        {name: view[masks[name]] for name, view in VIEWS.items()},
        present={name: np.flatnonzero(mask) for name, mask in masks.items()},
    )
    np.testing.assert_array_equal(by_mask, expected)
    np.testing.assert_array_equal(by_index, expected)


def test_ids_are_matched_across_data_frames():
    polars = pytest.importorskip("polars")
    ids = np.asarray([f"s{i}" for i in range(SIZE)])
    rng = np.random.default_rng(0)
    orders = {"a": rng.permutation(SIZE)[:90], "b": rng.permutation(SIZE)}
    frames = {
        name: polars.DataFrame(VIEWS[name][order]).with_columns(id=polars.Series(ids[order]))
        for name, order in orders.items()
    }
    model = few(4, random_state=0).fit(frames, id_column="id", sample_ids=ids)
    assert adjusted_rand(Y, model.labels_) == 1
    assert model.partitions_.sample_ids.tolist() == ids.tolist()
    in_own_order = few(4, random_state=0).fit(frames, id_column="id")
    assert in_own_order.sample_ids_[:90].tolist() == ids[orders["a"]].tolist()


def test_a_sample_in_no_view_is_an_error():
    partial = {name: view.copy() for name, view in VIEWS.items()}
    for view in partial.values():
        view[[3, 7]] = np.nan
    with pytest.raises(ValueError, match=r"2 sample.s. are in no view: 3, 7"):
        MultiViewClustering(4).fit(partial)


def test_sparse_views_and_cosine():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(200, 0.05), 4)
    views = [
        sp.csr_array(np.stack([rng.multinomial(80, topics[k]) for k in Y]).astype(float))
        for _ in range(2)
    ]
    model = MultiViewClustering(4, generator=RandomFeatures(metric="cosine"), random_state=0)
    assert adjusted_rand(Y, model.fit_predict(views)) > 0.9
    assert model.generators_["view1"].n_partitions == 20
    assert model.generators_["view1"].ratio == 0.5
    assert set(model.generators_["view1"].n_clusters_) == {4}


def test_a_generator_for_every_view():
    generator = {"a": make_pipeline(StandardScaler(), RandomK(6)), "b": "random_projections"}
    views = planted_views(10, 30, 5)
    model = MultiViewClustering(4, generator=generator, partitions_per_view=7, random_state=0)
    model.fit(views)
    assert np.unique(model.view_of_partition_, return_counts=True)[1].tolist() == [6, 7, 7]
    assert isinstance(model.generators_["b"], RandomProjections)
    assert isinstance(model.generators_["c"], RandomFeatures)
    as_list = clone(model).set_params(generator=[generator["a"], RandomProjections, None])
    np.testing.assert_array_equal(as_list.fit_predict(views), model.labels_)


def test_settings_of_a_generator_are_kept():
    own = RandomFeatures(3, ratio=0.9, n_clusters=5, random_state=8)
    model = MultiViewClustering(4, generator=own, random_state=0).fit(VIEWS)
    fitted = model.generators_["a"]
    assert (fitted.n_partitions, fitted.ratio, fitted.n_clusters, fitted.random_state) == (
        3, 0.9, 5, 8,
    )  # fmt: skip
    assert fitted.k_max is None
    assert not hasattr(own, "labels_")
    ranges = few(4, generator=RandomK, random_state=0).fit(VIEWS)
    assert ranges.generators_["a"].n_clusters == 4
    assert max(ranges.generators_["a"].n_clusters_) > 4


def test_n_clusters_of_the_method_holds_where_none_is_passed():
    model = few(method=EAC(3), random_state=0).fit(VIEWS)
    assert model.n_clusters_ == 3
    assert max(model.partitions_.n_clusters) > 3
    assert few(4, method=EAC(3), random_state=0).fit(VIEWS).n_clusters_ == 4


def test_one_seed_for_all():
    def partitions(seed):
        return few(4, random_state=seed).fit(VIEWS).partitions_.codes

    np.testing.assert_array_equal(partitions(0), partitions(0))
    assert np.any(partitions(0) != partitions(1))
    same_view_twice = few(6, random_state=0).fit([VIEWS["a"], VIEWS["a"]])
    first, second = same_view_twice.generators_.values()
    assert first.random_state != second.random_state


def test_weights_by_view_are_those_of_the_partitions():
    noise = np.random.default_rng(5).normal(size=(SIZE, 6))
    views = {"noise": noise, "signal": VIEWS["a"]}
    model = few(4, method="sec", partition_weights={"noise": 0.01}, random_state=0).fit(views)
    np.testing.assert_array_equal(model.method_.partition_weights, np.repeat([0.01, 1.0], [6, 6]))
    assert adjusted_rand(Y, model.labels_) > 0.95
    as_list = clone(model).set_params(partition_weights=[0.01, 1]).fit(views)
    np.testing.assert_array_equal(as_list.labels_, model.labels_)


def test_predict_labels_new_samples_of_some_views():
    model = few(4, method="sec", random_state=0)
    with pytest.raises(NotFittedError):
        model.predict(VIEWS)
    model.fit(VIEWS)
    np.testing.assert_array_equal(model.predict(VIEWS), model.labels_)
    only_b = model.predict({"b": VIEWS["b"][:9]})
    np.testing.assert_array_equal(only_b, model.labels_[:9])
    partial = {"b": VIEWS["b"][:9], "a": VIEWS["a"][3:9]}
    labels = model.predict(partial, present={"a": range(3, 9)})
    np.testing.assert_array_equal(labels, model.labels_[:9])
    with pytest.raises(ValueError, match=r"No view 'z' in the fit, which had \['a', 'b'\]"):
        model.predict({"z": VIEWS["a"]})
    assert not hasattr(MultiViewClustering(method="eac"), "predict")
    only_fits = {"a": SpectralBandwidths()}
    assert not hasattr(MultiViewClustering(method="sec", generator=only_fits), "predict")


def test_a_method_from_elsewhere_gets_a_table():
    class Elsewhere(KMeans):
        def fit(self, X, y=None):
            assert X.shape == (SIZE, 12)
            super().fit(X)
            self.n_clusters_ = self.n_clusters
            return self

    model = few(4, method=Elsewhere(8, n_init=1), random_state=0)
    assert len(np.unique(model.fit_predict(VIEWS))) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter"),
        ({"partitions_per_view": 0}, "'partitions_per_view' parameter"),
        ({"feature_ratio": 1.5}, "'feature_ratio' parameter"),
        ({"method": "nope"}, "No consensus method 'nope'"),
        ({"generator": "nope"}, "No generator 'nope'"),
        ({"generator": {"z": "random_k"}}, "generator names 'z'; the views are"),
        ({"generator": ["random_k"]}, "generator must have 2 entries, one per view"),
        (
            {"method": "sec", "partition_weights": [1, 2, 3]},
            "partition_weights must have 2 entries",
        ),
        ({"method": "sec", "partition_weights": [1, -1]}, "partition_weights must be positive"),
        ({"method": "sec", "partition_weights": {"z": 1}}, "partition_weights names 'z'"),
        ({"method": "eac", "partition_weights": [1, 1]}, r"EAC has no partition_weights.*SEC"),
        ({"n_clusters": 400}, r"View 'a': .*fewer than k_min=400"),
    ],
)
def test_refused_in_words(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiViewClustering(**{"n_clusters": 4, **parameters}).fit(VIEWS)


@pytest.mark.filterwarnings("ignore:.* rows are all zero")
def test_samples_without_a_label_are_named():
    pandas = pytest.importorskip("pandas")
    ids = [f"s{i}" for i in range(SIZE)]
    frames = {name: pandas.DataFrame(view, index=ids) for name, view in VIEWS.items()}
    for frame in frames.values():
        frame.iloc[5] = 0
    with pytest.raises(InvalidEnsembleError, match=r"1 sample.s. have no label.*'s5'"):
        MultiViewClustering(4, generator=RandomFeatures(metric="cosine")).fit(frames)


def test_an_interrupted_fit_leaves_no_half_of_a_model():
    model = few(4, random_state=0).fit(VIEWS)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), config_context(progress=interrupt):
        model.fit(VIEWS)
    assert [name for name in vars(model) if name.endswith("_")] == []
