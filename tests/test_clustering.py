"""Features in, labels out: EnsembleClustering, and generators and methods in a pipeline."""

from __future__ import annotations

import datetime
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import CCGP, EAC, LWGP, SEC, EnsembleClustering, RandomK, config_context, generate
from partita.clustering import _estimator, _rivals
from partita.exceptions import InvalidEnsembleError, PartitaWarning
from partita.generators import LandmarkSpectral, MixedEstimators, RandomRows, make_scaler
from partita.matrices.cluster_profiles import ClusterProfiles
from partita.plotting import ScanDisplay
from partita.select_k import (
    Evidence,
    _estimator_scan,
    choose_number,
    confirmed_scan,
    scan_numbers,
)
from partita.select_k._features_scan import scan_table

X, TRUTH = make_blobs(90, centers=3, cluster_std=0.5, random_state=0)
GENERATOR = RandomK(8)


@pytest.mark.filterwarnings("ignore:.*clusters instead of n_clusters")  # tiny data
@parametrize_with_checks(
    [
        EnsembleClustering(3),
        EnsembleClustering(3, generator=GENERATOR),
        EnsembleClustering(3, generator=GENERATOR, method=EAC()),
        EnsembleClustering(3, generator=GENERATOR, method=SEC(n_init=2)),
    ]
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    monkeypatch.setattr(_estimator, "_N_PARTITIONS", 4)
    check(estimator)


def test_the_parts_are_fitted_in_turn():
    method = EnsembleClustering(generator=RandomK(12, random_state=0), method=EAC(3)).fit(X)
    assert adjusted_rand_score(method.labels_, TRUTH) == 1
    assert method.n_clusters_ == 3
    assert method.partitions_.shape == (90, 12)
    np.testing.assert_array_equal(
        method.labels_, EAC(3).fit_predict(RandomK(12, random_state=0).fit_transform(X))
    )


def test_by_default():
    method = EnsembleClustering(n_clusters=3, random_state=0).fit(X)
    assert isinstance(method.generator_, LandmarkSpectral)
    assert method.scaler_ is None
    assert isinstance(method.method_, CCGP)
    assert adjusted_rand_score(method.labels_, TRUTH) == 1


def unbalanced(rng):
    """Return three large clusters and five small ones, which graph cuts join."""
    large = [[0, 0], [6, 4], [6, -4]]
    small = [[45, y] for y in (-16, -8, 0, 8, 16)]
    points = [c + 1.2 * rng.normal(size=(300, 2)) for c in large]
    points += [c + 2.0 * rng.normal(size=(25, 2)) for c in small]
    return np.vstack(points), np.repeat(np.arange(8), [300] * 3 + [25] * 5)


def rings(rng):
    """Return three rings around each other, which k-means cuts into pieces."""
    angle = rng.uniform(0, 2 * np.pi, 600)
    radius = np.repeat([1.0, 2.2, 3.4], 200)
    circles = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return circles + 0.1 * rng.normal(size=(600, 2)), np.repeat(np.arange(3), 200)


@pytest.mark.parametrize(("make", "failing"), [(unbalanced, LandmarkSpectral), (rings, RandomK)])
def test_the_default_finds_clusters_that_one_generator_misses(make, failing):
    points, y = make(np.random.default_rng(0))
    k = y.max() + 1
    one = EnsembleClustering(k, generator=failing(50), random_state=0).fit(points)
    assert adjusted_rand_score(y, one.labels_) < 0.8
    best = EnsembleClustering(k, random_state=0).fit(points)
    assert adjusted_rand_score(y, best.labels_) > 0.95


def test_the_most_isolated_consensus_is_taken(monkeypatch):
    """Each of the three can win, and what the estimator keeps is what was fused."""
    points, _ = rings(np.random.default_rng(0))
    seen = []

    class Preference:
        def __init__(self, wanted):
            self.wanted = wanted

        def isolation(self, X):
            assert X.shape == points.shape
            values = iter(np.arange(3) == self.wanted)
            return SimpleNamespace(of=lambda labels: float(next(values)))

    monkeypatch.setattr(_estimator, "_N_PARTITIONS", 10)
    for wanted, (kind, n) in enumerate([(LandmarkSpectral, 10), (RandomK, 10), (FeatureUnion, 20)]):
        monkeypatch.setattr(_rivals, "Evidence", Preference(wanted))
        method = EnsembleClustering(3, random_state=0).fit(points)
        assert isinstance(method.generator_, kind)
        assert method.partitions_.shape == (600, n)
        np.testing.assert_array_equal(method.generator_.transform(points), method.partitions_)
        agreement = adjusted_rand_score(method.labels_, method.predict(points))
        assert agreement > 0.9
        assert method.predict_confidence(points[:5]).shape == (5,)
        seen.append(method.labels_)
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize(
    ("n_samples", "smallest", "largest", "n_landmarks"),
    [(100, 10, 40, 40), (60, 10, 40, 30), (30, 20, 40, 20), (100, 1000, 2000, 1000)],
)
def test_half_of_the_samples_are_landmarks(monkeypatch, n_samples, smallest, largest, n_landmarks):
    monkeypatch.setattr(_estimator, "_LANDMARKS", (smallest, largest))
    X = make_moons(n_samples, noise=0.05, random_state=0)[0]
    model = EnsembleClustering(2, random_state=0).fit(X)
    cuts = model.generator_
    if isinstance(cuts, FeatureUnion):
        cuts = cuts.transformer_list[0][1]
    assert cuts.n_landmarks == n_landmarks
    own = EnsembleClustering(2, generator=LandmarkSpectral(10, n_landmarks=50), random_state=0)
    assert own.fit(X).generator_.n_landmarks == 50


def test_clusters_of_many_samples_are_compared_on_some(monkeypatch):
    points, y = rings(np.random.default_rng(0))
    monkeypatch.setattr(_rivals, "_COMPARED_SAMPLES", 500)
    sizes = []
    isolation = Evidence.isolation
    monkeypatch.setattr(Evidence, "isolation", lambda X: sizes.append(len(X)) or isolation(X))
    method = EnsembleClustering(3, random_state=0).fit(points)
    assert sizes == [500]
    assert adjusted_rand_score(y, method.labels_) == 1


def test_sparse_features_are_counts_of_words():
    """Documents of different length on three topics: their directions differ, not their length."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.3), 3)
    y = np.arange(150) % 3
    counts = np.array([rng.multinomial(rng.integers(20, 400), topics[topic]) for topic in y])
    method = EnsembleClustering(3, random_state=0).fit(sp.csr_matrix(counts))
    assert isinstance(method.generator_, LandmarkSpectral)
    assert method.generator_.metric == "cosine"
    assert adjusted_rand_score(y, method.labels_) == 1
    by_distance = EnsembleClustering(3, generator="landmark_spectral", random_state=0)
    assert adjusted_rand_score(y, by_distance.fit_predict(sp.csr_matrix(counts))) < 0.8
    counts[7] = 0  # no direction
    method = EnsembleClustering(3, random_state=0).fit(sp.csr_matrix(counts))
    assert method.generator_.metric == "euclidean"
    assert method.labels_.min() == 0


def test_features_in_different_units_are_standardized():
    wine, y = load_wine(return_X_y=True)
    scores = {}
    for scale in ("auto", "standard", "none"):
        method = EnsembleClustering(3, scale=scale, random_state=0).fit(wine)
        scores[scale] = adjusted_rand_score(y, method.labels_)
        assert (method.scaler_ is None) == (scale == "none")
    assert scores["auto"] == scores["standard"] > 0.75
    assert scores["none"] < 0.5


def test_new_samples_are_standardized_as_those_of_the_fit():
    wine = load_wine().data
    method = EnsembleClustering(3, generator=RandomK(10), method=SEC(3), random_state=0).fit(wine)
    assert method.scaler_ is not None
    np.testing.assert_array_equal(method.predict(wine), method.labels_)


@pytest.mark.parametrize(
    "generator",
    [
        make_pipeline(StandardScaler(), RandomK(3)),
        MixedEstimators([KMeans(3)]),
        RandomK(3, metric="cosine"),
    ],
    ids=["pipeline", "estimators", "cosine"],
)
def test_other_features_are_left_alone(generator):
    wine = load_wine().data
    method = EnsembleClustering(3, generator=generator, random_state=0).fit(wine)
    assert method.scaler_ is None


def test_rule_of_the_scaler():
    noise = np.random.default_rng(0).normal(size=(50, 4))
    noise /= noise.std(axis=0)
    assert make_scaler(noise * [1, 1, 1, 9]) is None
    assert make_scaler(noise * [1, 1, 1, 0]) is None
    assert make_scaler(np.ones((5, 3))) is None
    assert make_scaler(noise[:, :2] * [1, 100]) is not None
    assert make_scaler(sp.csr_matrix(noise * [1, 1, 1, 100])) is None
    by_force = make_scaler(sp.csr_matrix(noise), "standard").transform(sp.csr_matrix(noise))
    np.testing.assert_allclose(by_force.toarray(), noise / noise.std(axis=0))
    with pytest.raises(ValueError, match="scale must be one of auto, standard, none, got 'robust'"):
        make_scaler(noise, "robust")


def test_generate_warns_of_different_units():
    with pytest.warns(PartitaWarning, match="different spreads"):
        generate(load_wine().data, "random_k", n_partitions=2, random_state=0)
    generate(X, "random_k", n_partitions=2, random_state=0)
    generate(load_wine().data, "random_k", metric="cosine", n_partitions=2, random_state=0)


def test_generate_has_the_same_default():
    by_key = generate(X, "landmark_spectral", n_partitions=3, n_clusters=3, random_state=0)
    by_default = generate(X, n_partitions=3, n_clusters=3, random_state=0)
    np.testing.assert_array_equal(by_default.codes, by_key.codes)


def test_pipeline():
    found = make_pipeline(StandardScaler(), RandomK(), LWGP(n_clusters=3)).fit_predict(
        load_iris().data
    )
    assert found.shape == (150,)
    assert len(np.unique(found)) == 3


def test_the_parts_given_are_left_alone():
    generator, method = RandomK(5), SEC(4)
    EnsembleClustering(3, generator=generator, method=method, random_state=0).fit(X)
    assert method.n_clusters == 4
    assert generator.random_state is None
    assert not hasattr(generator, "labels_")
    assert not hasattr(method, "labels_")


@pytest.mark.parametrize(
    "generator",
    [RandomK(5), make_pipeline(StandardScaler(), RandomK(5))],
    ids=["generator", "pipeline"],
)
def test_one_seed_for_all(generator):
    def fit(seed):
        return EnsembleClustering(generator=generator, method=SEC(3), random_state=seed).fit(X)

    np.testing.assert_array_equal(fit(0).partitions_, fit(0).partitions_)
    np.testing.assert_array_equal(fit(0).labels_, fit(0).labels_)
    assert np.any(fit(0).partitions_ != fit(1).partitions_)


def test_seeds_of_their_own_are_kept():
    generator = RandomK(5, random_state=3)
    first, second = (
        EnsembleClustering(3, generator=generator, random_state=s).fit(X) for s in (0, 1)
    )
    np.testing.assert_array_equal(first.partitions_, second.partitions_)
    assert first.method_.random_state != second.method_.random_state


def test_n_clusters_of_the_method_holds_where_none_is_passed():
    both = EnsembleClustering(3, generator=RandomK(5), method=EAC(7), random_state=0).fit(X)
    assert both.n_clusters_ == 3
    neither = EnsembleClustering(generator=RandomK(5), method=EAC(7), random_state=0).fit(X)
    assert neither.n_clusters_ == 7


def test_a_number_that_nobody_gave_is_chosen_by_a_scan():
    method = EnsembleClustering(generator=RandomK(8), random_state=0).fit(X)
    assert method.n_clusters_ == method.scan_.best_k == 3
    assert adjusted_rand_score(method.labels_, TRUTH) > 0.95
    again = EnsembleClustering(generator=RandomK(8), random_state=0).fit(X)
    np.testing.assert_array_equal(method.labels_, again.labels_)
    for chosen in (
        EnsembleClustering(generator=RandomK(8), method=EAC(7), random_state=0),
        EnsembleClustering(generator=RandomK(8), method="medianpartition", random_state=0),
    ):
        assert chosen.fit(X).scan_ is None


def test_noise_is_one_cluster_with_a_warning():
    noise = np.random.default_rng(0).random((80, 2))
    with pytest.warns(PartitaWarning, match="all samples are one cluster. Pass n_clusters"):
        method = EnsembleClustering(generator=RandomK(8), random_state=0).fit(noise)
    assert method.scan_.best_k is None
    assert set(method.labels_) == {0}
    assert set(method.predict(noise[:5])) == {0}


def test_more_than_ten_clusters_are_found():
    blobs, truth = make_blobs(
        [20] * 15, centers=np.indices((5, 3)).reshape(2, -1).T * 30.0, random_state=0
    )
    method = EnsembleClustering(generator=LandmarkSpectral(20), random_state=0).fit(blobs)
    assert method.n_clusters_ == 15
    assert method.scan_.k.tolist() == list(range(2, 31))
    assert adjusted_rand_score(method.labels_, truth) == 1.0


def _suggests(number):
    """Return a scan that suggests a number, or the largest one if it is smaller, and its calls."""
    calls = []

    def scan(numbers):
        calls.append(list(numbers))
        best_k = None if number is None else min(number, calls[-1][-1])
        return SimpleNamespace(best_k=best_k, k=np.asarray(calls[-1]))

    return scan, calls


@pytest.mark.parametrize(
    ("number", "n_samples", "largest"),
    [
        (None, 300, [10]),
        (9, 300, [10]),
        (10, 300, [10, 30]),
        (17, 300, [10, 30]),
        (17, 100, [10, 20]),  # five samples per cluster
        (17, 54, [10]),
        (17, 8, [7]),
    ],
)
def test_more_than_ten_clusters_are_tried_if_ten_are_suggested(number, n_samples, largest):
    scan, calls = _suggests(number)
    ends = number is not None and number >= largest[-1] >= 10
    with pytest.warns(PartitaWarning, match="may be more") if ends else nullcontext():
        result = scan_numbers(scan, None, n_samples)
    assert calls == [list(range(2, k + 1)) for k in largest]
    assert result.best_k == (None if number is None else min(number, largest[-1]))


def test_more_than_ten_clusters_are_tried_if_a_graph_has_so_many():
    """The scan of few numbers is left out: it may find no structure, as it joins clusters."""
    blobs, _ = make_blobs(
        [20] * 15, centers=np.indices((5, 3)).reshape(2, -1).T * 30.0, random_state=0
    )
    scan, calls = _suggests(None)
    scan_numbers(scan, None, 300, tables=[np.random.default_rng(0).random((300, 2)), blobs])
    assert [numbers[-1] for numbers in calls] == [30]
    scan, calls = _suggests(None)
    scan_numbers(scan, None, 300, tables=[X, np.random.default_rng(0).random((300, 2))])
    assert [numbers[-1] for numbers in calls] == [10]


def test_numbers_that_are_passed_are_scanned_and_no_others():
    scan, calls = _suggests(17)
    assert scan_numbers(scan, range(2, 11), 300).best_k == 10
    assert calls == [list(range(2, 11))]


def test_the_largest_number_that_is_tried_is_warned_of():
    scan, _ = _suggests(40)
    with pytest.warns(PartitaWarning, match=r"30 clusters, the largest number .* may be more"):
        number, _ = choose_number(None, CCGP(), lambda: scan_numbers(scan, None, 300))
    assert number == 30
    few, _ = _suggests(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_number(None, CCGP(), lambda: scan_numbers(few, None, 6))[0] == 5


@pytest.mark.parametrize(
    ("by_graph", "by_kmeans", "same", "chosen"),
    [
        (None, None, True, None),
        (None, 3, False, 3),  # round clusters that touch
        (2, None, True, 2),
        (2, 4, False, 2),  # moons, which k-means cuts into pieces
        (2, 4, True, 4),  # round clusters, some of which touch
    ],
)
def test_graph_cuts_confirm_the_number_of_k_means(by_graph, by_kmeans, same, chosen):
    labels = {k: np.arange(60) % k for k in (2, 3, 4)}
    other = labels if same else {k: np.arange(60) // 15 % k for k in labels}
    possible = () if by_graph is None else (2,)
    graph = _Scan(labels, by_graph, [], possible=possible)
    kmeans = _Scan(other, by_kmeans, [])
    assert _estimator_scan.decide_both(graph, kmeans).best_k == chosen


def test_a_number_without_a_gap_is_not_confirmed():
    """Both may cut a long shape into the same pieces."""
    labels = {k: np.arange(60) % k for k in (2, 3, 4)}
    graph = _Scan(labels, 2, [], possible=(2,), nearly_possible=(2, 3))
    assert _estimator_scan.decide_both(graph, _Scan(labels, 4, [])).best_k == 2
    assert _estimator_scan.decide_both(graph, _Scan(labels, 3, [])).best_k == 3


def test_equal_samples_are_one_cluster_with_one_warning():
    with pytest.warns(PartitaWarning) as caught:
        model = EnsembleClustering(random_state=0).fit(np.ones((50, 3)))
    assert [str(each.message)[:18] for each in caught] == ["No structure found"]
    assert set(model.labels_) == {0}


def test_clear_moons_are_not_cut_into_pieces():
    """k-means and graph cuts agree on the ten pieces of these moons."""
    moons, y = make_moons(1000, noise=0.05, random_state=2)
    model = EnsembleClustering(random_state=0).fit(moons)
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize(("generator", "n_scans"), [("landmark_spectral", 2), ("random_k", 1)])
def test_only_graph_cuts_are_confirmed_on_the_same_samples(monkeypatch, generator, n_scans):
    calls = []

    def scan(X, ks, generator, **options):
        calls.append((len(X), options["random_state"], options["max_samples"]))
        nothing = SimpleNamespace(best_k=None, rejected_k=None, k=np.asarray(ks))
        return SimpleNamespace(best_k=None, decide=lambda: nothing, stop=lambda: None, possible=[])

    monkeypatch.setattr(_estimator_scan, "scan_table", scan)
    with pytest.warns(PartitaWarning, match="No structure"):
        EnsembleClustering(generator=generator, random_state=0).fit(X)
    assert len(calls) == n_scans
    assert isinstance(calls[0][1], int)  # a seed, which draws the same samples again
    assert calls[0] == calls[-1]


class _Scan:
    """A scan whose suggestion is set; `decisions` lists the scans that computed all nulls."""

    def __init__(
        self,
        labels,
        best_k,
        decisions,
        *,
        possible=(2, 3, 4),
        nearly_possible=(2, 3, 4),
        hopeless=(),
    ):
        self._labels, self._best_k, self.possible = labels, best_k, list(possible)
        self.nearly_possible = list(nearly_possible)
        self._decisions, self._hopeless, self.is_stopped = decisions, hopeless, False

    def labels(self, k):
        return self._labels[k]

    def stop(self):
        self.is_stopped = True

    def rules_out(self, numbers):
        return set(numbers) <= set(self._hopeless)

    @property
    def best_k(self):
        if self not in self._decisions:
            self._decisions.append(self)
        return self._best_k

    def decide(self):
        assert not self.is_stopped
        if self not in self._decisions:
            self._decisions.append(self)
        return self


@pytest.mark.parametrize("same_at", [(), (2,), (3,), (2, 3), (4,), (2, 3, 4)])
@pytest.mark.parametrize("by_graph", [None, 2])
@pytest.mark.parametrize("possible", [(2,), (2, 3)])
@pytest.mark.parametrize(
    ("by_kmeans", "hopeless"),  # a number without hope is not suggested
    [(None, ()), (2, ()), (3, ()), (None, (4,)), (2, (4,)), (3, (4,)), (None, (2, 3, 4))],
)
def test_few_null_ensembles_give_the_number_of_both_scans(
    same_at, by_graph, by_kmeans, possible, hopeless
):
    """The scan that is returned is that of two complete decisions, whatever is left out."""
    of_graph = {k: np.arange(60) % k for k in (2, 3, 4)}
    of_kmeans = {k: of_graph[k] if k in same_at else np.arange(60) // 15 % k for k in of_graph}
    decisions = []
    graph = _Scan(of_graph, by_graph, decisions, possible=possible)
    kmeans = _Scan(of_kmeans, by_kmeans, decisions, hopeless=hopeless)
    chosen = _estimator_scan.decide_both(graph, kmeans)
    assert chosen in decisions
    assert [scan.is_stopped for scan in (graph, kmeans)] == [chosen is kmeans, chosen is graph]
    if by_graph is not None and set(same_at) <= {by_graph}:
        assert chosen is graph  # the number of k-means is not taken or is the same
    else:
        assert chosen is confirmed_scan(graph, kmeans, same_at)


@pytest.mark.parametrize(
    ("same_at", "possible", "hopeless", "n_decisions"),
    [
        ((), (2,), (), 1),  # nothing is confirmed
        ((2,), (2,), (), 1),  # only the number of the graph cuts
        ((2, 3), (2,), (), 1),  # the number of k-means
        ((4,), (2,), (), 2),
        ((4,), (2,), (4,), 1),
        ((4,), (), (), 1),  # the graph has no gap
    ],
)
def test_null_ensembles_that_change_nothing_are_left_out(same_at, possible, hopeless, n_decisions):
    """Graph cuts suggest 2, k-means 3; both find the same clusters at some numbers."""
    of_graph = {k: np.arange(60) % k for k in (2, 3, 4)}
    of_kmeans = {k: of_graph[k] if k in same_at else np.arange(60) // 15 % k for k in of_graph}
    decisions = []
    graph = _Scan(of_graph, 2 if possible else None, decisions, possible=possible)
    kmeans = _Scan(of_kmeans, 3, decisions, hopeless=hopeless)
    _estimator_scan.decide_both(graph, kmeans)
    assert len(decisions) == n_decisions


def test_numbers_are_ruled_out_by_the_first_null_ensembles():
    noise = np.random.default_rng(0).normal(size=(80, 2))
    options = {"method": None, "random_state": 0, **_estimator_scan.NUMBER_ONLY}
    generator = RandomRows(20, ratio=0.8)
    scan = scan_table(noise, range(2, 5), generator, **options)
    assert scan.possible == [2, 3, 4]
    assert scan.rules_out([2, 3])
    assert scan.decide().n_null == 4  # those that are there are used
    clear, _ = make_blobs(90, centers=3, cluster_std=0.3, random_state=0)
    scan = scan_table(clear, range(2, 5), generator, **options)
    assert not scan.rules_out([2, 3])
    again = scan_table(clear, range(2, 5), generator, **options).decide()
    np.testing.assert_array_equal(scan.decide().gain, again.gain)
    all_nulls = scan_table(noise, range(2, 5), generator, early_stop=False, **options)
    assert not all_nulls.rules_out([2, 3])


@pytest.mark.parametrize("generator", [RandomRows(8, ratio=0.9), LandmarkSpectral(6)])
def test_a_scan_does_not_depend_on_what_is_asked_for_first(generator):
    blobs, _ = make_blobs(90, centers=3, cluster_std=0.5, random_state=0)
    options = {"random_state": 0, **_estimator_scan.NUMBER_ONLY}
    at_once = scan_table(blobs, range(2, 6), generator, **options).decide()
    scan = scan_table(blobs, range(2, 6), generator, **options)
    for k in (4, 3):
        np.testing.assert_array_equal(scan.labels(k), at_once.labels[k])
    assert scan.best_k == at_once.best_k == 3
    result = scan.decide()
    for name in ("gain", "standard_error", "cdf", "pac_interval"):
        np.testing.assert_array_equal(getattr(result, name), getattr(at_once, name))
    for name in ("curves", "labels", "resamples", "nulls"):
        in_parts, together = getattr(result, name), getattr(at_once, name)
        assert list(in_parts) == list(together)
        for key, values in together.items():
            np.testing.assert_array_equal(in_parts[key], values)


def test_an_estimator_scans_no_halves_of_null_ensembles():
    scan = EnsembleClustering(generator=RandomK(8), random_state=0).fit(X).scan_
    assert {"separation", "tightness"} <= scan.null_mean.keys()
    assert not {"stability", "pac"} & scan.null_mean.keys()
    assert {"stability", "pac"} <= scan.curves.keys()
    drawn = ScanDisplay.from_scan(scan)
    assert drawn.null_mean.keys() == {"separation", "item_consensus"}
    assert len(drawn.plot().axes_) == len(drawn.curves) + 1


def test_the_scan_of_many_samples_takes_some_of_them():
    many, _ = make_blobs(2100, centers=2, cluster_std=0.3, random_state=0)
    method = EnsembleClustering(generator=RandomK(4, max_iter=5), random_state=0).fit(many)
    assert method.n_clusters_ == 2
    assert len(method.labels_) == 2100
    assert len(method.scan_.labels[2]) == 2000


@pytest.mark.parametrize("generator", [None, RandomRows(20, ratio=0.5)])
def test_no_number_is_scanned_that_exceeds_the_rows_of_a_partition(generator):
    """The scan clusters four fifths of the samples at a time, other generators fewer."""
    few = np.vstack([X[:5], X[60:65]])
    with pytest.warns(PartitaWarning, match="No structure found"):
        scan = EnsembleClustering(generator=generator, random_state=0).fit(few).scan_
    assert list(scan.k) == list(range(2, 9 if generator is None else 6))


def test_two_samples_need_a_number():
    with pytest.raises(ValueError, match=r"at least 3 samples to choose .* got 2. Pass n_clusters"):
        EnsembleClustering(generator=RandomK(8)).fit(X[:2])


def test_features_without_zeros_have_the_same_number_in_a_sparse_matrix():
    dense = EnsembleClustering(generator=RandomK(8), scale="none", random_state=0).fit(X)
    sparse = EnsembleClustering(generator=RandomK(8), random_state=0).fit(sp.csr_matrix(X))
    assert dense.scan_.best_k == sparse.scan_.best_k == 3


def test_predict_where_both_parts_can():
    method = EnsembleClustering(generator=RandomK(8), method=SEC(3), random_state=0)
    with pytest.raises(NotFittedError):
        method.predict(X)
    method.fit(X)
    np.testing.assert_array_equal(method.predict(X), method.labels_)
    only_fits = MixedEstimators([AgglomerativeClustering(3)])
    assert not hasattr(EnsembleClustering(generator=only_fits, method=SEC(3)), "predict")


@pytest.mark.parametrize("generator", [None, RandomK(20), RandomRows(20, ratio=0.5)])
def test_any_method_labels_new_samples(generator):
    method = EnsembleClustering(3, generator=generator, random_state=0).fit(X[::2])
    labels = method.predict(X[1::2])
    assert adjusted_rand_score(TRUTH[1::2], labels) == 1
    both = np.concatenate([method.labels_, labels])  # one numbering of the clusters
    assert adjusted_rand_score(np.concatenate([TRUTH[::2], TRUTH[1::2]]), both) > 0.95
    confidence = method.predict_confidence(X[1::2])
    assert confidence.shape == (45,)
    assert ((confidence > 0) & (confidence <= 1)).all()


def test_the_nearest_profile_is_the_largest_item_consensus():
    rng = np.random.default_rng(0)
    partitions, labels = rng.integers(-1, 4, (60, 7)), rng.integers(0, 3, 60)
    new = rng.integers(-1, 4, (20, 7))
    new[3] = -1
    nearest, confidence = ClusterProfiles(partitions, labels).nearest(new)
    for x in range(20):
        joined = (partitions == new[x]) & (new[x] >= 0)
        both = (partitions >= 0) & (new[x] >= 0)
        scores = [joined[labels == k].sum() / max(both[labels == k].sum(), 1) for k in range(3)]
        if x == 3:
            assert nearest[x] == -1
            assert np.isnan(confidence[x])
        else:
            assert scores[nearest[x]] == max(scores)
            assert confidence[x] == pytest.approx(max(scores))


def test_grid_search_scores_every_number_of_clusters():
    search = GridSearchCV(
        EnsembleClustering(generator=RandomK(10), random_state=0),
        {"n_clusters": [2, 3, 5]},
        scoring="adjusted_rand_score",
        cv=3,
    ).fit(X, TRUTH)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_ == {"n_clusters": 3}


def test_parts_by_key_and_class():
    method = EnsembleClustering(3, generator="random_rows", method="sec", random_state=0).fit(X)
    assert isinstance(method.generator_, RandomRows)
    assert isinstance(method.method_, SEC)
    assert hasattr(EnsembleClustering(method="sec"), "predict")
    by_class = EnsembleClustering(3, generator=RandomRows, method=SEC, random_state=0).fit(X)
    np.testing.assert_array_equal(by_class.labels_, method.labels_)


def test_refused_in_words():
    with pytest.raises(ValueError, match=r"No consensus method 'nope'\. Available: bce, ccc"):
        EnsembleClustering(method="nope").fit(X)
    with pytest.raises(ValueError, match=r"No generator 'nope'\. Available: random_k"):
        EnsembleClustering(generator="nope").fit(X)
    with pytest.raises(ValueError, match="'generator' parameter"):
        EnsembleClustering(generator=3).fit(X)
    with pytest.raises(ValueError, match="'n_clusters' parameter"):
        EnsembleClustering(n_clusters=0).fit(X)
    with pytest.raises(ValueError, match="n_clusters=91 must be between 1 and"):
        EnsembleClustering(91, generator=RandomK(4, n_clusters=3)).fit(X)


@pytest.mark.filterwarnings("ignore:63 of 90 samples")
def test_samples_that_no_partition_drew():
    with pytest.raises(InvalidEnsembleError, match="have no label in any partition"):
        EnsembleClustering(2, generator=RandomRows(1, ratio=0.3, random_state=0)).fit(X)


def test_parameters_of_the_parts_can_be_searched():
    method = EnsembleClustering(3, generator=RandomK(5), method=LWGP(), random_state=0)
    for setting in ParameterGrid({"generator__n_partitions": [4, 6], "method__theta": [0.3, 1]}):
        fitted = clone(method).set_params(**setting).fit(X)
        assert fitted.partitions_.shape[1] == setting["generator__n_partitions"]
        assert fitted.method_.theta == setting["method__theta"]


def test_a_method_from_elsewhere():
    """Anything with fit, labels_ and n_clusters_ will do; n_clusters is handed on."""

    class Elsewhere(KMeans):
        def fit(self, X, y=None):
            super().fit(X)
            self.n_clusters_ = self.n_clusters
            return self

    method = EnsembleClustering(
        3, generator=RandomK(5), method=Elsewhere(8, n_init=1), random_state=0
    )
    assert method.fit(X).n_clusters_ == 3


def test_an_interrupted_fit_leaves_no_half_of_a_model():
    """The scaler of new features with partitions of others would predict wrong clusters."""
    model = EnsembleClustering(3, generator=GENERATOR, random_state=0).fit(X)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), config_context(progress=interrupt):
        model.fit(X * [1, 1000])
    assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_among_the_features_is_named(library):
    columns = {"a": X[:, 0], "b": ["u", "v"] * 45}
    frame = pytest.importorskip(library).DataFrame(columns)
    if library == "pandas":
        frame["b"] = frame["b"].astype("category")
    with pytest.raises(ValueError, match=r"columns of numbers, got 'b' \('u', \.\.\.\)\. Drop"):
        EnsembleClustering(3).fit(frame)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_are_not_taken_for_numbers(library):
    days = [datetime.date(2026, 1, day) for day in (1, 2, 3)] * 30
    frame = pytest.importorskip(library).DataFrame({"a": X[:, 0], "day": days})
    with pytest.raises(ValueError, match=r"got 'day' \(.*2026, 1, 1.*\)"):
        EnsembleClustering(3).fit(frame)


def test_text_that_reads_like_numbers_is_taken_for_numbers():
    frame = pytest.importorskip("pandas").DataFrame({"a": X[:, 0], "b": X[:, 1].astype(str)})
    fitted = EnsembleClustering(3, random_state=0).fit(frame)
    expected = EnsembleClustering(3, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    partitions = generate(frame, "random_k", n_partitions=5, random_state=0)
    assert partitions.n_partitions == 5


def test_masked_features_are_refused():
    masked = np.ma.masked_array(X, np.abs(X) > np.abs(X).mean())
    with pytest.raises(ValueError, match=f"a masked array with {masked.mask.sum()} masked entries"):
        EnsembleClustering(3).fit(masked)
    nothing_masked = np.ma.masked_array(X, False)
    assert EnsembleClustering(3, random_state=0).fit(nothing_masked).n_clusters_ == 3


def test_more_clusters_than_samples_are_refused_by_their_name():
    with pytest.raises(ValueError, match=r"n_clusters=91 must be between 1 and .* n_samples=90"):
        EnsembleClustering(91).fit(X)
    with pytest.raises(ValueError, match="n_clusters must be an integer, got True"):
        EnsembleClustering(True).fit(X)
