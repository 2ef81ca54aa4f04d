"""Failures that hard cases brought to light, each reduced to a few lines."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hard_tables import HARD_TABLES, LARGE_TABLES
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import partita
from partita import ECPCS, PTA, PTGP, RMSC, Ensemble
from partita.cli import app
from partita.ensemble import SoftEnsemble
from partita.generators import RandomMetrics, SpectralBandwidths
from partita.solvers.simplex_rows import project_rows

pytestmark = pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")


def test_trajectories_with_uneven_weights_are_cosines():
    """Eigenvectors lost the small weights: squared lengths were negative, cosines were NaN."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.integers(-1, 3, (12, 6))
        table[(table < 0).all(axis=1), 0] = 0
        weights = 10.0 ** rng.uniform(-12, 12, 12)
        ensemble = Ensemble.from_partitions(table, weights=weights)
        similarity = partita.trajectory_similarity(ensemble)
        assert np.isfinite(similarity).all()
        assert 0 <= similarity.min() <= similarity.max() <= 1 + 1e-9
        for method in (PTA(11), PTGP(11, n_init=1, random_state=0)):
            assert method.fit_predict(ensemble).min() == 0


def test_walks_between_clusters_that_hardly_overlap():
    """Degrees over a hundred orders of magnitude were lost in eigenvectors: 0 / 0."""
    first = np.array([[1e-102, 1e-141, 1.0], [1.0, 1e-104, 1e-222]])
    second = np.array([[np.nan] * 3, [0.0, 0.0, 1.0]])
    third = np.array([[1.0, 1e-300], [1e-305, 1.0]])
    for tables in ([first, second], [first, third], [third, third], [third, second]):
        ensemble = SoftEnsemble.from_memberships(tables, weights=[1.0, 1e8])
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for method in (ECPCS(1), ECPCS(2), PTA(2)):
                assert method.fit_predict(ensemble).min() == 0


def test_both_ways_to_compute_trajectories_agree(monkeypatch):
    from partita.matrices import trajectories

    table = np.random.default_rng(1).integers(0, 3, (30, 6))
    by_eigenvectors = partita.trajectory_similarity(table)
    monkeypatch.setattr(trajectories, "_SPREAD", 0.0)
    np.testing.assert_allclose(partita.trajectory_similarity(table), by_eigenvectors, atol=1e-10)


def test_rows_on_the_simplex_sum_to_one_whatever_the_weights():
    """Rounding of large entries times large weights gave sums of 1e21."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights = 10.0 ** rng.uniform(-12, 12, 8)
        rows = project_rows(rng.normal(size=(5, 8)) / weights, weights)
        assert rows.min() >= 0
        np.testing.assert_allclose(rows @ weights, 1.0, atol=1e-6)


def test_rmsc_with_uneven_weights_warns_of_no_singular_matrix():
    ids = np.arange(8)
    weights = 10.0 ** np.array([-11.9, 11.0, -1.6, -3.3, 0.8, 10.7, -10.4, 1.4])
    ensemble = Ensemble.from_partitions(np.c_[ids, ids], weights=weights)
    assert RMSC(1, max_iter=20, random_state=0).fit_predict(ensemble).max() == 0


def test_a_report_of_clusters_that_no_partition_compares(tmp_path):
    """The largest mean of no number was computed."""
    table = HARD_TABLES["one label per partition"]
    partita.report(table, np.arange(5), tmp_path / "report.html")


def test_fuse_into_single_samples_prints_no_warning_of_numpy(tmp_path):
    source = tmp_path / "ids.csv"
    source.write_text("a,b\n0,0\n1,0\n2,1\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = CliRunner().invoke(app, ["fuse", str(source), "-k", "3", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["mean_confidence"] is None


def test_large_features_in_single_precision():
    """Their squares are no 32-bit numbers."""
    X = np.arange(16, dtype=np.float32).reshape(8, 2)
    options = {"multipliers": [0.5, 5.0], "n_init": 1, "random_state": 0}
    expected = SpectralBandwidths(2, **options).fit_transform(X)
    actual = SpectralBandwidths(2, **options).fit_transform(X * np.float32(2.0**120))
    np.testing.assert_array_equal(actual, expected)


def test_scan_of_partitions_with_one_cluster():
    """There is one distinct row, and no tree of it."""
    scan = partita.scan_k(np.zeros((6, 5), int), range(2, 4), n_resamples=2, n_null=2)
    assert scan.best_k is None


def test_centers_that_become_equal_print_no_warning_of_scikit_learn():
    X = np.array([-1.0, 2, 1, -1, -1, -1, -1, 0, -1])[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = RandomMetrics(2, random_state=0).fit_transform(X)
    assert labels.shape == (9, 2)


@pytest.mark.parametrize("name", ["an id column", "crossed 2 x 48"])
def test_scan_of_partitions_with_repeated_eigenvalues(name):
    """Fewer eigenvectors than requested were returned, and k-means had no features."""
    options = {"n_resamples": 2, "n_null": 2, "random_state": 0}
    table = np.tile(LARGE_TABLES[name], (1, 2))
    scan = partita.scan_k(table, range(2, 5), method="lwgp", **options)
    assert sorted(scan.labels) == [2, 3, 4]
    assert all(labels.shape == (96,) for labels in scan.labels.values())


@pytest.mark.parametrize("name", LARGE_TABLES)
def test_repeated_eigenvalues_with_one_thread_of_blas(name):
    """LAPACK ended with an internal error, with one thread only."""
    with threadpool_limits(1):
        labels = ECPCS(2).fit_predict(LARGE_TABLES[name])
    assert sorted(set(labels.tolist())) == [0, 1]
