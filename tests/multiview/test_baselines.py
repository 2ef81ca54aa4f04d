"""What all multi-view baselines have in common."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from planted_views import clear_views, two_blind_views, with_missing_rows
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import ConvergenceWarning, NotSupportedError, PartitaWarning
from partita.multiview import CRSC, PVC, RMSC, ColNMF, ConKM, ConNMF, MultiNMF
from partita.multiview._scaling import scale_features

METHODS = {
    "ConKM": ConKM,
    "ConNMF": ConNMF,
    "ColNMF": ColNMF,
    "CRSC-pairwise": CRSC,
    "CRSC-centroid": partial(CRSC, coupling="centroid"),
    "MultiNMF": MultiNMF,
    "PVC": PVC,
    "RMSC": RMSC,
}
FACTORIZATIONS = [ConNMF, ColNMF, MultiNMF, PVC]
COMPLETE_ONLY = [ConKM, ConNMF, ColNMF, CRSC]

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture(scope="module")
def planted():
    return two_blind_views()


@every_method
def test_clusters_that_no_view_sees_alone(method, planted):
    views, y = planted
    model = method(n_clusters=4, random_state=0).fit(views)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.n_clusters_ == 4
    for X in views:
        alone = ConKM(n_clusters=4, random_state=0).fit([X])
        assert adjusted_rand_score(y, alone.labels_) < 0.6


@every_method
def test_fitted_attributes(method, planted):
    views, _ = planted
    model = method(n_clusters=4, random_state=0).fit({"a": views[0], "b": views[1]})
    assert model.view_names_ == ["a", "b"]
    assert model.sample_ids_ is None
    assert np.isfinite(model.objective_)
    assert model.converged_
    assert model.n_iter_ >= 1
    if not isinstance(model, ConKM):
        assert len(model.embedding_) == len(views[0])
        assert len(model.history_) == model.n_iter_
        if not isinstance(model, RMSC):  # its history has residuals
            assert model.history_[-1] == model.objective_
    first = [np.flatnonzero(model.labels_ == k)[0] for k in range(4)]
    assert first == sorted(first)


@every_method
def test_sparse_views_give_the_labels_of_dense_ones(method, planted):
    views, _ = planted
    views = [np.where(X < 0.1, 0.0, X) for X in views]
    dense = method(n_clusters=4, random_state=0).fit(views)
    for form in (sp.csr_matrix, sp.csc_array):
        model = method(n_clusters=4, random_state=0).fit([form(X) for X in views])
        np.testing.assert_array_equal(model.labels_, dense.labels_)
        assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    mixed = method(n_clusters=4, random_state=0).fit([views[0], sp.csr_array(views[1])])
    np.testing.assert_array_equal(mixed.labels_, dense.labels_)


@every_method
def test_permutation_of_samples_permutes_the_result(method):
    """With clusters that are not clear, so that another random number would change labels."""
    views, _ = two_blind_views(10, noise=1.5, seed=3)
    order = np.random.default_rng(0).permutation(40)
    plain = method(n_clusters=5, random_state=0).fit(views)
    permuted = method(n_clusters=5, random_state=0).fit([X[order] for X in views])
    assert adjusted_rand_score(permuted.labels_, plain.labels_[order]) == 1.0
    assert permuted.objective_ == plain.objective_
    if not isinstance(plain, ConKM):
        np.testing.assert_array_equal(permuted.embedding_, plain.embedding_[order])


@every_method
def test_same_seed_same_labels(method, planted):
    views, _ = planted
    kept = [X.copy() for X in views]
    labels = method(n_clusters=5, random_state=7).fit_predict(views)
    np.testing.assert_array_equal(labels, method(n_clusters=5, random_state=7).fit_predict(views))
    seeded = method(n_clusters=5, random_state=np.random.default_rng(7)).fit_predict(views)
    np.testing.assert_array_equal(labels, seeded)
    for X, copy in zip(views, kept, strict=True):
        np.testing.assert_array_equal(X, copy)


@every_method
def test_clone_parameters_and_pickle(method, planted):
    views, _ = planted
    model = method(n_clusters=4, n_init=3, scale="frobenius", random_state=1)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.set_params(n_clusters=3).n_clusters == 3
    fitted = model.fit(views)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    assert again.get_params() == fitted.get_params()


@every_method
def test_single_precision_and_integers(method, planted):
    views, y = planted
    integers = [np.round(10 * X).astype(np.int64) for X in views]
    labels = method(n_clusters=4, random_state=0).fit_predict(integers)
    assert adjusted_rand_score(y, labels) == 1.0
    single = [X.astype(np.float32) for X in views]
    labels = method(n_clusters=4, random_state=0).fit_predict(single)
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("method", FACTORIZATIONS)
def test_negative_features_are_refused_by_name(method, planted):
    views, _ = planted
    views = {"pixels": views[0], "waves": views[1] - 0.5}
    with pytest.raises(ValueError, match=r"view 'waves' has values down to -0\.\d+.*CRSC"):
        method(n_clusters=2).fit(views)
    views["waves"] = sp.csr_array(views["waves"])
    with pytest.raises(ValueError, match="waves"):
        method(n_clusters=2).fit(views)


@pytest.mark.parametrize("method", [ConKM, CRSC, RMSC])
def test_negative_features_are_accepted_elsewhere(method, planted):
    views, y = planted
    labels = method(n_clusters=4, random_state=0).fit_predict([X - 0.5 for X in views])
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("method", COMPLETE_ONLY)
def test_partial_views_are_refused_with_alternatives(method, planted):
    views, _ = planted
    views = {"a": views[0], "b": views[1].copy()}
    views["b"][[3, 9]] = np.nan
    match = r"2 row\(s\) are missing, first sample 3 in view 'b'.*MultiNMF, PVC, RMSC and Mult"
    with pytest.raises(NotSupportedError, match=match):
        method(n_clusters=2).fit(views)


@pytest.mark.parametrize("method", [MultiNMF, PVC, RMSC])
@pytest.mark.parametrize("ratio", [0.1, 0.3])
def test_partial_views_are_clustered(method, ratio):
    views, y = clear_views()
    labels = method(n_clusters=4, random_state=0).fit_predict(with_missing_rows(views, ratio))
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("method", [MultiNMF, PVC, RMSC])
def test_permutation_of_partial_views(method):
    missing = with_missing_rows(clear_views()[0], 0.2)
    order = np.random.default_rng(1).permutation(len(missing[0]))
    plain = method(n_clusters=4, random_state=0).fit(missing)
    permuted = method(n_clusters=4, random_state=0).fit([X[order] for X in missing])
    np.testing.assert_array_equal(permuted.embedding_, plain.embedding_[order])


@pytest.mark.parametrize("method", [MultiNMF, PVC, RMSC])
def test_partial_views_by_id(method):
    """Rows of a data frame that lacks samples are matched by its index."""
    pd = pytest.importorskip("pandas")
    views, y = clear_views()
    names = np.array([f"sample {i}" for i in range(len(y))])
    keep = np.random.default_rng(0).permutation(len(y))[:60]
    frames = {
        "a": pd.DataFrame(views[0], index=names),
        "b": pd.DataFrame(views[1][keep], index=names[keep]),
    }
    model = method(n_clusters=4, random_state=0).fit(frames)
    assert model.sample_ids_.tolist() == names.tolist()
    assert adjusted_rand_score(y, model.labels_) == 1.0


@every_method
@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 81}, "n_samples=80"),
        ({"scale": "unit"}, "scale"),
        ({"n_init": 0}, "n_init"),
    ],
)
def test_bad_parameters(method, planted, parameters, match):
    with pytest.raises(ValueError, match=match):
        method(**parameters).fit(planted[0])


@pytest.mark.parametrize("method", [*FACTORIZATIONS, CRSC, RMSC])
def test_stop_before_convergence_warns(method, planted):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 iterations.*tol="):
        model = method(n_clusters=4, max_iter=1, random_state=0).fit(planted[0])
    assert not model.converged_
    assert model.n_iter_ == 1


def test_fewer_distinct_samples_than_clusters_warn():
    views = [np.repeat(np.eye(2), 3, axis=0), np.repeat(np.eye(2) + 1, 3, axis=0)]
    with pytest.warns(PartitaWarning, match="2 clusters instead of n_clusters=3"):
        model = ConKM(n_clusters=3, random_state=0).fit(views)
    assert model.n_clusters_ == 2


@every_method
def test_equal_samples_have_equal_labels(method):
    views, _ = two_blind_views(10, noise=1.5, seed=3)
    copies = np.repeat(np.arange(40), 2)
    labels = method(n_clusters=5, random_state=0).fit_predict([X[copies] for X in views])
    np.testing.assert_array_equal(labels[::2], labels[1::2])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_scales(is_sparse):
    X = np.array([[3.0, -4.0], [0.0, 0.0], [1.0, 0.0]])
    expected = {
        "none": X,
        "sum": X / 8.0,
        "frobenius": X / np.sqrt(26.0),
        "rows": np.array([[0.6, -0.8], [0.0, 0.0], [1.0, 0.0]]),
    }
    for scale, values in expected.items():
        source = sp.csr_array(X) if is_sparse else X.copy()
        scaled = scale_features(source, scale)
        np.testing.assert_allclose(scaled.toarray() if is_sparse else scaled, values)
        np.testing.assert_array_equal(source.toarray() if is_sparse else source, X)


def test_scale_of_zeros_is_zeros():
    for scale in ("none", "sum", "frobenius", "rows"):
        assert not scale_features(np.zeros((3, 2)), scale).any()
