"""scan_k finds planted numbers of clusters and no structure in noise; its curves are correct."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from partita import config_context
from partita.consensus import CCGP, EAC, LWEA, SEC, _certainty_cut
from partita.consensus.nested import labels_for_each
from partita.datasets import make_partitions
from partita.diagnostics import confidence_and_margin
from partita.ensemble import Ensemble, _ensemble
from partita.exceptions import PartitaWarning
from partita.generators import LandmarkSpectral, RandomK, RandomRows, SpectralBandwidths, generate
from partita.generators.generation import mark_of
from partita.matrices import coassociation
from partita.metrics import adjusted_rand
from partita.select_k import scan_k, scan_k_features
from partita.select_k._decision import Decision
from partita.select_k._evidence import Evidence, isolation, tightness
from partita.select_k._null import copies, permuted, uniform_reference
from partita.select_k._rows import DistinctRows, agreements
from partita.solvers.components import connected_components

QUICK = {"n_resamples": 3, "n_null": 4, "method": EAC()}


@pytest.mark.parametrize("planted", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_planted_number_is_found(planted, noise):
    labels, _ = make_partitions(100, 16, planted, noise=noise, random_state=planted)
    scan = scan_k(labels, range(2, 8), random_state=0, **QUICK)
    assert scan.best_k == planted, str(scan)
    assert np.argmax(scan.gain) == planted - 2
    assert len(np.unique(scan.labels[planted])) == planted


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_called_noise(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (100, 16))
    scan = scan_k(labels, range(2, 6), random_state=seed, **QUICK)
    assert scan.best_k is None, str(scan)
    assert "No structure found" in str(scan)


def test_missing_labels():
    labels = make_partitions(100, 20, 3, noise=0.1, missing_ratio=0.3)[0]
    assert scan_k(labels, range(2, 6), random_state=0, **QUICK).best_k == 3


def test_features_with_and_without_clusters():
    generator = RandomRows(n_partitions=16, ratio=0.7, n_jobs=1)
    blobs, _ = make_blobs(150, centers=[[0, 0], [6, 0], [3, 6]], cluster_std=0.8, random_state=0)
    options = {"generator": generator, "random_state": 0, **QUICK, "n_null": 8}
    scan = scan_k_features(blobs, range(2, 6), **options)
    assert scan.best_k == 3
    assert str(scan).split()[:7] == ["K", "separation", "null", "tightness", "null", "gain", "s.e."]
    row = [f"{scan.curves['tightness'][1]:.3f}", f"{scan.null_mean['tightness'][1]:.3f}"]
    assert str(scan).splitlines()[2].split()[3:5] == row
    uniform = np.random.default_rng(0).uniform(size=(150, 2))
    assert scan_k_features(uniform, range(2, 6), **options).best_k is None
    with pytest.raises(ValueError, match="SpectralBandwidths has no parameter 'k_min'"):
        scan_k_features(blobs, generator=SpectralBandwidths())


def shaped_noise(shape):
    rng = np.random.default_rng(1)
    if shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, 90)
        points = np.column_stack([np.cos(angle), np.sin(angle)])
        return points + 0.05 * rng.normal(size=(90, 2))
    if shape == "heavy tails":
        return rng.standard_t(3, size=(90, 3))
    X = rng.normal(size=(90, 2))
    return X * [6, 1] if shape == "elongated" else X @ [[1, 0.8], [0, 0.6]]


SHAPES = {"n_resamples": 2, "n_null": 6, "method": EAC(), "random_state": 0}


def test_numbers_of_clusters_of_features_may_be_left_to_the_scan():
    grid = np.repeat(np.indices((4, 3)).reshape(2, -1).T * 30.0, 6, axis=0)
    points = grid + np.random.default_rng(0).normal(size=grid.shape)
    options = {"generator": RandomK(8), "n_resamples": 2, "n_null": 4, "random_state": 0}
    scan = scan_k_features(points.tolist(), None, **options)
    assert scan.best_k == 12
    assert scan.k.tolist() == list(range(2, 15))  # six samples per cluster


@pytest.mark.parametrize("shape", ["ring", "heavy tails", "elongated", "correlated"])
def test_noise_of_other_shapes_has_no_structure(shape):
    generator = RandomRows(n_partitions=12, ratio=0.8, n_jobs=1)
    scan = scan_k_features(shaped_noise(shape), range(2, 6), generator=generator, **SHAPES)
    assert scan.best_k is None, str(scan)


def test_four_corners_of_a_square_are_found():
    """k-means cuts a uniform square into the same four parts nearly as clearly as this."""
    corners = [[0, 0], [6, 0], [0, 6], [6, 6]]
    X, _ = make_blobs(100, centers=corners, cluster_std=0.8, random_state=0)
    generator = RandomRows(n_partitions=12, ratio=0.8, n_jobs=1)
    scan = scan_k_features(X, range(2, 6), generator=generator, **SHAPES)
    assert scan.best_k == 4, str(scan)


def test_a_bound_that_nulls_never_reach_is_structure():
    """1.0 is two standard deviations above nulls near 0.8, but these stay below the bound."""
    rng = np.random.default_rng(0)
    nulls = np.column_stack([rng.normal(0.5, 0.05, 10), rng.normal(0.8, 0.1, 10).clip(max=0.95)])
    halves = rng.normal(0.7, 0.05, (8, 2))
    assert Decision([3, 4], np.array([0.5, 1.0]), halves, nulls, 10).best_k == 4
    assert Decision([3, 4], np.array([0.5, 0.93]), halves, nulls, 10).best_k is None


def test_only_a_number_that_beats_the_null_is_suggested():
    """A K with the largest gain does not count if noise reaches it."""
    rng = np.random.default_rng(0)
    spread = np.array([0.4, 0.01, 0.01, 0.01, 0.01, 0.01])
    nulls = 0.2 + spread * np.resize([-1.0, 1.0], (10, 1)) + 0.001 * rng.normal(size=(10, 6))
    observed = np.array([0.8, 0.2, 0.75, 0.2, 0.2, 0.2])
    scan = Decision(range(2, 8), observed, rng.normal(0.5, 0.1, (8, 6)), nulls, 10)
    assert np.argmax(scan.gain) == 0
    assert scan.best_k == 4


def test_features_need_tight_clusters_and_agreement():
    """Thin shapes are tight without agreement, long boxes agree without being tight."""
    rng = np.random.default_rng(0)
    halves = rng.normal(0.7, 0.02, (8, 3))

    def best(separation, tightness):
        nulls, loose = rng.normal(0.7, 0.05, (10, 3)), rng.normal(1.0, 0.05, (10, 3))
        evidence = np.asarray(tightness), loose
        return Decision([2, 3, 4], np.asarray(separation), halves, nulls, 10, evidence).best_k

    assert best([0.7, 0.9, 0.7], [1.0, 1.5, 1.2]) == 3
    assert best([0.7, 0.9, 0.7], [1.0, 1.0, 1.0]) is None
    assert best([0.7, 0.72, 0.7], [1.0, 1.5, 1.2]) is None
    assert best([0.7, 0.96, 0.7], [1.0, 1.5, 1.2]) == 3


def test_a_peak_of_the_silhouette_decides_between_tied_numbers():
    """The gains of 3 and 4 are tied; the silhouette counts if no larger K is tied with its best."""
    rng = np.random.default_rng(0)
    nulls, halves = rng.normal(0.05, 0.01, (10, 4)), rng.normal(0.7, 0.02, (20, 4))

    def best(separation, silhouette):
        values = np.asarray(silhouette), rng.normal(0.7, 0.02, (20, 4))
        observed = np.asarray(separation)
        return Decision([2, 3, 4, 5], observed, halves, nulls, 10, None, values).best_k

    assert best([0.3, 0.70, 0.69, 0.5], [0.4, 0.70, 0.75, 0.6]) == 4
    assert best([0.3, 0.70, 0.69, 0.5], [0.4, 0.75, 0.70, 0.6]) == 3
    assert best([0.3, 0.70, 0.69, 0.5], [0.4, 0.70, 0.75, 0.745]) == 3, "a plateau is no peak"
    assert best([0.3, 0.70, 0.60, 0.5], [0.4, 0.70, 0.75, 0.6]) == 3, "the gains are not tied"
    assert best([0.3, 0.70, 0.69, 0.5], [0.4, 0.70, 0.75, 0.8]) == 3, "the peak has a small gain"
    assert best([0.3, 0.60, 0.70, 0.69], [0.4, 0.60, 0.70, 0.8]) == 4, "the end is no peak"


def test_tightness_is_the_share_of_the_variance_within_clusters():
    X, y = make_blobs(60, centers=3, random_state=0)
    within = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum() for k in range(3))
    expected = -np.log(within / ((X - X.mean(axis=0)) ** 2).sum())
    assert tightness(X, y) == pytest.approx(expected)
    assert tightness(np.ones((5, 2)), np.array([0, 0, 1, 1, -1])) == 0.0


def test_isolation_is_the_share_of_neighbors_in_another_cluster():
    X = np.array([[0.0], [1.0], [2.1], [3.3], [10.0]])
    rows, neighbors = np.arange(5), np.array([[0, 1], [1, 0], [2, 1], [3, 2], [4, 3]])
    # of four edges between labeled samples, that of 2 and 1 is cut; two by chance
    labels = np.array([0, 0, 1, 1, -1])
    assert isolation(rows, neighbors, labels) == pytest.approx(np.log(3 / 2))
    assert isolation(rows, neighbors, np.zeros(5, int)) == 0
    # five neighbors are all other samples: of 20 edges, 8 join the last one with the others
    one_apart = np.array([0, 0, 0, 0, 1])
    by_chance = 20 * (1 - 0.8**2 - 0.2**2)
    assert Evidence.isolation(X).of(one_apart) == pytest.approx(np.log((by_chance + 1) / 9))


def test_equal_samples_are_no_isolated_cluster():
    points = np.random.default_rng(0).normal(size=(40, 2))
    X = np.vstack([points, np.repeat(points[:1], 40, axis=0)])
    copies_apart = np.repeat([0, 1], 40)
    copies_apart[0] = 1
    alone = np.arange(40) == 0
    expected = Evidence.isolation(points).of(alone.astype(int))
    assert Evidence.isolation(X).of(copies_apart) == pytest.approx(expected)


def test_the_reference_shuffles_features_with_a_frequent_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:30, 1] = 0.0
    X[:, 3] = 1.0
    reference = uniform_reference(X, rng)
    np.testing.assert_array_equal(np.sort(reference[:, 1]), np.sort(X[:, 1]))
    assert not np.array_equal(reference[:, 1], X[:, 1])
    assert len(np.unique(reference[:, 0])) == 50
    np.testing.assert_allclose(reference[:, 3], 1.0, rtol=0, atol=1e-12)
    only_counts = uniform_reference(X[:, [1]], rng)
    np.testing.assert_array_equal(np.sort(only_counts, axis=0), np.sort(X[:, [1]], axis=0))
    three = np.array([[0.0], [1.0], [5.0]])
    assert not np.isin(uniform_reference(three, rng), three).any(), "no value is frequent"


def test_evidence_has_a_say_where_partitions_agree_on_joined_clusters():
    """At K = 2 every partition joins the same clusters; at K = 4 some partitions miss one."""
    rng = np.random.default_rng(0)
    observed = np.array([1.0, 0.97, 0.96, 0.6])
    nulls = rng.normal(0.6, 0.05, (10, 4))
    evidence_of_nulls = rng.normal([3.5, 3.2, 3.0, 2.9], 0.1, (10, 4))
    evidence = np.array([6.0, 6.4, 6.8, 3.5]), evidence_of_nulls
    halves = np.tile(observed, (4, 1))
    options = {"ks": [2, 3, 4, 5], "observed": observed, "halves": halves, "nulls": nulls}
    alone = Decision(**options, n_planned=10)
    both = Decision(**options, n_planned=10, evidence=evidence)
    assert (alone.best_k, both.best_k) == (2, 4)
    np.testing.assert_array_equal(alone.gain, both.gain)
    product = both.gain * (evidence[0] - evidence_of_nulls.mean(axis=0))
    assert both.best == product.argmax()


def test_strong_evidence_wins_where_agreement_is_below_the_null():
    """Noisy moons: their gap is structure, but no partitions agree better than those of a box."""
    rng = np.random.default_rng(0)
    nulls = rng.normal([0.92, 0.72, 0.74], 0.02, (10, 3))
    evidence_of_nulls = rng.normal([3.5, 3.1, 3.0], 0.2, (10, 3))
    evidence = np.array([5.9, 4.7, 4.2]), evidence_of_nulls
    observed, gaps = np.array([0.82, 0.65, 0.70]), np.array([0.6, -1.3, 0.2])
    halves = np.tile(observed, (4, 1))
    scan = Decision([2, 3, 4], observed, halves, nulls, 10, evidence, gaps=gaps)
    assert (scan.gain < 0).all()
    assert scan.best_k == 2


def test_a_circle_around_another_is_found_by_a_generator_that_cuts_graphs():
    X, _ = make_circles(100, noise=0.04, factor=0.4, random_state=0)
    generator = LandmarkSpectral(n_partitions=8, n_jobs=1)
    options = {**SHAPES, "n_null": 4, "generator": generator}
    scan = scan_k_features(X, [2, 3], **options)
    assert scan.best_k == 2, str(scan)
    assert "tightness" not in scan.curves
    assert scan.nulls["isolation"].shape == (scan.n_null, 2)
    assert len(scan.resample_records()) == 2 * 2 * 2
    assert scan_k_features(shaped_noise("ring"), [2, 3], **options).best_k is None


@pytest.mark.parametrize("is_scaled", [False, True])
def test_iris_has_structure(is_scaled):
    X = load_iris().data
    X = StandardScaler().fit_transform(X) if is_scaled else X
    generator = RandomRows(n_partitions=16, ratio=0.8, n_jobs=1)
    options = {"n_resamples": 2, "n_null": 8, "random_state": 0}
    assert scan_k_features(X, range(2, 5), generator=generator, **options).best_k in (2, 3)


@pytest.mark.parametrize("has_errors", [False, True])
def test_copies_of_random_partitions_are_no_structure(has_errors):
    rng = np.random.default_rng(0)
    labels = np.hstack([rng.integers(0, 4, (100, 10))] * 2)
    if has_errors:
        labels[rng.random(labels.shape) < 0.03] = 0
    groups = copies(Ensemble.from_partitions(labels), rng)
    assert len(np.unique(groups)) == 10
    np.testing.assert_array_equal(groups[:10], groups[10:])
    assert scan_k(labels, range(2, 6), random_state=0, **QUICK).best_k is None


def copies_by_pairs(table):
    """Compare the partitions two by two; -1 is a missing label."""
    m = table.shape[1]
    is_copy = np.eye(m, dtype=bool)
    for i, j in itertools.combinations(range(m), 2):
        both = (table[:, i] >= 0) & (table[:, j] >= 0)
        if both.any():
            is_copy[i, j] = is_copy[j, i] = adjusted_rand(table[both, i], table[both, j]) >= 0.6
    groups = connected_components(is_copy)[1]
    return np.array([m + i if (groups == g).sum() > m / 4 else g for i, g in enumerate(groups)])


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 30])
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.9])
def test_copies_are_those_of_all_pairs(n_clusters, missing):
    rng = np.random.default_rng(n_clusters)
    for n in (1, 12, 60):
        table = rng.integers(0, n_clusters, (n, 6))[:, rng.integers(0, 6, 16)]
        table[rng.random(table.shape) < 0.1] = 0
        table[rng.random(table.shape) < missing] = -1
        table[(table < 0).all(axis=1), 0] = 0
        table[0, (table < 0).all(axis=0)] = 0
        ensemble = Ensemble.from_partitions(table)
        expected = copies_by_pairs(table)[ensemble.partition_order]
        groups = copies(ensemble, rng)
        np.testing.assert_array_equal(
            groups[:, None] == groups, expected[:, None] == expected, f"{n} samples"
        )


def test_partitions_that_all_agree_are_not_copies():
    labels = make_partitions(100, 12, 3, noise=0.02)[0]
    assert len(np.unique(copies(Ensemble.from_partitions(labels), np.random.default_rng(0)))) == 12
    assert scan_k(labels, range(2, 6), random_state=0, **QUICK).best_k == 3


def test_copies_are_shuffled_alike():
    labels = make_partitions(50, 4, 3, noise=0.2)[0][:, [0, 1, 0, 2]]
    null = permuted(
        Ensemble.from_partitions(labels), np.random.default_rng(0), np.array([0, 1, 0, 2])
    )
    np.testing.assert_array_equal(null.codes[:, 0], null.codes[:, 2])


def test_a_scan_of_generated_partitions_warns():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    generated = generate(X, "random_k", n_partitions=6, k_max=5, random_state=0)
    assert list(generated.partition_names[:2]) == ["random_k_0", "random_k_1"]
    with pytest.warns(PartitaWarning, match=r"generated from features \(random_k\)"):
        scan_k(generated, [2, 3], n_resamples=2, n_null=2, random_state=0)
    assert mark_of(["random_k_0", "other"]) is None
    assert mark_of(["leiden_0", "leiden_1"]) is None


def test_shuffled_labels_are_too_weak_a_null_for_features():
    """k-means slices a uniform square alike every time; shuffled labels call that structure."""
    uniform = np.random.default_rng(0).uniform(size=(150, 2))
    labels = RandomK(n_partitions=16, k_max=6, random_state=0).fit_transform(uniform)
    assert scan_k(labels, range(2, 6), random_state=0, **QUICK).best_k is not None


def test_curves():
    labels = make_partitions(60, 12, 3, noise=0.2)[0]
    scan = scan_k(labels, [4, 2, 3], random_state=0, **QUICK)
    assert scan.k.tolist() == [2, 3, 4]
    assert scan.cdf.shape == (3, 101)
    assert np.all(np.diff(scan.cdf, axis=1) >= 0)
    np.testing.assert_allclose(scan.cdf[:, -1], 1.0)
    assert np.all(scan.pac_interval[:, 0] <= scan.curves["pac"])
    assert np.all(scan.curves["pac"] <= scan.pac_interval[:, 1])
    assert scan.curves["stability"][1] > scan.curves["stability"][0]
    assert np.argmax(scan.curves["lifetime"]) == 1
    assert np.argmax(scan.curves["eigengap"]) == 1
    tree = EAC(2).fit(labels).tree_
    assert scan.curves["lifetime"][1] == pytest.approx(tree.height[-2] - tree.height[-3])
    records = scan.records()
    assert [r["k"] for r in records] == [2, 3, 4]
    assert records[1]["gain"] == scan.gain[1]


def test_every_tie_is_listed():
    scan = scan_k(make_partitions(60, 12, 3, noise=0.2)[0], range(2, 6), n_null=4, random_state=0)
    tied = replace(
        scan, best_k=4, gain=np.array([0.69, 0.6, 0.7, 0.693]), difference_error=np.full(4, 0.02)
    )
    assert tied.tied_k == [2, 4, 5]
    ends = [
        "<- at most one s.e. less",
        "0.6",
        "<- suggested",
        "<- at most one s.e. less",
    ]
    lines = str(tied).splitlines()[1:5]
    assert [line.endswith(end) for line, end in zip(lines, ends, strict=True)] == [1, 0, 1, 1]
    assert replace(tied, best_k=None).tied_k == []
    assert scan.best_k in scan.tied_k


def test_ties_are_judged_on_the_same_halves_and_nulls():
    """What varies together over halves and null ensembles does not blur a difference."""
    rng = np.random.default_rng(0)
    common = rng.normal(0, 0.1, (10, 1))
    nulls = 0.2 + common + rng.normal(0, 0.001, (10, 3))
    halves = 0.7 + common + rng.normal(0, 0.001, (10, 3))
    decision = Decision([2, 3, 4], np.array([0.6, 0.8, 0.79]), halves, nulls, 10)
    assert decision.best_k == 3
    assert decision.error.min() > 0.05
    assert decision.difference_error.max() < 0.002
    assert decision.difference_error[1] == 0


def test_values_per_resample():
    scan = scan_k(make_partitions(60, 12, 3, noise=0.2)[0], [2, 3], random_state=0, **QUICK)
    assert scan.resamples["silhouette"].shape == scan.resamples["separation"].shape == (3, 2, 2)
    assert scan.resamples["stability"].shape == (3, 2)
    np.testing.assert_allclose(scan.resamples["stability"].mean(axis=0), scan.curves["stability"])
    np.testing.assert_allclose(scan.nulls["pac"].mean(axis=0), scan.null_mean["pac"])
    records = scan.resample_records()
    assert len(records) == 3 * 2 * 2
    row = next(r for r in records if (r["resample"], r["half"], r["k"]) == (2, 1, 3))
    assert row["silhouette"] == scan.resamples["silhouette"][2, 1, 1]
    assert row["stability"] == scan.resamples["stability"][2, 1]
    assert len(scan.to_frame("resamples")) == len(records)
    assert len(scan.to_frame("nulls")) == scan.n_null * 2
    assert scan.null_records()[3]["silhouette"] == scan.nulls["silhouette"][1, 1]
    with pytest.raises(ValueError, match=r"rows must be one of .*, got 'halves'"):
        scan.to_frame("halves")


def test_a_cluster_that_hides_a_group_is_named():
    rng = np.random.default_rng(0)
    fine = np.repeat([0, 1, 2], [40, 25, 15])
    coarse = np.minimum(fine, 1)
    columns = [np.where(rng.random(80) < 0.04, rng.integers(0, 3, 80), fine) for _ in range(7)]
    columns += [coarse] * 5
    group, *others = scan_k(columns, [2], random_state=0, **QUICK).hidden_groups
    assert not others
    assert set(group["samples"]) == set(range(65, 80))
    assert scan_k(columns, [3], random_state=0, **QUICK).hidden_groups == []
    merged = scan_k(columns, [2], random_state=0, **QUICK)
    assert f"hides a group of 15 samples that {group['support']:.0%} of the partitions" in str(
        merged
    )


def test_same_seed_same_scan():
    labels = make_partitions(50, 8, 3, noise=0.3)[0]
    one = scan_k(labels, [2, 3], random_state=5, **QUICK)
    two = scan_k(labels, [2, 3], random_state=5, **QUICK)
    np.testing.assert_array_equal(one.gain, two.gain)
    np.testing.assert_array_equal(one.standard_error, two.standard_error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k_range": [1, 2]}, "from 2 to"),
        ({"k_range": []}, "from 2 to"),
        ({"k_range": [2, 60]}, "from 2 to 59"),
        ({"k_range": [2], "n_null": 1}, "2 null"),
    ],
)
def test_bad_requests(options, message):
    labels = make_partitions(60, 8)[0]
    with pytest.raises(ValueError, match=message):
        scan_k(labels, **options)


def test_the_ensemble_is_compressed_and_linked_once(monkeypatch):
    """Halves are new for every K; the ensemble and every null are reduced once for all K."""
    partitions = make_partitions(60, 9, 3, noise=0.2)[0]
    reduced, trees = [], []
    compress, link = _ensemble.compress, EAC._solve
    monkeypatch.setattr(_ensemble, "compress", lambda e: reduced.append(e) or compress(e))
    monkeypatch.setattr(EAC, "_solve", lambda self, *args: trees.append(1) or link(self, *args))
    scan_k(partitions, range(2, 6), method=SEC(n_init=1), n_resamples=3, n_null=4, random_state=0)
    assert sum(e.n_partitions == 9 for e in reduced) == 1 + 4
    assert len(trees) == 1


def counted(monkeypatch, owner, name):
    """Return a list that grows by one entry per call of a function."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(a) or function(*a, **k))
    return calls


