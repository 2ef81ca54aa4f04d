"""Voting: against dense matrices on all samples, and against all maps of clusters."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from unreduced_votes import best_map, one_hot_of

from partita import Ensemble, Voting
from partita.consensus.voting import _Ballot
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning
from partita.metrics import anmi


def repeated(missing=0.0, seed=3, k=(3, 3)):
    labels = make_partitions(
        30, 7, 3, noise=0.3, missing_ratio=missing, k_min=k[0], k_max=k[1], random_state=seed
    )[0]
    return np.repeat(labels, np.random.default_rng(seed).integers(1, 99, 30), axis=0)


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize(("n_clusters", "k"), [(3, (3, 3)), (3, (2, 6)), (2, (3, 5)), (5, (3, 5))])
def test_equals_the_unreduced_computation(missing, n_clusters, k):
    labels = repeated(missing, k=k)
    core = Ensemble.from_partitions(labels).compress()
    ballot = _Ballot(core, n_clusters)
    shares = np.random.default_rng(0).dirichlet(np.ones(n_clusters), core.n_rows)
    for _ in range(4):
        maps = ballot.maps(shares)
        votes = np.zeros((len(labels), n_clusters))
        for i, column in enumerate(core.codes[core.inverse].T.astype(int)):
            block = one_hot_of(np.where(column == core.missing_code, -1, column))
            overlap = block.T @ core.expand(shares)
            clusters = np.arange(len(overlap))
            choice = maps[core.offsets[i] : core.offsets[i + 1]]
            best = overlap[clusters, best_map(overlap)].sum()  # equal sums are ties
            assert overlap[clusters, choice].sum() == pytest.approx(best, rel=1e-12)
            votes += block @ np.eye(n_clusters)[choice]
        expected = votes / votes.sum(axis=1, keepdims=True)
        shares = ballot.shares(ballot.votes(maps))
        np.testing.assert_allclose(core.expand(shares), expected, atol=1e-12)
        total = (votes * (np.square(expected).sum(axis=1)[:, None] + 1 - 2 * expected)).sum()
        mean = total / votes.sum()
        assert ballot.dissimilarity(ballot.votes(maps)) == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize(("n_clusters", "k"), [(3, 5), (3, 3), (3, 2)])
def test_maps_are_the_best_of_all(n_clusters, k):
    """Of all maps that use every consensus cluster, or none of them twice."""
    rng = np.random.default_rng(k)
    labels = rng.permutation(40)[:, None] % k
    ballot = _Ballot(Ensemble.from_partitions(labels), n_clusters)
    for _ in range(10):
        shares = rng.dirichlet(np.ones(n_clusters), 40)
        overlaps = np.array([shares[labels[:, 0] == c].sum(axis=0) for c in range(k)])
        allowed = [
            maps
            for maps in product(range(n_clusters), repeat=k)
            if len(set(maps)) == min(k, n_clusters)
        ]
        best = max(allowed, key=lambda maps: overlaps[np.arange(k), maps].sum())
        assert ballot.maps(shares).tolist() == list(best)


def test_by_hand():
    """Both partitions of two clusters map to the first; sample 2 gets two votes of three."""
    method = Voting(2).fit([[0, 0, 1, 1], [4, 4, 9, 9], [1, 1, 1, 0]])
    np.testing.assert_allclose(method.membership_, [[1, 0], [1, 0], [1 / 3, 2 / 3], [0, 1]])
    # squared distances to (1/3, 2/3): 2/9 for two votes, 8/9 for one, over 12 labels
    assert method.objective_ == pytest.approx((2 * 2 / 9 + 8 / 9) / 12, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_objective_never_increases(seed):
    labels = make_partitions(200, 12, 5, noise=0.5, k_min=2, k_max=12, random_state=seed)[0]
    method = Voting(5).fit(labels)
    assert len(method.history_) == method.n_iter_ > 1
    assert (np.diff(method.history_) <= 1e-12).all()
    assert method.objective_ == method.history_[-1]


def test_recovers_planted_clusters_of_uneven_partitions():
    labels, y = make_partitions(300, 30, 4, noise=0.2, k_min=2, k_max=10, random_state=0)
    assert adjusted_rand_score(y, Voting(4).fit_predict(labels)) == 1.0


def test_membership():
    labels = repeated(0.3)
    labels[4] = -1
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    method = Voting(3).fit(ensemble)
    has_label = method.labels_ >= 0
    assert np.isnan(method.membership_[~has_label]).all()
    np.testing.assert_allclose(method.membership_[has_label].sum(axis=1), 1.0)
    own = method.membership_[has_label, method.labels_[has_label]]
    np.testing.assert_array_equal(own, method.membership_[has_label].max(axis=1))
    assert not hasattr(Voting(3, soft=False).fit(ensemble), "membership_")


def test_order_of_partitions_does_not_matter():
    labels = repeated(0.3, k=(2, 6))
    method = Voting(3).fit(labels)
    order = np.random.default_rng(0).permutation(7)
    other = Voting(3).fit(labels[:, order])
    np.testing.assert_allclose(other.membership_, method.membership_, atol=1e-12)
    assert order[other.reference_] == method.reference_


def test_the_reference_with_the_highest_average_nmi_wins():
    labels = make_partitions(150, 20, 4, noise=0.4, k_min=4, k_max=9, random_state=1)[0]
    scores = [anmi(labels, Voting(4, n_init=n).fit(labels).labels_) for n in (1, 5, 20)]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]


def test_one_row_per_cluster():
    method = Voting(3).fit([[0, 0, 1, 2], [0, 0, 1, 1]])
    np.testing.assert_array_equal(method.membership_, np.eye(3)[[0, 0, 1, 2]])
    assert method.objective_ == 0.0
    assert method.reference_ == -1


def test_more_clusters_than_any_partition_has_cannot_be_reached():
    labels = make_partitions(60, 8, 3, noise=0.3, random_state=0)[0]
    with pytest.warns(PartitaWarning, match="returned 3 clusters instead of n_clusters=5"):
        method = Voting(5).fit(labels)
    assert method.membership_.shape == (60, 5)


def test_warns_at_max_iter():
    labels = make_partitions(200, 12, 5, noise=0.5, k_min=2, k_max=12, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match="Voting stopped after max_iter=1"):
        assert not Voting(5, max_iter=1).fit(labels).converged_


@pytest.mark.parametrize("bad", [{"n_init": 0}, {"max_iter": 0}, {"soft": "yes"}])
def test_refuses_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        Voting(3, **bad).fit([[0, 0, 1], [0, 1, 1]])
