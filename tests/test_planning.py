"""Plans: what is asked, what is answered, and what decides where a fit runs."""

from __future__ import annotations

import json
from time import perf_counter

import numpy as np
import pytest

import partita
from partita import SEC, Plan, plan
from partita.planning import _Shape, growth
from partita.registry import all_methods


@pytest.mark.parametrize(
    ("time", "power"),
    [
        ("n' m K per iteration", 1),
        ("n m² + n'² m", 2),
        ("n m² + n'² m, at most n'³ an iteration", 3),
        ("n' m² + L³", 1),
    ],
)
def test_growth_is_the_highest_power_of_n(time, power):
    assert growth(time) == power


def test_every_method_states_its_growth():
    assert {growth(method.info.time) for method in all_methods()} == {1, 2, 3}


def test_a_plan_in_memory():
    found = plan(4_000, 10, 4, "eac", base_clusters=12)
    assert isinstance(found, Plan)
    assert (found.where, found.fits, found.disk_bytes) == ("memory", True, 0)
    assert found.seconds > 0
    assert found.measured["power"] == 2
    # the n' x n' matrix is in it
    assert found.peak_bytes > 4 * 4_000**2
    assert json.loads(json.dumps(found.to_dict()))["method"] == "eac"
    assert "fits the budget" in str(found)


def test_fewer_distinct_rows_need_less():
    every = plan(4_000, 8, 3, "eac")
    few = plan(4_000, 8, 3, "eac", distinct=500)
    assert few.peak_bytes < every.peak_bytes / 4


def test_labels_too_large_for_memory_are_read_from_a_store(monkeypatch):
    monkeypatch.setattr("partita.planning._STORE_ROWS", 4_000)
    with partita.config_context(memory_budget=400_000_000):
        found = plan(20_000_000, 20, 5, "sec", missing=0.5, iterations=10)
        other = plan(100_000, 6, 3, "lwea", iterations=10)
    assert (found.where, found.fits) == ("store", True)
    assert found.disk_bytes > 20_000_000 * 20
    assert 0 < found.seconds_per_iteration < found.seconds
    fitting = {record["method"] for record in found.methods if record["fits"]}
    assert fitting == {"sec", "kcc", "lwgp"}
    assert (other.where, other.fits) == ("memory", False)
    assert "does not fit" in str(other)


def test_more_iterations_take_longer(monkeypatch):
    monkeypatch.setattr("partita.planning._STORE_ROWS", 4_000)
    with partita.config_context(memory_budget=300_000_000):
        found = [plan(10_000_000, 20, 5, iterations=i).seconds for i in (10, 1_000)]
    assert found[1] > 10 * found[0]


def test_small_labels_are_like_those_planned_for():
    labels = _Shape(1_000, 9, 4, 6, 0.3, 1_000, 0).small(2_000)
    assert labels.shape == (2_000, 9)
    assert set(np.unique(labels)) == {-1, *range(6)}
    assert 0.2 < (labels == -1).mean() < 0.3  # every sample keeps one label
    assert not (labels == -1).all(axis=1).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 3), "rows must be a whole number"),
        ((1_000.5, 10, 3), "rows must be a whole number"),
        ((1_000, 0, 3), "partitions must be"),
        ((1_000, 10, 0), "clusters must be"),
        ((1_000, 10, 3, "nonsense"), "nonsense"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(*arguments)


def test_a_share_of_missing_labels():
    with pytest.raises(ValueError, match="missing must be a share"):
        plan(1_000, 10, 3, missing=1.0)


def test_predictions_are_of_the_right_order():
    """A factor of five, since tests run on busy machines; the benchmark asks for two."""
    shape = _Shape(6_000, 30, 8, 16, 0.0, 6_000, 1)
    labels = shape.small(6_000)
    SEC(8, random_state=0).fit(labels[:500])
    found = plan(6_000, 30, 8, "sec", base_clusters=16)
    taken = []
    for _ in range(5):
        start = perf_counter()
        SEC(8, random_state=0).fit(labels)
        taken.append(perf_counter() - start)
    assert 0.2 < found.seconds / min(taken) < 5