def test_all_numbers_share_one_embedding(monkeypatch):
    """One reduction and one eigenproblem for the ensemble, each half and each null."""
    partitions = make_partitions(60, 9, 3, noise=0.2)[0]
    reductions = counted(monkeypatch, _ensemble, "compress")
    reductions_of_halves = counted(monkeypatch, _certainty_cut, "compress_columns")
    embeddings = counted(monkeypatch, _certainty_cut, "transfer_cut_embedding")
    cuts = counted(monkeypatch, _certainty_cut, "batched_kmeans")
    scan_k(partitions, range(2, 7), n_resamples=3, n_null=4, random_state=0)
    n_ensembles = 1 + 2 * 3 + 4 * (1 + 2 * 2)
    assert len(reductions) == 1 + 4
    assert len(reductions) + len(reductions_of_halves) == len(embeddings) == n_ensembles
    assert len(cuts) == 5 * n_ensembles


def test_numbers_cut_on_several_threads_are_those_of_one():
    partitions = make_partitions(900, 9, 3, noise=0.5)[0]
    labels = []
    for n_threads in (1, 3):
        with config_context(n_threads=n_threads):
            labels.append(list(labels_for_each(CCGP(random_state=0), partitions, range(2, 9))))
    np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize("method", [EAC, LWEA])
