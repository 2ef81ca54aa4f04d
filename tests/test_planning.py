"""Plans: arguments, predictions, and the choice between memory and store."""

from __future__ import annotations

import json
from itertools import count

import numpy as np
import pytest

import partita
from partita import Ensemble, Plan, plan
from partita.planning._workload import Workload
from partita.registry import all_methods, growth_exponent


@pytest.mark.parametrize(
    ("time", "power"),
    [
        ("n' m K per iteration", 1),
        ("n m² + n'² m", 2),
        ("n m² + n'² m, at most n'³ an iteration", 3),
        ("n' m² + L³", 1),
    ],
)
def test_growth_exponent_is_the_highest_power_of_n(time, power):
    assert growth_exponent(time) == power


def test_every_method_states_its_growth():
    assert {growth_exponent(method.info.time) for method in all_methods()} == {1, 2, 3}


def test_a_plan_in_memory():
    prediction = plan(4_000, 10, 4, "eac", n_base_clusters=12)
    assert isinstance(prediction, Plan)
    assert (prediction.where, prediction.fits, prediction.disk_bytes) == ("memory", True, 0)
    assert prediction.seconds > 0
    assert prediction.measured["exponent"] == 2
    # the n' x n' matrix is in it
    assert prediction.peak_bytes > 4 * 4_000**2
    assert json.loads(json.dumps(prediction.to_dict()))["method"] == "eac"
    assert "fits the budget" in str(prediction)


def test_fewer_distinct_rows_need_less():
    every = plan(4_000, 8, 3, "eac")
    few = plan(4_000, 8, 3, "eac", n_distinct=500)
    assert few.peak_bytes < every.peak_bytes / 4


def test_labels_too_large_for_memory_are_read_from_a_store(monkeypatch):
    monkeypatch.setattr("partita.planning._timing._STORE_ROWS", 4_000)
    with partita.config_context(memory_budget=400_000_000):
        prediction = plan(20_000_000, 20, 5, "sec", missing_ratio=0.5, max_iter=10)
        other = plan(100_000, 6, 3, "lwea", max_iter=10)
    assert (prediction.where, prediction.fits) == ("store", True)
    assert prediction.disk_bytes > 20_000_000 * 20
    assert 0 < prediction.seconds_per_iteration < prediction.seconds
    fitting = {record["method"] for record in prediction.methods if record["fits"]}
    assert fitting == {"sec", "kcc", "lwgp", "ccgp"}
    assert (other.where, other.fits) == ("memory", False)
    assert "does not fit" in str(other)


def test_more_iterations_take_longer(monkeypatch):
    """By a clock that counts how often it is read: a pass over the rows takes one tick."""
    monkeypatch.setattr("partita.planning._timing._STORE_ROWS", 4_000)
    monkeypatch.setattr("partita.planning._timing.perf_counter", count().__next__)
    with partita.config_context(memory_budget=300_000_000):
        prediction = [plan(10_000_000, 20, 5, max_iter=i).seconds for i in (10, 1_000)]
    assert prediction[1] > 10 * prediction[0]


def test_synthetic_partitions_are_like_those_planned_for():
    labels = Workload(1_000, 9, 4, 6, 0.3, 1_000, 0).synthetic_partitions(2_000)
    assert labels.shape == (2_000, 9)
    assert set(np.unique(labels)) == {-1, *range(6)}
    assert 0.2 < (labels == -1).mean() < 0.3  # every sample keeps one label
    assert not (labels == -1).all(axis=1).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 3), "n_samples must be a whole number"),
        ((1_000.5, 10, 3), "n_samples must be a whole number"),
        ((1_000, 0, 3), "n_partitions must be"),
        ((1_000, 10, 0), "n_clusters must be"),
        ((1_000, 10, 3, "nonsense"), "nonsense"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(*arguments)


def test_missing_ratio_is_below_one():
    with pytest.raises(ValueError, match="missing_ratio must be at least 0"):
        plan(1_000, 10, 3, missing_ratio=1.0)


def test_predictions_follow_the_growth_of_the_method(monkeypatch):
    """By a clock that only fits move: 10 ms and 0.1 µs per pair of rows."""
    clock = [0.0]

    def fit(method, workload, partitions):
        n_rows = Ensemble.from_partitions(partitions).compress().n_rows
        clock[0] += 0.01 + 1e-7 * n_rows**2

    monkeypatch.setattr("partita.planning._timing.perf_counter", lambda: clock[0])
    monkeypatch.setattr("partita.planning._timing._fit", fit)
    prediction = plan(20_000, 30, 8, "eac", n_base_clusters=16)
    assert prediction.seconds == pytest.approx(0.01 + 1e-7 * 20_000**2, rel=0.01)
