"""MEC against a plain program over all samples, and what its docstring says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from unreduced_low_rank import scaled_embedding, share_low_rank
from unreduced_representation import repeated_rows

from partita import MEC
from partita.consensus import Size
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning

GROUPS = [0, 0, 1, 1, 1, 2, 2]


@pytest.mark.filterwarnings("ignore:The matrix that MEC learned")
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("norm", ["l1", "l21"])
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_all_samples(missing, groups, norm, beta):
    labels = repeated_rows(missing, seed=1)
    plain = share_low_rank(labels, 3, groups, norm=norm, beta=beta)
    method = MEC(3, groups=groups, lam=0.1, error_norm=norm, beta=beta, random_state=0).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), plain.Z, rtol=0, atol=1e-10)
    np.testing.assert_allclose(method.history_, plain.history, rtol=0, atol=1e-10)
    assert method.objective_ == pytest.approx(plain.objective, rel=1e-10)


def test_labels_are_the_best_of_the_scaled_embedding():
    labels = repeated_rows(0.0, seed=1)
    rows = scaled_embedding(share_low_rank(labels, 3).Z, 3)
    method = MEC(3, lam=0.1, random_state=0).fit(labels)

    def inertia(assignment):
        return sum(
            ((rows[assignment == k] - rows[assignment == k].mean(axis=0)) ** 2).sum()
            for k in range(3)
        )

    best = KMeans(3, n_init=50, random_state=0).fit(rows).inertia_
    assert inertia(method.labels_) <= best * (1 + 1e-9)


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_smallest_lam_that_keeps_a_cluster(norm):
    """Three views agree on two clusters of 9 samples: lam V √c > 1, or lam V c > 1.

    The last sample is alone in all views, which makes the rows more than the clusters.
    """
    labels = np.tile(np.append(np.repeat([0, 1], 9), 2)[:, None], 3)
    smallest = 1 / (3 * (9 if norm == "l1" else 3))
    kept = MEC(2, lam=1.01 * smallest, error_norm=norm, random_state=0).fit(labels)
    expected = np.zeros((19, 19))
    expected[:18, :18] = np.kron(np.eye(2), np.ones((9, 9)))
    np.testing.assert_allclose(kept.consensus_matrix(), expected, rtol=0, atol=1e-9)
    lost = MEC(2, lam=0.9 * smallest, error_norm=norm, growth=1.05, random_state=0)
    with pytest.warns(PartitaWarning, match="rank 0, below n_clusters=2"):
        lost.fit(labels)
    assert not lost.consensus_matrix().any()
    usual = MEC(2, error_norm=norm, random_state=0).fit(labels)
    twice = 2 * smallest * 18 / 19 if norm == "l1" else 2 * smallest * np.sqrt(18 / 19)
    assert usual.lam_ == pytest.approx(max(0.1, twice), rel=1e-12)


@pytest.mark.parametrize("norm", ["l1", "l21"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_planted_clusters(norm, beta):
    labels, y = make_partitions(90, 10, 3, noise=0.1, random_state=2)
    method = MEC(3, error_norm=norm, beta=beta, random_state=0)
    assert adjusted_rand_score(y, method.fit_predict(labels)) == 1.0


def test_groups():
    labels = make_partitions(50, 7, 3, noise=0.15, random_state=4)[0]
    expected = MEC(3, groups=GROUPS, random_state=0).fit(labels)
    named = MEC(3, groups=["a", "a", "b", "b", "b", "c", "c"], random_state=0).fit(labels)
    np.testing.assert_array_equal(named.core_matrix_, expected.core_matrix_)
    order = np.random.default_rng(0).permutation(7)
    shuffled = MEC(3, groups=np.array(GROUPS)[order], random_state=0).fit(labels[:, order])
    np.testing.assert_allclose(
        shuffled.consensus_matrix(), expected.consensus_matrix(), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(shuffled.view_errors_, expected.view_errors_, rtol=1e-10)
    single = MEC(3, random_state=0).fit(labels)
    numbered = MEC(3, groups=range(7), random_state=0).fit(labels)
    np.testing.assert_array_equal(single.core_matrix_, numbered.core_matrix_)
    for wrong in (GROUPS[:5], [GROUPS]):
        with pytest.raises(ValueError, match="one entry for each of the 7 partitions"):
            MEC(3, groups=wrong).fit(labels)


def test_memory_depends_on_the_views():
    size = Size(n_rows=100, n_partitions=40, n_base_clusters=200, n_clusters=3)
    views, partitions = (MEC(3, groups=g).bytes_needed(size) for g in (np.arange(40) % 4, None))
    assert partitions - views == 8 * 36 * 100**2


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_errors_name_the_bad_view(norm):
    labels = make_partitions(60, 8, 3, noise=0.05, random_state=3)[0]
    labels[:, 2:4] = np.random.default_rng(0).integers(3, size=(60, 2))
    method = MEC(3, groups=np.arange(8) // 2, lam=0.3, error_norm=norm, random_state=0).fit(labels)
    assert np.argmax(method.view_errors_) == 1
    S = sum((labels[:, [i]] == labels[:, i]) for i in (2, 3)) / 2
    error = S - method.consensus_matrix()
    expected = np.abs(error).sum() if norm == "l1" else np.linalg.norm(error, axis=0).sum()
    assert method.view_errors_[1] == pytest.approx(expected, rel=1e-10)


def test_the_spectral_term_lowers_the_cut():
    """Entries of Z between clusters fall with beta."""
    labels, y = make_partitions(60, 6, 3, noise=0.25, random_state=5)
    apart = y[:, None] != y
    between = [
        MEC(3, beta=beta, random_state=0).fit(labels).consensus_matrix()[apart].sum()
        for beta in (0.0, 1.0, 4.0)
    ]
    assert between[0] > between[1] > between[2]


def test_not_converged():
    with pytest.warns(ConvergenceWarning, match="above tol"):
        method = MEC(3, max_iter=15, random_state=0).fit(make_partitions()[0])
    assert not method.converged_
    assert len(method.history_) == 15
