"""RMSC against a plain program over all samples, and what its docstring says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from unreduced_low_rank import share_transitions, transitions_of, walk_embedding
from unreduced_representation import repeated_rows

from partita import RMSC
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("parameters", [{"lam": 0.005}, {"lam": 0.05, "mu": 0.01, "growth": 1.4}])
def test_all_samples(missing, parameters):
    labels = repeated_rows(missing, seed=1)
    plain = share_transitions(transitions_of(labels), **parameters)
    method = RMSC(3, random_state=0, **parameters).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), plain.P, rtol=0, atol=1e-10)
    np.testing.assert_allclose(method.history_, plain.history, rtol=0, atol=1e-9)
    assert method.objective_ == pytest.approx(plain.objective, rel=1e-10)
    assert method.lam_ == parameters["lam"]
    if len(parameters) == 1:
        rows = walk_embedding(plain.P, 3)
        expected = KMeans(3, n_init=50, random_state=0).fit_predict(rows)
        assert adjusted_rand_score(expected, method.labels_) == 1.0


def test_the_matrix_is_a_random_walk():
    labels = repeated_rows(0.2, seed=2)
    P = RMSC(3, random_state=0).fit(labels).consensus_matrix()
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_planted_clusters():
    labels, y = make_partitions(90, 10, 3, noise=0.1, random_state=2)
    assert adjusted_rand_score(y, RMSC(3, random_state=0).fit_predict(labels)) == 1.0


def test_slow_growth_reaches_a_better_objective():
    labels = make_partitions(50, 8, 3, noise=0.3, random_state=1)[0]
    fast, slow = (RMSC(3, growth=growth, random_state=0).fit(labels) for growth in (1.9, 1.1))
    assert slow.converged_
    assert slow.objective_ < fast.objective_ < 1.13 * slow.objective_
    assert slow.n_iter_ > 4 * fast.n_iter_


@pytest.mark.parametrize("lam", [None, 1.0])
def test_separate_parts(lam):
    """Clusters that no partition ever mixes: P is block diagonal, π is not unique.

    With the authors' 0.005 the clusters dissolve in so small a problem.
    """
    y = np.repeat([0, 1, 2], [4, 7, 12])
    first, second = np.arange(23) % 2, np.arange(23) % 3
    labels = np.column_stack([y, 3 * y + (first & (y == 1)), 3 * y + (second * (y == 2))])
    method = RMSC(3, lam=lam, random_state=0).fit(labels)
    assert adjusted_rand_score(y, method.labels_) == 1.0
    assert method.lam_ == lam or method.lam_ == pytest.approx(2 * 3 / (3 * 23))
    dissolved = RMSC(3, lam=0.005, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(y, dissolved) < 0.1


def test_errors_name_the_bad_partition():
    labels = make_partitions(60, 7, 3, noise=0.05, random_state=3)[0]
    labels[:, 4] = np.random.default_rng(0).integers(3, size=60)
    method = RMSC(3, random_state=0).fit(labels)
    assert np.argmax(method.partition_errors_) == 4
    matrices = transitions_of(labels)
    expected = [np.abs(T - method.consensus_matrix()).sum() for T in matrices]
    np.testing.assert_allclose(method.partition_errors_, expected, rtol=1e-10)


def test_not_converged():
    labels = make_partitions()[0]
    with pytest.warns(ConvergenceWarning, match="above tol"):
        method = RMSC(3, max_iter=5, random_state=0).fit(labels)
    assert not method.converged_
    with pytest.raises(ValueError, match="growth"):
        RMSC(3, growth=0.9).fit(labels)
