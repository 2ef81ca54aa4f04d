"""GWCA: blocks of distinct rows against full matrices on all samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from unreduced_aggregation import DIVERGENCES, aggregate_slowly, simplex_by_bisection

from partita import EAC, GWCA, Ensemble
from partita.consensus import gwca
from partita.consensus.gwca import _Pairs
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning
from partita.solvers import agglomerate_affinity
from partita.solvers.simplex import project_to_simplex
from partita.testing import check_consensus


def repeated(missing=0.0, seed=3):
    labels = make_partitions(30, 6, 3, noise=0.3, missing_ratio=missing, random_state=seed)[0]
    return np.repeat(labels, np.random.default_rng(seed).integers(1, 5, 30), axis=0)


def polluted(seed=0):
    """Ten partitions of planted clusters and five in random order."""
    labels, y = make_partitions(120, 15, 4, noise=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    labels[:, 10:] = rng.permuted(labels[:, 10:], axis=0)
    return labels, y


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_equals_the_unreduced_computation(divergence, missing, monkeypatch):
    labels = repeated(missing)
    w, d, A, lam, history = aggregate_slowly(labels, divergence)
    for cells in (gwca._CELLS, 100):  # all rows at once, and blocks of three rows
        monkeypatch.setattr(gwca, "_CELLS", cells)
        method = GWCA(3, divergence=divergence).fit(labels)
        assert method.lam_ == pytest.approx(lam, rel=1e-10)
        np.testing.assert_allclose(method.history_, history, rtol=1e-10)
        np.testing.assert_allclose(method.partition_weights_, w, atol=1e-10)
        np.testing.assert_allclose(method.divergences_, d, rtol=1e-8)
    core = Ensemble.from_partitions(labels).compress()
    consensus = core.expand(core.expand(_Pairs(core).consensus(w[core.partition_order])).T)
    smoothed = consensus if divergence == "euclidean" else 1e-3 + (1 - 2e-3) * consensus
    np.testing.assert_allclose(smoothed[A > 0], A[A > 0], atol=1e-10)
    assert adjusted_rand_score(method.labels_, agglomerate_affinity(consensus, 3)) == 1.0


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("lam", [1e-3, None])
def test_objective_never_increases(divergence, lam):
    method = GWCA(4, divergence=divergence, lam=lam).fit(polluted()[0])
    assert len(method.history_) == method.n_iter_ + 1
    assert (np.diff(method.history_) <= 1e-12).all()
    assert method.history_[0] > method.objective_ == method.history_[-1]


def test_by_hand():
    """M of {0,1}{2} and of {0}{1,2}: five and five joined pairs, three in common.

    G = [[5, 3], [3, 5]] / 9; at equal weights d = (5 - 8 + 4) / 9 = 1/9 for both.
    """
    method = GWCA(2, lam=1.0).fit([[0, 0, 1], [0, 1, 1]])
    np.testing.assert_allclose(method.divergences_, [1 / 9, 1 / 9], rtol=1e-12)
    np.testing.assert_allclose(method.partition_weights_, [0.5, 0.5], rtol=1e-12)
    assert method.objective_ == pytest.approx(1 / 9 + 0.5, rel=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_random_partitions_get_less_weight(divergence):
    labels, y = polluted()
    method = GWCA(4, divergence=divergence).fit(labels)
    assert method.partition_weights_[:10].min() > method.partition_weights_[10:].max()
    assert method.partition_weights_.sum() == pytest.approx(1.0, rel=1e-12)
    assert adjusted_rand_score(y, method.labels_) == 1.0


def test_lam_ranges_from_one_partition_to_equal_weights():
    labels = polluted()[0]
    weights = [GWCA(4, lam=lam).fit(labels).partition_weights_ for lam in (1e-6, 0.5, 1e6)]
    assert np.count_nonzero(weights[0]) == 1
    assert 1 < np.count_nonzero(weights[1]) <= 15
    np.testing.assert_allclose(weights[2], 1 / 15, rtol=1e-5)


def test_equal_weights_are_evidence_accumulation():
    labels = repeated()
    expected = EAC(3).fit_predict(labels)
    assert adjusted_rand_score(GWCA(3, lam=1e9).fit_predict(labels), expected) == 1.0


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_equal_partitions_get_equal_weights(divergence):
    y = np.repeat([0, 1, 2], [5, 9, 16])
    method = GWCA(2, divergence=divergence).fit(np.column_stack([y, y + 1, 2 - y]))
    np.testing.assert_allclose(method.partition_weights_, 1 / 3)
    assert method.lam_ == 0.0
    assert method.converged_


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_spectral_labels(missing):
    labels, y = make_partitions(120, 15, 3, noise=0.1, missing_ratio=missing, random_state=0)
    method = GWCA(3, assign_labels="spectral").fit(labels)
    assert adjusted_rand_score(y, method.labels_) == 1.0
    assert not hasattr(method, "tree_")


@pytest.mark.parametrize("parameters", [{"divergence": "logistic"}, {"assign_labels": "spectral"}])
@pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
def test_battery(parameters):
    check_consensus(GWCA(**parameters))


def test_projection_to_the_simplex():
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e3):
        v = rng.normal(scale=scale, size=20)
        np.testing.assert_allclose(project_to_simplex(v), simplex_by_bisection(v), atol=1e-9)
    np.testing.assert_array_equal(project_to_simplex(np.array([1e9, 0.0])), [1.0, 0.0])


def test_warns_at_max_iter():
    with pytest.warns(ConvergenceWarning, match="GWCA stopped after max_iter=1"):
        assert not GWCA(4, max_iter=1).fit(polluted()[0]).converged_


@pytest.mark.parametrize(
    "bad", [{"divergence": "cosine"}, {"lam": 0.0}, {"delta": 0.5}, {"assign_labels": "meta"}]
)
def test_refuses_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GWCA(3, **bad).fit([[0, 0, 1], [0, 1, 1]])