def test_all_numbers_share_one_tree(monkeypatch, method):
    partitions = make_partitions(60, 9, 3, noise=0.2)[0]
    trees = counted(monkeypatch, method, "_solve")
    scan_k(partitions, range(2, 7), method=method, n_resamples=3, n_null=4, random_state=0)
    lifetime = 1 if method is EAC else 0  # the curve "lifetime" has a tree of its own
    assert len(trees) == 1 + 2 * 3 + 4 * (1 + 2 * 2) + lifetime


def test_only_the_partitions_of_the_user_are_warned_of():
    """Not halves of them and null ensembles, which are hundreds, and once for all numbers."""
    table = np.repeat([[0] * 8, [1] * 8], 10, axis=0)  # two distinct rows
    with pytest.warns(PartitaWarning) as caught:
        scan_k(table, range(2, 8), n_resamples=2, n_null=4, random_state=0)
    assert [str(w.message) for w in caught] == [
        "CCGP returns 2 clusters for n_clusters=3, ..., 7: the ensemble has only 2 distinct rows."
    ]


def test_few_nulls_if_these_settle_the_answer():
    partitions = make_partitions(100, 16, 3, noise=0.2, random_state=0)[0]
    options = {"n_resamples": 3, "n_null": 9, "random_state": 0}
    early = scan_k(partitions, range(2, 6), **options)
    full = scan_k(partitions, range(2, 6), early_stop=False, **options)
    assert (early.n_null, full.n_null) == (4, 9)
    assert early.best_k == full.best_k == 3
    np.testing.assert_array_equal(early.curves["separation"], full.curves["separation"])


