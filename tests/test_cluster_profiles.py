"""Profiles of clusters against plain calculations of their effect sizes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from partita.diagnostics import cluster_keywords, cluster_profiles


def cohens_d(inside: np.ndarray, outside: np.ndarray) -> float:
    inside, outside = inside[~np.isnan(inside)], outside[~np.isnan(outside)]
    n, m = len(inside), len(outside)
    pooled = ((n - 1) * inside.var(ddof=1) + (m - 1) * outside.var(ddof=1)) / (n + m - 2)
    return float((inside.mean() - outside.mean()) / np.sqrt(pooled))


@pytest.fixture
def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, 200)
    X = 1e4 + rng.normal(size=(200, 6)) + np.outer(labels, [0, 3, -2, 0.5, 0, 0])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, labels


def test_numbers_have_the_standardized_mean_difference(numbers) -> None:
    X, labels = numbers
    profiles = cluster_profiles(X, labels, n_features=6)
    assert len(profiles.records) == 18
    for record in profiles.records:
        x, own = X[:, int(record["feature"])], labels == record["cluster"]
        rest = (labels >= 0) & ~own
        assert record["effect"] == pytest.approx(cohens_d(x[own], x[rest]), rel=1e-8)
        assert record["inside"] == pytest.approx(np.nanmean(x[own]))
        assert record["outside"] == pytest.approx(np.nanmean(x[rest]))
        assert record["n_samples"] == own.sum()
    for k in range(3):
        strength = [abs(record["effect"]) for record in profiles.of(k)]
        assert strength == sorted(strength, reverse=True)
    assert cluster_profiles(X, labels, n_features=1).of(2)[0]["feature"] == "1"


def test_sparse_numbers_are_those_of_the_dense_table(numbers) -> None:
    X = np.nan_to_num(numbers[0] - 1e4) * (np.arange(6) % 2)
    dense = cluster_profiles(X, numbers[1], n_features=3).records
    sparse = cluster_profiles(sp.csr_matrix(X), numbers[1], n_features=3).records
    for one, other in zip(dense, sparse, strict=True):
        assert one["feature"] == other["feature"]
        assert one["effect"] == pytest.approx(other["effect"], rel=1e-9)


def test_a_frame_may_have_numbers_categories_and_ids() -> None:
    labels = np.repeat(["a", "b"], 50)
    frame = pd.DataFrame(
        {
            "id": [f"cell {i}" for i in range(100)],
            "tissue": pd.Categorical(["liver"] * 45 + ["lung"] * 5 + ["lung"] * 50),
            "smoker": [True, False] * 50,
            "age": [30.0, 31.0, None, 33.0] * 25,
        }
    )
    frame.loc[3, "tissue"] = None
    profiles = cluster_profiles(frame, labels, n_features=2)
    assert profiles.left_out == ["id"]
    first = profiles.of("a")[0]
    assert (first["feature"], first["kind"]) == ("tissue", "category")
    p, q = 44 / 49, 0.0
    by_category = {r["category"]: r for r in profiles.of("a") if r["feature"] == "tissue"}
    assert by_category["liver"]["inside"] == pytest.approx(p)
    expected = 2 * np.arcsin(np.sqrt(p)) - 2 * np.arcsin(np.sqrt(q))
    assert by_category["liver"]["effect"] == pytest.approx(expected)
    assert list(profiles.to_frame().columns)[:3] == ["cluster", "n_samples", "feature"]
    assert "liver" in profiles._repr_html_()


def test_counts_of_words_have_keywords() -> None:
    counts = sp.csr_matrix([[3, 0, 1], [2, 0, 1], [0, 4, 1], [0, 1, 1]])
    labels, names = np.array([0, 0, 1, 1]), ["goal", "vote", "the"]
    profiles = cluster_profiles(counts, labels, names, n_features=1)
    keywords = cluster_keywords(counts, labels, names, n_keywords=1)
    assert [(r["cluster"], r["feature"], r["kind"]) for r in profiles.records] == [
        (0, "goal", "word"),
        (1, "vote", "word"),
    ]
    assert profiles.records[0]["effect"] == keywords[0]["goal"]
    assert cluster_profiles(counts, labels, names, words=False).records[0]["kind"] == "number"


def test_a_feature_without_variation_inside_is_infinite_and_a_constant_one_is_none() -> None:
    profiles = cluster_profiles([[1.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 0, 1])
    assert [(r["feature"], r["effect"]) for r in profiles.records] == [
        ("0", -np.inf),
        ("0", np.inf),
    ]


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="n_features=0"):
        cluster_profiles([[1.0]], [0], n_features=0)
    with pytest.raises(ValueError, match="shape"):
        cluster_profiles([1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="names has 1 entries"):
        cluster_profiles([[1.0, 2.0]], [0], ["a"])


def test_columns_of_a_frame_may_have_numbers_as_names() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    labels = np.repeat([0, 1], 10)
    assert cluster_profiles(pd.DataFrame(X), labels).records == cluster_profiles(X, labels).records
