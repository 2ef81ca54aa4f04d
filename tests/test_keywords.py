"""Keywords of clusters: a difference of mean weights."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from partita import config_context
from partita.diagnostics import _keywords, cluster_keywords
from partita.exceptions import MemoryBudgetError

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.5, (60, 12)) + np.eye(12, dtype=int)[RNG.integers(0, 12, 60)]
LABELS = RNG.integers(0, 3, 60)


def slow_scores(counts: np.ndarray, labels: np.ndarray, idf: bool) -> dict[int, list[float]]:
    """Return the definition, term by term and document by document."""
    counts, labels = counts[labels >= 0], labels[labels >= 0]
    n, d = counts.shape
    factors = [1.0] * d
    if idf:
        factors = [log((1 + n) / (1 + sum(row[j] > 0 for row in counts))) + 1 for j in range(d)]
    units = []
    for row in counts:
        weights = [row[j] * factors[j] for j in range(d)]
        length = sqrt(sum(w * w for w in weights)) or 1.0
        units.append([w / length for w in weights])
    scores = {}
    for k in sorted(set(labels.tolist())):
        own = [u for u, label in zip(units, labels, strict=True) if label == k]
        rest = [u for u, label in zip(units, labels, strict=True) if label != k]
        scores[k] = [
            sum(u[j] for u in own) / len(own) - sum(u[j] for u in rest) / max(len(rest), 1)
            for j in range(d)
        ]
    return scores


@pytest.mark.parametrize("idf", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "file", "files"])
def test_scores_are_the_difference_of_mean_weights(
    idf: bool, form: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(_keywords, "_ROWS", 17)
    labels = LABELS.copy()
    labels[:5] = -1
    X = COUNTS
    if form != "dense":
        X = sp.csr_matrix(COUNTS.astype(np.float64))
    if form in ("file", "files"):
        ends = [0, 60] if form == "file" else [0, 25, 60]
        X = [tmp_path / f"{a}.npz" for a in ends[:-1]]
        for path, a, b in zip(X, ends[:-1], ends[1:], strict=True):
            sp.save_npz(path, sp.csr_matrix(COUNTS[a:b].astype(np.float64)), compressed=False)
    result = cluster_keywords(X, labels, n_keywords=5, idf=idf)
    expected = slow_scores(COUNTS, labels, idf)
    assert list(result) == list(expected)
    for k, scores in expected.items():
        best = [j for j in np.argsort(-np.array(scores), kind="stable")[:5] if scores[j] > 0]
        assert list(result[k]) == [str(j) for j in best]
        assert list(result[k].values()) == pytest.approx([scores[j] for j in best], abs=1e-12)


def test_planted_terms_are_the_keywords() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(["sport", "law"], 50)
    counts = np.column_stack([rng.poisson(2, (100, 4)), np.zeros((100, 4), int)])
    counts[:50, 4:6] = rng.poisson(1, (50, 2))
    counts[50:, 6:] = rng.poisson(1, (50, 2))
    names = ["the", "of", "and", "in", "goal", "team", "court", "judge"]
    keywords = cluster_keywords(counts, labels, names, n_keywords=2)
    assert {k: set(words) for k, words in keywords.items()} == {
        "law": {"court", "judge"},
        "sport": {"goal", "team"},
    }


def test_one_cluster_has_its_most_frequent_terms() -> None:
    keywords = cluster_keywords([[3, 0, 4], [3, 0, 4]], [0, 0], idf=False)
    assert keywords == {0: pytest.approx({"2": 0.8, "0": 0.6})}


def test_wrong_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="names has 2 entries, expected one for each of the 12"):
        cluster_keywords(COUNTS, LABELS, ["a", "b"])
    with pytest.raises(ValueError, match="names must be distinct"):
        cluster_keywords(COUNTS, LABELS, ["a"] * 12)
    with pytest.raises(ValueError, match="n_keywords=0 must be at least 1"):
        cluster_keywords(COUNTS, LABELS, n_keywords=0)
    with pytest.raises(ValueError, match=r"rows and columns, got shape \(12,\)"):
        cluster_keywords(COUNTS[0], LABELS)
    with config_context(memory_budget=100), pytest.raises(MemoryBudgetError):
        cluster_keywords(COUNTS, LABELS)