def scan_of_noise(rng, n_planned):
    """Return the null at which a scan of noise stops, and its answer; separations are normal."""
    common = rng.normal(size=(n_planned + 1, 1))
    values = 0.01 * (0.5 * common + rng.normal(size=(n_planned + 1, 6)))
    halves = 0.01 * rng.normal(size=(8, 6))
    for n in range(2, n_planned + 1):
        decision = Decision(range(2, 8), values[0], halves, values[1 : n + 1], n_planned)
        if decision.is_settled:
            return n, decision.best_k
    raise AssertionError("the last look settles every scan")


def test_early_stop_does_not_take_noise_for_structure():
    rng = np.random.default_rng(0)
    scans = [scan_of_noise(rng, 10) for _ in range(2000)]
    assert np.mean([n < 10 for n, _ in scans]) > 0.5
    # three early looks with 0.05 % each: 3 alarms are expected, more than 9 in one of 1000 tests
    assert sum(n < 10 and k is not None for n, k in scans) <= 9
    assert np.mean([k is not None for _, k in scans]) <= 0.015


def test_an_unclear_choice_is_not_settled():
    """Two numbers of clusters with nearly equal gains wait for more null ensembles."""
    rng = np.random.default_rng(0)
    nulls = 0.1 + 0.001 * rng.normal(size=(4, 2))
    halves = 0.8 + 0.01 * rng.normal(size=(8, 2))
    clear = Decision([2, 3], np.array([0.3, 0.9]), halves, nulls, 10)
    unclear = Decision([2, 3], np.array([0.9, 0.9]), halves, nulls, 10)
    assert clear.is_settled
    assert clear.best_k == 3
    assert not unclear.is_settled


