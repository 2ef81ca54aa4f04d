"""Initialization by merging many small groups."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from partita import CCC, KC, KCC, SEC, Ensemble, config_context
from partita.metrics import adjusted_rand
from partita.scale import EnsembleRows
from partita.solvers.label_kmeans import Geometry, _seeds, group_statistics, max_initial_groups
from partita.solvers.label_kmeans._merging import _ward_numbers, merged_groups
from planted_labels import planted

METHODS = {
    "SEC": SEC(4),
    "CCC": CCC(4),
    "KCC h": KCC(4, utility="h", normalized=True),
    "KCC cos": KCC(4, utility="cos"),
    "KCC lp": KCC(4, utility="lp"),
    "KC": KC(4),
}


def geometry_of(method: Any, labels: Any, weights: Any = None) -> tuple[EnsembleRows, Geometry]:
    core = Ensemble.from_partitions(labels, unlabeled="keep").compress()
    rows = EnsembleRows(core)
    given = np.ones(core.n_partitions) if weights is None else weights[core.partition_order]
    return rows, method._geometry(rows, given, 0.0)


def objective(geometry: Geometry, counts: np.ndarray, masses: np.ndarray) -> float:
    return geometry.objective(counts, masses, geometry.tables(counts, masses))


@pytest.mark.parametrize("name", ["SEC", "CCC", "KC"])
def test_merges_raise_the_objective_least(name: str) -> None:
    """With Euclidean distances and no missing label, Ward's criterion is that of the objective."""
    labels = planted(300, 8, 5)
    rows, geometry = geometry_of(METHODS[name], labels, np.linspace(0.5, 2.0, 8))
    groups = np.random.default_rng(0).integers(0, 12, rows.n_rows)
    counts, masses = group_statistics(rows, geometry, groups, 12)
    mergers = _ward_numbers(geometry.inner_products(counts, masses), masses.sum(axis=0), 5)

    number = np.arange(12)
    while len(np.unique(number)) > 5:
        unions = [np.where(number == b, a, number) for a, b in combinations(np.unique(number), 2)]

        def after(union: np.ndarray) -> float:
            held = np.unique(union)
            merged = [
                np.stack([array[:, union == k].sum(axis=1) for k in held], axis=1)
                for array in (counts, masses)
            ]
            return objective(geometry, *merged)

        number = min(unions, key=after)
    assert adjusted_rand(number, mergers) == 1
    assert sorted(np.unique(mergers)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_three_merged_restarts_are_better_than_ten_of_kmeans(name: str, missing: float) -> None:
    """Every partition splits the clusters into other small pieces."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 1200)
    labels = []
    for k in rng.integers(10, 30, 30):
        pieces = rng.integers(0, k, (8, 6))
        column = pieces[truth, rng.integers(0, 6, len(truth))]
        labels.append(np.where(rng.random(len(truth)) < missing, -1, column))
    settings = {"n_clusters": 8, "random_state": 0}
    method = clone(METHODS[name])
    drawn = method.set_params(**settings, init="k-means++", n_init=10).fit(labels).objective_
    merged = method.set_params(**settings, init="merge", n_init=3).fit(labels)
    assert merged.objective_ <= drawn * (1 + 1e-9)
    assert merged.n_clusters_ == 8


@pytest.mark.filterwarnings("ignore:.*samples have different labels")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 30, 39])
def test_number_of_groups(name: str, n_clusters: int) -> None:
    """Up to one less than the number of rows, with rows that have few labels."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, (40, 6))
    labels[rng.random(labels.shape) < 0.4] = -1
    labels[:, 2] = np.arange(40)
    rows, geometry = geometry_of(clone(METHODS[name]).set_params(n_clusters=n_clusters), labels)
    groups = merged_groups(rows, geometry, n_clusters, rng)
    assert sorted(np.unique(groups)) == list(range(n_clusters))


def test_number_of_small_groups() -> None:
    assert max_initial_groups(3) == 12
    assert max_initial_groups(100) == 400
    assert max_initial_groups(1000) == 1300


def test_many_rows_are_initialized_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of the partitions follow the order of columns of the sample."""
    monkeypatch.setattr(_seeds, "_SAMPLE", 200)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 3000)
    noise = rng.integers(0, 6, (3000, 7))
    for place in range(8):
        labels = np.insert(noise, place, truth, axis=1)
        weights = np.where(np.arange(8) == place, 1e3, 1.0)
        for method in (SEC(5), KCC(5), CCC(5)):
            for init in ("merge", "k-means++"):
                method.set_params(init=init, partition_weights=weights, random_state=0)
                assert adjusted_rand(truth, method.fit_predict(labels)) > 0.99, (place, init)


def test_progress_is_that_of_the_method() -> None:
    seen = []
    with config_context(progress=lambda step: seen.append((step.task, step.done, step.total))):
        SEC(3, n_init=2, random_state=0).fit(planted(200, 6, 3))
    assert seen == [("SEC", 0, 2), ("SEC", 1, 2), ("SEC", 2, 2)]
