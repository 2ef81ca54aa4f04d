"""KCC: all utilities against the published program, their definitions and a plain computation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import KCC, Ensemble
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning
from partita.testing import check_consensus

PUBLISHED = {
    "u_c_std": {"utility": "c"},
    "u_c_norm": {"utility": "c", "normalized": True},
    "u_h_std": {"utility": "h"},
    "u_h_norm": {"utility": "h", "normalized": True},
    "u_cos_std": {"utility": "cos"},
    "u_cos_norm": {"utility": "cos", "normalized": True},
    "u_lp_std5": {"utility": "lp", "p": 5},
    "u_lp_norm5": {"utility": "lp", "p": 5, "normalized": True},
}
SETTINGS = [pytest.param(v, id=k) for k, v in PUBLISHED.items()]


def entropy(P):
    return -sum(x * np.log2(x) for x in P if x > 0)


def mu(setting, P):
    """The convex function of the utility's definition."""
    match setting["utility"]:
        case "c":
            return (P**2).sum()
        case "h":
            return -entropy(P)
        case "cos":
            return np.linalg.norm(P)
        case "lp":
            return np.linalg.norm(P, setting.get("p", 5))


def distance(setting, label, P):
    """Of a row with this label to a cluster with these proportions, one partition's part."""
    match setting["utility"]:
        case "c":
            return 1 + (P**2).sum() - 2 * P[label]
        case "h":
            return -np.log2(P[label] + np.finfo(float).eps)
        case "cos":
            return 1 - P[label] / np.linalg.norm(P)
        case "lp":
            p = setting.get("p", 5)
            return 1 - (P[label] / np.linalg.norm(P, p)) ** (p - 1)


def proportions(column):
    known = column[column >= 0]
    return np.bincount(known, minlength=column.max() + 1) / max(len(known), 1)


def kcc_slowly(setting, labels, groups, w=None):
    """Objective and utility on all samples, term by term, from the definitions."""
    m = labels.shape[1]
    w = np.ones(m) if w is None else np.asarray(w, float)
    objective, utility = 0.0, 0.0
    for i, column in enumerate(labels.T):
        overall = proportions(column)
        weight = w[i] / abs(mu(setting, overall)) if setting.get("normalized") else w[i]
        seen = column >= 0
        gain = -mu(setting, overall)
        for k in np.unique(groups[seen]):
            inside = column[seen & (groups == k)]
            P = np.bincount(inside, minlength=len(overall)) / len(inside)
            gain += len(inside) / seen.sum() * mu(setting, P)
            objective += weight * sum(distance(setting, label, P) for label in inside)
        utility += weight * seen.mean() * gain
    return objective, utility


def unreduced(setting, labels, seeds, w, max_iter=100):
    """The published iteration on all samples: no reduction, no look-up, no bounds."""
    n, m = labels.shape
    k = len(seeds)
    overall = [proportions(column) for column in labels.T]
    weight = [
        w[i] / abs(mu(setting, overall[i])) if setting.get("normalized") else w[i] for i in range(m)
    ]
    members = [np.array([seed]) for seed in seeds]
    previous = None
    for _ in range(max_iter):
        cost = np.zeros((n, k))
        for i, column in enumerate(labels.T):
            for j in range(k):
                inside = column[members[j]]
                inside = inside[inside >= 0]
                P = (
                    np.bincount(inside, minlength=len(overall[i])) / len(inside)
                    if len(inside)
                    else overall[i]
                )
                for label in range(len(P)):
                    cost[column == label, j] += weight[i] * distance(setting, label, P)
        groups = cost.argmin(axis=1)
        if previous is not None and np.array_equal(groups, previous):
            return groups, cost.min(axis=1).sum()
        assert len(np.unique(groups)) == k, "choose seeds that leave no cluster empty"
        members = [np.flatnonzero(groups == j) for j in range(k)]
        previous = groups
    raise AssertionError("the unreduced iteration did not converge")


