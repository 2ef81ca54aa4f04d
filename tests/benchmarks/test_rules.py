"""Rules that choose lam of EC-CMS without the truth."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the benchmarks are no package part

from benchmarks.papers import _rules
from benchmarks.papers._ensembles import draw_ensemble
from benchmarks.papers._expect import method_of
from benchmarks.papers._fit import fit_task
from benchmarks.papers._rules import (
    RULES,
    Rule,
    fit_by_degree,
    fit_by_halves,
    fit_mean,
    mean_degree,
    modularity,
    splits,
    stability,
)
from benchmarks.papers._tables import Task, canonical

from partita import ECCMS, coassociation
from partita.datasets import make_partitions


def table(seed: int, n_samples: int = 60, noise: float = 0.35) -> np.ndarray:
    partitions, _ = make_partitions(n_samples, 8, 4, noise=noise, random_state=seed)
    return np.asarray(partitions)


def pairs(labels: np.ndarray) -> np.ndarray:
    """Return the co-association of different samples."""
    CA = coassociation(labels)
    np.fill_diagonal(CA, 0.0)
    return CA


@pytest.mark.parametrize("alpha", [0.5, 0.75])
def test_degree_is_the_mean_row_sum_of_reliable_pairs(alpha):
    labels = table(0)
    H = pairs(labels)
    H[alpha > H] = 0.0
    degree = mean_degree(labels, alpha)
    assert degree == pytest.approx(H.sum(axis=1).mean(), rel=1e-12)
    # a repeated sample has two pairs for each old one, and one with its copy
    twice = mean_degree(np.repeat(labels, 2, axis=0), alpha)
    assert twice == pytest.approx(2 * degree + 1, rel=1e-12)


def test_modularity_by_its_definition():
    labels = table(1)
    y = np.arange(60) % 3
    CA = pairs(labels)
    degree, total = CA.sum(axis=1), CA.sum()
    same = y[:, None] == y
    expected = ((CA / total - np.outer(degree, degree) / total**2) * same).sum()
    assert modularity(labels, y) == pytest.approx(expected, abs=1e-12)


def test_by_degree_is_the_method_with_that_lam():
    labels = table(2)
    method = ECCMS(4, lam=0.01 * mean_degree(labels, 0.8)).fit(labels)
    rule = fit_by_degree(labels, 4, share=0.01)
    np.testing.assert_array_equal(rule.labels_, method.labels_)
    np.testing.assert_array_equal(rule.core_matrix_, method.core_matrix_)


def test_mean_of_equal_matrices_gives_the_labels_of_one():
    labels = table(3)
    share = 0.4 / mean_degree(labels, 0.8)
    expected = ECCMS(4).fit_predict(labels)
    assert adjusted_rand_score(fit_mean(labels, 4, share=share).labels_, expected) == 1.0


def test_splits_are_halves_of_all_partitions():
    labels = np.arange(8) + np.zeros((3, 1), np.int64)
    for first, second in splits(labels):
        assert sorted([*first[0], *second[0]]) == list(range(8))
        assert first.shape == second.shape == (3, 4)


def test_stability_is_the_agreement_of_halves():
    labels = table(4)
    first_column = stability(labels, lambda half: SimpleNamespace(labels_=half[:, 0]))
    expected = [adjusted_rand_score(a[:, 0], b[:, 0]) for a, b in splits(labels)]
    assert first_column == pytest.approx(np.mean(expected), abs=1e-12)
    assert stability(labels, lambda half: SimpleNamespace(labels_=np.arange(60) % 2)) == 1.0


@pytest.mark.parametrize("is_stable", [False, True])
@pytest.mark.parametrize("is_modular", [False, True])
def test_by_halves_takes_what_is_more_stable_and_more_modular(monkeypatch, is_stable, is_modular):
    labels, options = table(2, n_samples=40, noise=0.2), {"share": 1e-3, "alpha": 0.5}
    default = ECCMS(4, alpha=0.5).fit_predict(labels)
    by_degree = fit_by_degree(labels, 4, **options).labels_
    assert not np.array_equal(default, by_degree)

    def is_by_degree(some):
        return np.array_equal(some, by_degree)

    monkeypatch.setattr(
        _rules, "modularity", lambda _, some: float(is_by_degree(some) == is_modular)
    )
    monkeypatch.setattr(
        _rules, "stability", lambda _, fit: float(is_by_degree(fit(labels).labels_) == is_stable)
    )
    expected = by_degree if is_stable and is_modular else default
    np.testing.assert_array_equal(fit_by_halves(labels, 4, **options).labels_, expected)


@pytest.mark.parametrize("key", RULES)
def test_a_record_of_a_rule(key, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.papers._ensembles.STORE", tmp_path)
    recipe = {"kind": "generator", "generator": "random_k", "n_partitions": 6, "k_min": 2}
    task = Task("003", "iris", canonical(recipe), 0, key, '{"share":0.002}', 0)
    result = fit_task(task)
    drawn = draw_ensemble("iris", task.recipe, 0)
    labels = RULES[key](drawn.partitions, 3, share=0.002).labels_
    assert result["ARI"] == pytest.approx(adjusted_rand_score(drawn.y, labels), abs=1e-6)
    assert method_of(key) == key  # its seconds are not those of the method


def test_a_rule_without_a_fit_has_no_labels():
    with pytest.raises(AttributeError, match="not fitted"):
        Rule(fit_by_degree, 3, {}).labels_  # noqa: B018