@pytest.mark.parametrize("missing_ratio", [0.0, 0.3])
def test_separation_is_the_mean_margin_of_the_diagnosis(missing_ratio):
    table = make_partitions(40, 7, 3, noise=0.3, missing_ratio=missing_ratio)[0]
    ensemble = Ensemble.from_partitions(np.repeat(table, 2, axis=0))
    core, rng = ensemble.compress(), np.random.default_rng(0)
    clusterings = [core.expand(rng.integers(0, k, core.n_rows)) for k in (1, 2, 5)]
    distinct = DistinctRows(ensemble)
    means = agreements(distinct.rows, [distinct.select(c) for c in clusterings])
    for j, labels in enumerate(clusterings):
        confidence, margin = confidence_and_margin(ensemble, labels)
        assert means["separation"][j] == pytest.approx(np.nan_to_num(margin).mean())
        assert means["item_consensus"][j] == pytest.approx(np.nan_to_num(confidence).mean())


def test_silhouette_is_that_of_the_distance_one_minus_coassociation():
    table = np.repeat(make_partitions(40, 7, 3, noise=0.3)[0], 2, axis=0)
    ensemble = Ensemble.from_partitions(table)
    distance = 1.0 - coassociation(table)
    np.fill_diagonal(distance, 0.0)
    core, rng = ensemble.compress(), np.random.default_rng(0)
    clusterings = [core.expand(rng.integers(0, k, core.n_rows)) for k in (2, 5)]
    distinct = DistinctRows(ensemble)
    means = agreements(distinct.rows, [distinct.select(c) for c in clusterings])
    for j, labels in enumerate(clusterings):
        expected = silhouette_score(distance, labels, metric="precomputed")
        assert means["silhouette"][j] == pytest.approx(expected)


