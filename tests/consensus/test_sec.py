"""SEC: both objectives, the trace form, incomplete partitions, starts and prediction."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from unreduced_crowd import crowd_agreement_slowly

from partita import CCC, KC, KCC, SEC, Ensemble, LabelStore
from partita.consensus.sec import _WeightedGeometry
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, NotSupportedError
from partita.scale import EnsembleRows

FIGURE_1 = np.array(
    [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 2, 3, 3], [1, 1, 1, 1, 2, 2, 2]]
).T


def onehot(labels):
    """Incidence blocks, one per partition; a missing label is a row of zeros."""
    return [
        (column[:, None] == np.unique(column[column >= 0])).astype(float) for column in labels.T
    ]


def sec_slowly(labels, groups, mu=None):
    """Objective and utility of Theorem 6 from their definitions, on all samples."""
    n, m = labels.shape
    mu = np.ones(m) if mu is None else mu
    blocks = onehot(labels)
    w = sum(b @ b.sum(axis=0) for b in blocks)
    objective, captured = 0.0, 0.0
    for k in np.unique(groups):
        for i, b in enumerate(blocks):
            inside = (groups == k) & (labels[:, i] >= 0)
            if not inside.any():
                continue
            center = b[inside].sum(axis=0) / w[inside].sum()
            gap = b[inside] / w[inside, None] - center
            objective += mu[i] * (w[inside] * (gap**2).sum(axis=1)).sum()
            captured += mu[i] * w[inside].sum() * (center**2).sum()
    return objective, captured / n


def test_figure_1_weights():
    method = SEC(2, random_state=0).fit(FIGURE_1)
    np.testing.assert_array_equal(method.sample_weights_, [12, 12, 13, 11, 10, 9, 9])


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_objectives(missing, weighted):
    labels = make_partitions(60, 7, 4, noise=0.3, missing_ratio=missing, random_state=4)[0]
    mu = np.arange(1.0, 8.0) if weighted else None
    method = SEC(4, random_state=1, partition_weights=mu).fit(labels)
    objective, utility = sec_slowly(labels, method.labels_, mu)
    assert method.objective_ == pytest.approx(objective, rel=1e-10)
    assert method.utility_ == pytest.approx(utility, rel=1e-10)
    weights = np.ones(7) if mu is None else mu
    constant = (((labels >= 0) @ weights) / method.sample_weights_).sum()
    assert method.objective_ == pytest.approx(constant - len(labels) * method.utility_, rel=1e-10)


def test_trace_form_of_equation_1():
    """Without missing labels, n utility = tr(Zᵀ D^-½ S D^-½ Z) for Z = D^½ H (Hᵀ D H)^-½."""
    labels = make_partitions(40, 6, 3, noise=0.3, random_state=5)[0]
    method = SEC(3, random_state=0).fit(labels)
    S = sum(b @ b.T for b in onehot(labels))
    D = S.sum(axis=1)
    np.testing.assert_array_equal(method.sample_weights_, D)
    H = np.eye(3)[method.labels_]
    Z = np.sqrt(D)[:, None] * H / np.sqrt(H.T @ D)
    trace = np.trace(Z.T @ (S / np.sqrt(np.outer(D, D))) @ Z)
    assert len(labels) * method.utility_ == pytest.approx(trace, rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_rises(missing, seed):
    """Theorem 7, with refilled clusters and centers that no member defines."""
    labels = make_partitions(150, 12, 5, noise=0.5, missing_ratio=missing, random_state=seed)[0]
    method = SEC(9, init="random", n_init=1, random_state=seed).fit(labels)
    assert method.n_iter_ > 2
    assert np.all(np.diff(method.history_) <= 1e-12)
    assert method.history_[-1] == method.objective_


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_compiled_kernels_change_nothing(missing, monkeypatch):
    """They compare only the groups that bounds and quantized tables leave."""
    labels = make_partitions(400, 10, 6, noise=0.5, missing_ratio=missing, random_state=3)[0]
    usual = SEC(12, n_init=3, random_state=0).fit(labels)
    monkeypatch.setattr("partita._kernels._dispatch.COMPILED_FROM", 0.0)
    compiled = SEC(12, n_init=3, random_state=0).fit(labels)
    np.testing.assert_array_equal(usual.labels_, compiled.labels_)
    np.testing.assert_array_equal(usual.history_, compiled.history_)


def test_partition_weights_follow_their_columns():
    """Columns are reordered inside; a weight must stay with its partition."""
    labels = make_partitions(60, 6, 3, noise=0.4, random_state=8)[0]
    mu = np.array([5.0, 1, 1, 1, 1, 0.1])
    order = np.random.default_rng(0).permutation(6)
    one = SEC(3, partition_weights=mu, random_state=0).fit(labels)
    two = SEC(3, partition_weights=mu[order], random_state=0).fit(labels[:, order])
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-12)
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("method", [SEC, KCC, CCC, KC])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weights_by_agreement(method, missing):
    """A fit with the weights that the crowd agreement index has, by its slow definition."""
    labels = make_partitions(60, 7, 4, noise=0.3, missing_ratio=missing, random_state=4)[0]
    labels = np.column_stack([labels, np.random.default_rng(0).permutation(labels[:, 0])])
    fitted = method(4, partition_weights="agreement", random_state=0).fit(labels)
    weights = crowd_agreement_slowly(labels)
    assert np.argmin(weights) == 7
    np.testing.assert_allclose(fitted.partition_weights_, weights, rtol=0, atol=1e-12)
    explicit = method(4, partition_weights=weights, random_state=0).fit(labels)
    np.testing.assert_array_equal(fitted.labels_, explicit.labels_)
    assert fitted.objective_ == pytest.approx(explicit.objective_, rel=1e-10)


def test_a_partition_without_agreement_keeps_a_small_weight():
    labels = make_partitions(40, 5, 3, noise=0.2, random_state=1)[0]
    labels = np.column_stack([labels, np.zeros(40, int)])
    weights = SEC(3, partition_weights="agreement").fit(labels).partition_weights_
    assert weights[-1] == 0.001
    assert weights.max() == 1.0


def test_weights_by_agreement_of_a_store(tmp_path):
    labels = make_partitions(500, 8, 4, noise=0.3, missing_ratio=0.1, random_state=4)[0]
    method = SEC(4, partition_weights="agreement", init=[0, 100, 200, 300])
    store = LabelStore.from_partitions(labels, tmp_path / "labels.store")
    outside, inside = clone(method).fit(store), clone(method).fit(labels)
    np.testing.assert_allclose(outside.partition_weights_, inside.partition_weights_, atol=1e-12)
    np.testing.assert_array_equal(outside.labels_, inside.labels_)
    with pytest.raises(NotSupportedError, match="Fit a part of the rows in memory"):
        outside.generalization_bound()


# -- the generalization bound of Theorem 4 ------------------------------------------------------


def theorem_4(w, n_partitions, n_clusters, delta):
    """The printed right-hand side of (6)."""
    n, rk = len(w), n_partitions * n_clusters
    return (
        np.sqrt(2 * np.pi) * rk / n * np.sqrt((w**-2.0).sum())
        + np.sqrt(8 * np.pi) * rk / (np.sqrt(n) * w.min())
        + np.sqrt(2 * np.pi) * rk / (n * w.min() ** 2) * np.sqrt((w**2.0).sum())
        + np.sqrt(np.log(1 / delta) / (2 * n))
    )


def test_bound_by_hand():
    """Two partitions of four samples into equal halves: w = 4 and, with r = K = 2,
    √(2π) 4/4 · √(4/16) + √(8π) 4/(2·4) + √(2π) 4/(4·16) · √(4·16) + √(ln(1/δ)/8)
    = √(2π) (1/2 + 1 + 1/2) + √(ln 10/8) for δ = 0.1."""
    method = SEC(2, random_state=0).fit([[0, 0, 1, 1], [5, 5, 7, 7]])
    expected = 2 * np.sqrt(2 * np.pi) + np.sqrt(np.log(10) / 8)
    assert method.generalization_bound(delta=0.1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_bound_is_that_of_theorem_4(missing):
    labels = make_partitions(60, 7, 4, noise=0.3, missing_ratio=missing, random_state=4)[0]
    method = SEC(4, random_state=1).fit(labels)
    w = method.sample_weights_
    assert method.generalization_bound() == pytest.approx(theorem_4(w, 7, 4, 0.05), rel=1e-12)
    repeated = SEC(4, random_state=1).fit(np.repeat(labels, 10, axis=0))
    more = method.generalization_bound(n_samples=600, delta=0.2)
    assert more == pytest.approx(repeated.generalization_bound(delta=0.2), rel=1e-12)
    assert more == pytest.approx(theorem_4(np.repeat(10 * w, 10), 7, 4, 0.2), rel=1e-12)
    weighted = SEC(4, partition_weights=np.full(7, 3.0), random_state=1).fit(labels)
    assert weighted.generalization_bound() == pytest.approx(
        3 * method.generalization_bound(), rel=1e-12
    )


def test_bound_holds_for_new_samples():
    """The mean cost of rows of the same distribution exceeds that of the fit by far less."""
    labels = make_partitions(4000, 6, 3, noise=0.2, random_state=3)[0]
    method = SEC(3, random_state=0).fit(labels[:400])
    everything = SEC(3, random_state=0).fit(labels[:4000])
    # costs are O(1/n): those of all samples, as if they were 400
    gap = 10 * everything.objective_ / 4000 - method.objective_ / 400
    assert gap < method.generalization_bound()


@pytest.mark.parametrize("bound", [5.0, 0.3, 0.01])
def test_sufficient_samples(bound):
    labels = make_partitions(60, 7, 4, noise=0.3, random_state=4)[0]
    method = SEC(4, random_state=1).fit(labels)
    n = method.sufficient_samples(bound, delta=0.1)
    assert method.generalization_bound(n_samples=n, delta=0.1) <= bound
    assert method.generalization_bound(n_samples=n - 1, delta=0.1) > bound


def test_bad_arguments_of_the_bound():
    method = SEC(2, random_state=0).fit([[0, 0, 1, 1], [5, 5, 7, 7]])
    for wrong in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="delta must be between 0 and 1"):
            method.generalization_bound(delta=wrong)
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        method.generalization_bound(n_samples=0)
    with pytest.raises(ValueError, match="bound must be positive"):
        method.sufficient_samples(0.0)
    with pytest.raises(NotFittedError):
        SEC(2).generalization_bound()


def test_predict_labels_the_training_rows_as_fit_did():
    labels = make_partitions(80, 10, 4, noise=0.3, missing_ratio=0.2)[0]
    method = SEC(4, random_state=0).fit(labels)
    np.testing.assert_array_equal(method.predict(labels), method.labels_)


def test_predict_new_rows():
    labels, truth = make_partitions(200, 15, 3, noise=0.2)
    method = SEC(3, random_state=0).fit(labels[::2])
    found = method.predict(labels[1::2])
    assert adjusted_rand_score(truth[1::2], found) > 0.9
    unknown = labels[:1].copy()
    unknown[0, :10] = 99  # a cluster no training row was in says nothing
    np.testing.assert_array_equal(method.predict(unknown), method.predict(labels[:1]))
    with pytest.raises(ValueError, match="no label that occurred"):
        method.predict(np.full((2, 15), 99))
    with pytest.raises(ValueError, match="3 features"):
        method.predict(labels[:, :3])


def test_starts():
    labels = make_partitions(50, 6, 3, noise=0.3)[0]
    row = np.flatnonzero((labels == labels[0]).all(axis=1))
    for wrong, message in (
        ([0, 1], "numbers of 3 samples"),
        ([0, 1, 50], "below 50"),
        ([row[0], row[-1] if len(row) > 1 else row[0], 30], "same labels"),
        ([0.5, 1.0, 2.0], "numbers of 3 samples"),
    ):
        with pytest.raises(ValueError, match=message):
            SEC(3, init=wrong).fit(labels)
    best = min(SEC(3, n_init=1, random_state=s).fit(labels).objective_ for s in range(5))
    assert SEC(3, n_init=30, random_state=0).fit(labels).objective_ <= best + 1e-12


def test_an_empty_cluster_is_refilled():
    # seeds 0 and 1 differ in one label only; row 1 falls to seed 0 whatever happens first
    labels = make_partitions(100, 3, 2, noise=0.1, random_state=2)[0]
    n_distinct = len(np.unique(labels, axis=0))
    method = SEC(n_distinct - 1, random_state=0).fit(labels)
    assert method.n_clusters_ == n_distinct - 1


def test_more_clusters_than_rows_still_predicts():
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    with pytest.warns(UserWarning, match="distinct rows"):
        method = SEC(4).fit(labels)
    np.testing.assert_array_equal(method.predict(labels), method.labels_)


def test_max_iter_is_reported():
    labels = make_partitions(300, 10, 6, noise=0.6, random_state=1)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        method = SEC(10, max_iter=1, n_init=1, random_state=0).fit(labels)
    assert not method.converged_
    assert method.n_iter_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"partition_weights": [1.0, 2.0]}, "shape"),
        ({"partition_weights": [1.0, 1, 1, 1, 1, -1]}, "positive"),
        ({"partition_weights": "learned"}, "partition_weights"),
        ({"tol": -1.0}, "tol"),
        ({"n_init": 0}, "n_init"),
        ({"init": "farthest"}, "init"),
    ],
)
def test_bad_parameters(parameters, message):
    labels = make_partitions(30, 6)[0]
    with pytest.raises(ValueError, match=message):
        SEC(3, **parameters).fit(labels)


def runs_compiled_empty_clusters(labels, n_clusters, reference):
    for j, seeds in enumerate(reference["init_idx_1based"] - 1):
        published = reference["labels_per_init"][:, j]
        distinct = len(np.unique(labels[seeds], axis=0)) == n_clusters
        if distinct and len(np.unique(published)) == n_clusters:
            yield seeds, published, reference["objective_per_init"][j]


@pytest.mark.shared
def test_published_runs(oracle):
    reference = oracle("sec")
    method = SEC(oracle.n_clusters, random_state=0).fit(oracle.labels)
    np.testing.assert_array_equal(method.sample_weights_, reference["w"])
    compared = 0
    for seeds, published, objective in runs_compiled_empty_clusters(
        oracle.labels, oracle.n_clusters, reference
    ):
        found = SEC(oracle.n_clusters, init=seeds).fit(oracle.labels)
        assert adjusted_rand_score(found.labels_, published) == 1.0
        assert found.objective_ == pytest.approx(objective, rel=1e-12)
        compared += 1
    assert compared > 0


def test_weights_of_samples_scale_the_objective():
    labels = make_partitions(40, 6, 3, noise=0.3)[0]
    times = np.random.default_rng(0).integers(1, 4, 40)
    weighted = SEC(3, random_state=0).fit(Ensemble.from_partitions(labels, weights=times))
    repeated = SEC(3, random_state=0).fit(np.repeat(labels, times, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
    assert weighted.utility_ == pytest.approx(repeated.utility_, rel=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.7])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_constant_of_a_row_is_the_weight_of_its_labels_by_their_sizes(weight, missing):
    """Partitions of weight 1 are counted, others added up; a row without labels has 0."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 3, (40, 6)).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    labels[0] = np.nan if missing else labels[0]
    rows = EnsembleRows(Ensemble.from_partitions(list(labels.T), unlabeled="keep"))
    mu = np.array([1.0, 1.0, 1.0, 1.0, 1.0, weight])
    codes = rows.take(np.arange(rows.n_rows))
    terms = _WeightedGeometry(rows, mu, 0.0).row_terms(codes)
    observed = (codes != rows.missing_code) @ mu
    np.testing.assert_array_equal(terms.n_labeled, (codes != rows.missing_code).sum(axis=1))
    expected = observed / np.where(terms.scale > 0, terms.scale, 1.0)
    np.testing.assert_allclose(terms.constant, expected, rtol=1e-15, atol=0)
