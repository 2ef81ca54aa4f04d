"""ECMC against a plain program over all samples, planted clusters and examples by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from unreduced_low_rank import complete
from unreduced_representation import repeated_rows

from partita import ECMC, Ensemble
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("parameters", [{}, {"low": 0.4, "high": 0.6, "lam": 0.3, "growth": 1.2}])
def test_all_samples(missing, parameters):
    labels = repeated_rows(missing, seed=1)
    plain = complete(labels, **parameters)
    method = ECMC(2, random_state=0, **parameters).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), plain.X, rtol=0, atol=1e-11)
    np.testing.assert_allclose(method.history_, plain.history, rtol=0, atol=1e-12)
    assert method.objective_ == pytest.approx(plain.objective, rel=1e-12)
    assert method.converged_
    rows = np.unique(labels, axis=0, return_index=True)[1]
    upper = plain.observed[np.ix_(rows, rows)][np.triu_indices(len(rows))]
    assert method.certain_ratio_ == pytest.approx(upper.mean(), rel=1e-15)


def test_weights_that_are_no_counts():
    """lam is 1/√n for n the sum of the weights."""
    labels = make_partitions(40, 8, noise=0.1)[0]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 40)
    fits = [
        ECMC(3, lam=lam, random_state=0).fit(Ensemble.from_partitions(labels, weights=w))
        for w, lam in ((weights, None), (weights, 1 / np.sqrt(weights.sum())))
    ]
    np.testing.assert_array_equal(fits[0].core_matrix_, fits[1].core_matrix_)


def test_two_blocks_by_hand():
    """X = D costs ‖D‖_* = 8, and an error more than it saves: lam = 1/√8 > 1/4.

    Four of five partitions are enough to join sample 0 to its cluster.
    """
    blocks = [0, 0, 0, 0, 1, 1, 1, 1]
    method = ECMC(2, random_state=0).fit([blocks] * 4 + [[2, 0, 0, 0, 1, 1, 1, 1]])
    expected = np.kron(np.eye(2), np.ones((4, 4)))
    np.testing.assert_allclose(method.consensus_matrix(), expected, rtol=0, atol=1e-7)
    assert method.objective_ == pytest.approx(8.0, abs=1e-6)
    assert method.certain_ratio_ == 1.0
    assert method.lam_ == 8**-0.5
    assert method.labels_.tolist() == blocks


def test_planted_clusters():
    labels, y = make_partitions(120, 12, 4, noise=0.1, random_state=2)
    assert adjusted_rand_score(y, ECMC(4, random_state=0).fit_predict(labels)) == 1.0


def test_unknown_pairs_are_completed():
    """Two halves of a cluster that no partition labels both belong together all the same."""
    y = np.repeat([0, 1], 12)
    labels = np.tile(y[:, None], 6)
    labels[[10, 23], 0] = 2  # more distinct rows
    labels[:4, :3] = -1
    labels[4:8, 3:] = -1
    method = ECMC(2, random_state=0).fit(labels)
    assert adjusted_rand_score(y, method.labels_) == 1.0
    assert method.consensus_matrix()[:4, 4:8].min() > 0.5


def test_a_sample_without_certain_partners():
    """X is 0 in its whole row; the co-association decides."""
    y = np.repeat([0, 1], 10)
    labels = np.tile(y[:, None], 8)
    labels[0, :3] = 2  # five of eight partitions join sample 0 to the first cluster
    method = ECMC(2, random_state=0).fit(labels)
    np.testing.assert_array_equal(method.labels_, y)


def test_few_certain_pairs():
    labels = np.random.default_rng(0).integers(2, size=(60, 10))
    with pytest.warns(PartitaWarning, match="do not determine a matrix of rank 3"):
        ECMC(3, low=0.05, high=0.95, random_state=0).fit(labels)


def test_all_is_error():
    labels, y = make_partitions(60, 10, 3, noise=0.05)
    with pytest.warns(PartitaWarning, match="all pairs as errors"):
        labels = ECMC(3, lam=1e-4, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(y, labels) == 1.0  # of the co-association matrix


def test_refusals():
    labels = make_partitions()[0]
    with pytest.raises(ValueError, match=r"low=0.5 and high=0.5"):
        ECMC(3, low=0.5, high=0.5).fit(labels)
    with pytest.raises(ValueError, match="growth"):
        ECMC(3, growth=1.0).fit(labels)
    with pytest.warns(ConvergenceWarning, match="relative residual"):
        method = ECMC(3, max_iter=4, random_state=0).fit(labels)
    assert not method.converged_
    assert method.n_iter_ == len(method.history_) == 4