@pytest.mark.parametrize("scan", [scan_k, scan_k_features])
def test_time_is_predicted_before_the_first_step(scan):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 2))
    if scan is scan_k:
        data = np.round(data[:, [0] * 6] + 0.1 * rng.normal(size=(200, 6))).astype(int) + 10
    options = {"n_resamples": 2, "n_null": 2, "random_state": 0}
    steps = []
    with config_context(progress=lambda step: step.task == "scan" and steps.append(step)):
        watched = scan(data, [2, 3], **options)
    assert steps[0].seconds is None
    assert steps[1].done == 0
    assert steps[1].seconds > 0
    assert {step.seconds for step in steps[1:]} == {steps[1].seconds}
    np.testing.assert_array_equal(watched.gain, scan(data, [2, 3], **options).gain)


def test_few_samples_that_cannot_be_scanned_are_no_failure():
    """A partition of two samples labels none of those by which the time is predicted."""
    rng = np.random.default_rng(0)
    labels = np.zeros((2000, 8), np.int64)  # with clusters too rare for a part of the samples
    labels[:40] = np.where(rng.random((40, 8)) < 0.1, 9, rng.integers(1, 8, 40)[:, None])
    labels[:, 7] = np.where(np.arange(2000) < 2, labels[:, 7], -1)
    options = {"n_resamples": 2, "n_null": 2, "random_state": 0}
    with config_context(progress=lambda _: None):
        watched = scan_k(labels, [2, 3, 4], **options)
    np.testing.assert_array_equal(watched.gain, scan_k(labels, [2, 3, 4], **options).gain)