@pytest.mark.shared
@pytest.mark.parametrize("key", PUBLISHED)
def test_published_runs(oracle, key):
    """Labels and objective of every start whose seeds differ (equal seeds are refilled at random
    there). The utility too, but for U_H, which the program reports with a wrong sign."""
    reference = oracle("kcc")
    compared = 0
    for j, seeds in enumerate(reference["init_idx_1based"].astype(int) - 1):
        if len(np.unique(oracle.labels[seeds], axis=0)) < oracle.n_clusters:
            continue
        found = KCC(oracle.n_clusters, init=seeds, **PUBLISHED[key]).fit(oracle.labels)
        published = reference[f"{key}_labels_per_init"][:, j]
        assert adjusted_rand_score(found.labels_, published) == 1.0
        assert found.objective_ == pytest.approx(reference[f"{key}_objective"][j], rel=1e-12)
        if not key.startswith("u_h"):
            assert found.utility_ == pytest.approx(reference[f"{key}_utility"][j, 0], rel=1e-12)
        compared += 1
    assert compared > 0


def test_by_hand():
    """Four samples, two partitions: {0,1},{2,3} and {0,1,2},{3}; clusters {0,1} and {2,3}."""
    labels = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    # partition 1 is pure in both clusters; partition 2 is pure in one, half and half in the other
    expected = {
        "c": (1.0, (1 - 0.5) + (0.5 + 0.25 - 0.625)),
        "h": (2.0, 1.0 + (entropy([0.75, 0.25]) - 0.5)),
        "cos": (2 - np.sqrt(2), (1 - np.sqrt(0.5)) + (0.5 + np.sqrt(0.5) / 2 - np.sqrt(0.625))),
    }
    for utility, (objective, value) in expected.items():
        method = KCC(2, utility=utility, init=[0, 2]).fit(labels)
        np.testing.assert_array_equal(method.labels_, [0, 0, 1, 1])
        assert method.objective_ == pytest.approx(objective, rel=1e-12)
        assert method.utility_ == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_utility_are_their_definitions(setting, missing, weighted):
    labels = make_partitions(60, 7, 4, noise=0.3, missing_ratio=missing, random_state=4)[0]
    w = np.arange(1.0, 8.0) if weighted else None
    method = KCC(4, random_state=1, partition_weights=w, **setting).fit(labels)
    objective, utility = kcc_slowly(setting, labels, method.labels_, w)
    assert method.objective_ == pytest.approx(objective, rel=1e-10)
    assert method.utility_ == pytest.approx(utility, rel=1e-10)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_equals_the_unreduced_computation(setting, missing):
    labels = np.repeat(
        make_partitions(40, 6, 3, noise=0.25, missing_ratio=missing, random_state=2)[0], 3, axis=0
    )
    w = np.sqrt([2, 3, 5, 7, 11, 13])  # no two sums tie
    seeds = [0, 60, 110]
    groups, objective = unreduced(setting, labels, seeds, w)
    method = KCC(3, init=seeds, partition_weights=w, **setting).fit(labels)
    assert adjusted_rand_score(method.labels_, groups) == 1.0
    assert method.objective_ == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_objective_never_rises(setting, missing):
    labels = make_partitions(150, 12, 5, noise=0.5, missing_ratio=missing, random_state=1)[0]
    for seed in range(3):
        method = KCC(9, init="random", n_init=1, random_state=seed, **setting).fit(labels)
        assert np.all(np.diff(method.history_) <= 1e-9 * method.history_[0])
        assert method.history_[-1] == method.objective_


@pytest.mark.parametrize("setting", SETTINGS)
def test_objective_and_utility_differ_by_a_constant(setting):
    labels = make_partitions(90, 8, 4, noise=0.4, random_state=6)[0]
    totals = []
    for seed in range(4):
        method = KCC(4, n_init=1, init="random", random_state=seed, **setting).fit(labels)
        totals.append(method.objective_ + len(labels) * method.utility_)
    np.testing.assert_allclose(totals, totals[0], rtol=1e-11)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_compiled_kernels_change_nothing(setting, missing, monkeypatch):
    labels = make_partitions(400, 10, 6, noise=0.5, missing_ratio=missing, random_state=3)[0]
    w = np.linspace(0.3, 3.0, 10)
    usual = KCC(12, n_init=3, partition_weights=w, random_state=0, **setting).fit(labels)
    monkeypatch.setattr("partita._kernels._dispatch.COMPILED_FROM", 0.0)
    compiled = KCC(12, n_init=3, partition_weights=w, random_state=0, **setting).fit(labels)
    np.testing.assert_array_equal(usual.labels_, compiled.labels_)
    np.testing.assert_array_equal(usual.history_, compiled.history_)


@pytest.mark.parametrize("setting", SETTINGS)
def test_predict(setting):
    labels, truth = make_partitions(800, 15, 3, noise=0.2, missing_ratio=0.1)
    method = KCC(3, random_state=0, **setting).fit(labels[::2])
    np.testing.assert_array_equal(method.predict(labels[::2]), method.labels_)
    assert adjusted_rand_score(truth[1::2], method.predict(labels[1::2])) > 0.9


def test_samples_with_weights():
    labels = make_partitions(40, 6, 3, noise=0.3)[0]
    times = np.random.default_rng(0).integers(1, 4, 40)
    for setting in PUBLISHED.values():
        weighted = KCC(3, random_state=0, **setting).fit(
            Ensemble.from_partitions(labels, weights=times)
        )
        repeated = KCC(3, random_state=0, **setting).fit(np.repeat(labels, times, axis=0))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
        assert weighted.utility_ == pytest.approx(repeated.utility_, rel=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
def test_fractional_weights_leave_no_residue(setting):
    """Counts are kept by adding and subtracting; what rounding leaves is not a sample."""
    rng = np.random.default_rng(1)
    labels = make_partitions(120, 6, 5, noise=0.6, missing_ratio=0.5, random_state=2)[0]
    weights = rng.random(120) / 3
    method = KCC(8, random_state=0, **setting).fit(
        Ensemble.from_partitions(labels, weights=weights)
    )
    again = KCC(8, random_state=0, **setting).fit(
        Ensemble.from_partitions(labels, weights=weights * 2.0**20)
    )
    assert np.isfinite(method.history_).all()
    np.testing.assert_array_equal(method.labels_, again.labels_)


def test_a_partition_of_one_cluster_says_nothing():
    """Its entropy, by which the normalized utility would divide, is 0."""
    labels = make_partitions(60, 8, 3, noise=0.2)[0]
    padded = np.column_stack([labels, np.zeros(60, int)])
    for setting in PUBLISHED.values():
        with_it = KCC(3, random_state=0, **setting).fit(padded)
        without = KCC(3, random_state=0, **setting).fit(labels)
        np.testing.assert_array_equal(with_it.labels_, without.labels_)
        assert np.isfinite(with_it.utility_)


def test_a_large_order_does_not_underflow():
    labels = make_partitions(60, 8, 3, noise=0.2)[0]
    method = KCC(3, utility="lp", p=2000.0, random_state=0).fit(labels)
    objective, _ = kcc_slowly({"utility": "c"}, labels, method.labels_)
    assert np.isfinite(method.objective_)
    assert 0 < method.objective_ < 2 * objective


def test_lp_of_order_two_is_the_cosine():
    labels = make_partitions(80, 8, 4, noise=0.4)[0]
    lp = KCC(4, utility="lp", p=2, random_state=0).fit(labels)
    cosine = KCC(4, utility="cos", random_state=0).fit(labels)
    np.testing.assert_array_equal(lp.labels_, cosine.labels_)
    assert lp.objective_ == cosine.objective_


def test_max_iter_is_reported():
    labels = make_partitions(300, 10, 6, noise=0.6, random_state=1)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        method = KCC(10, max_iter=1, n_init=1, random_state=0).fit(labels)
    assert not method.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"utility": "euclid"}, "utility"),
        ({"p": 1.0}, "'p'"),
        ({"normalized": "yes"}, "normalized"),
        ({"partition_weights": [1.0, 2.0]}, "shape"),
        ({"partition_weights": [1.0, 1, 1, 1, 1, -1]}, "positive"),
        ({"init": [0, 1]}, "numbers of 3 samples"),
    ],
)
def test_bad_parameters(parameters, message):
    labels = make_partitions(30, 6)[0]
    with pytest.raises(ValueError, match=message):
        KCC(3, **parameters).fit(labels)


@pytest.mark.parametrize("key", ["u_h_norm", "u_cos_std", "u_lp_norm5"])
@pytest.mark.filterwarnings("ignore:.*instead of n_clusters")
def test_battery_with_other_utilities(key):
    check_consensus(KCC(**PUBLISHED[key]))