@pytest.mark.parametrize("n_null", [3, 9])
def test_progress_counts_up_to_the_end(n_null):
    steps = []
    labels = make_partitions(60, 8, 3, noise=0.1)[0]
    with config_context(progress=steps.append):
        scan_k(labels, [2, 3], n_resamples=2, n_null=n_null, random_state=0)
    steps = [step for step in steps if step.task == "scan"]
    done = [step.done for step in steps]
    assert {step.total for step in steps} == {(1 + 2 * 2 + 5 * n_null) * (2 + 3)}
    assert done[:3] == [0, 2, 5]  # after each number of clusters, from the first one on
    assert done == sorted(set(done))
    assert done[-1] == steps[-1].total


def test_methods_without_a_number_of_clusters_are_refused():
    with pytest.raises(ValueError, match="must have the parameter n_clusters"):
        scan_k(make_partitions(60, 8)[0], [2, 3], method=StandardScaler())


def test_a_null_ensemble_keeps_sizes_and_missing_labels():
    labels = make_partitions(80, 6, 3, noise=0.2, missing_ratio=0.2)[0]
    ensemble = Ensemble.from_partitions(labels)
    null = permuted(ensemble, np.random.default_rng(0))
    np.testing.assert_array_equal(null.observed, ensemble.observed)
    np.testing.assert_array_equal(np.sort(null.codes, axis=0), np.sort(ensemble.codes, axis=0))
    assert np.any(null.codes != ensemble.codes)


@pytest.mark.parametrize("k_range", [5, "2:5", [2.5, 3], ["2"]])
def test_numbers_of_clusters_must_be_whole_numbers(k_range):
    partitions = make_partitions(40, 8, 3)[0]
    with pytest.raises(TypeError, match="k_range must be several whole numbers"):
        scan_k(partitions, k_range)
    assert scan_k(partitions, np.array([2.0, 3.0]), random_state=0).k.tolist() == [2, 3]


@pytest.mark.parametrize(("n_clusters", "largest"), [(3, 10), (12, 30)])
def test_more_numbers_are_tried_if_ten_is_suggested(n_clusters, largest):
    partitions = make_partitions(240, 16, n_clusters, random_state=0)[0]
    scan = scan_k(partitions, n_resamples=2, random_state=0)
    assert (scan.best_k, scan.k.tolist()) == (n_clusters, list(range(2, largest + 1)))
