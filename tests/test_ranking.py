"""Methods over several data sets: the papers' score, ranks, and paired tests."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import partita
from partita.comparison import rank_methods
from partita.comparison._paired_tests import holm, t_test, wilcoxon_test
from partita.datasets import make_partitions

# Table 3 of Tao, Liu, Li, Ding, Fu (ACM TKDD 2019): NMI in percent, nan where it prints N/A.
METHODS = ["RSEC", "NRSEC", "GCC", "HCC", "ECMC", "KCC", "SEC", "RCE", "K-means", "spectral"]
PUBLISHED = {
    "breast_w": "82.38 82.38 61.44 69.99 73.61 28.16 73.61 80.64 73.61 75.63",
    "BreastTissue": "25.67 32.38 27.44 30.46 29.12 30.89 29.08 28.98 36.52 35.11",
    "Glass": "43.94 48.24 41.80 40.83 37.72 39.56 40.95 35.42 39.69 43.37",
    "iris": "90.11 90.11 90.11 79.08 74.19 78.30 87.05 78.69 75.66 74.19",
    "ionosphere": "8.01 8.57 7.19 8.57 7.88 8.81 7.70 7.35 13.49 12.64",
    "pendigits": "82.64 82.64 70.58 77.29 74.19 68.36 73.87 nan 68.93 65.94",
    "wine": "28.89 28.89 16.32 18.67 21.98 16.51 17.60 16.34 13.38 13.36",
    "fbis": "55.95 57.07 54.23 56.21 51.79 55.11 54.87 54.17 24.75 5.02",
    "k1b": "55.20 60.40 56.29 63.18 52.47 47.58 50.57 57.32 44.46 48.71",
    "re0": "39.50 41.66 38.02 37.71 35.65 39.04 38.24 32.64 23.24 28.39",
    "tr11": "65.65 67.06 65.33 65.58 54.21 64.35 59.73 64.80 10.06 7.39",
    "tr12": "61.31 62.62 49.03 41.89 34.88 51.21 51.39 45.72 8.90 7.35",
    "tr23": "32.54 34.67 33.43 28.97 29.50 31.91 29.24 29.44 12.98 7.19",
    "wap": "57.29 58.46 49.81 56.59 43.37 56.40 54.10 54.20 42.55 49.10",
    "COIL20": "77.70 76.48 71.41 61.24 69.14 75.63 75.00 62.01 76.70 76.98",
    "ImageNet": "59.61 61.72 49.35 54.19 56.33 52.50 57.84 nan 45.22 45.96",
    "MNIST4K": "65.25 64.92 59.98 62.27 51.39 56.47 56.52 60.70 45.37 45.56",
    "USPS": "76.77 75.49 62.84 73.92 64.52 63.14 65.87 nan 61.35 64.83",
}
PUBLISHED_SCORES = [16.85, 17.44, 15.10, 15.55, 14.52, 14.76, 15.37, 12.33, 12.16, 11.89]


def tidy(rows: dict[str, str]) -> list[dict[str, object]]:
    return [
        {"dataset": name, "method": method, "NMI": float(value)}
        for name, line in rows.items()
        for method, value in zip(METHODS, line.split(), strict=True)
    ]


def table(values: np.ndarray) -> list[dict[str, object]]:
    return [
        {"dataset": f"d{i}", "method": "abcdefgh"[j], "ARI": values[i, j]}
        for i, j in np.ndindex(values.shape)
    ]


# -- the score -------------------------------------------------------------------------------


def test_the_score_is_the_published_one() -> None:
    ranking = rank_methods(tidy(PUBLISHED), "NMI")
    score = {record["method"]: record["score"] for record in ranking}
    np.testing.assert_allclose([score[m] for m in METHODS], PUBLISHED_SCORES, rtol=0, atol=0.0051)
    assert ranking.reference == ranking.methods[0] == "NRSEC"
    assert [r["n_datasets"] for r in ranking if r["method"] == "RCE"] == [15]
    assert ranking.values.shape == (18, 10)


def test_ranks_share_ties_and_a_missing_value_is_last() -> None:
    values = np.array([[0.5, 0.5, np.nan], [0.1, 0.2, 0.3], [0.4, np.nan, np.nan]])
    ranks = {r["method"]: r["rank"] for r in rank_methods(table(values))}
    assert ranks == pytest.approx({"a": (1.5 + 3 + 1) / 3, "b": (1.5 + 2 + 2.5) / 3, "c": 2.166667})


def test_repeated_entries_are_averaged_and_a_set_without_success_adds_nothing() -> None:
    rows = [*table(np.array([[0.4, 0.2], [-0.1, -0.2]])), *table(np.array([[0.8, 0.4]]))]
    ranking = rank_methods(rows)
    np.testing.assert_allclose(ranking.values, [[0.6, 0.3], [-0.1, -0.2]])
    assert [r["score"] for r in ranking] == pytest.approx([1.0, 0.5])


# -- the tests -------------------------------------------------------------------------------


def test_wilcoxon_by_all_signs() -> None:
    """Under the hypothesis every sign of every difference is equally likely."""
    rng = np.random.default_rng(0)
    for n in (1, 4, 7, 9):
        differences = rng.normal(0.4, 1, n)
        ranks = np.argsort(np.argsort(np.abs(differences))) + 1
        sums = np.array([ranks @ np.array(signs) for signs in product((-1, 1), repeat=n)])
        extreme = np.abs(sums) >= abs(ranks @ np.sign(differences))
        assert wilcoxon_test(differences) == pytest.approx(extreme.mean())
        assert wilcoxon_test(np.append(differences, 0.0)) == pytest.approx(extreme.mean())
    assert wilcoxon_test(np.zeros(3)) == 1
    assert wilcoxon_test(np.zeros(0)) is None


def test_t_test_is_scipys() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 12))
    assert t_test(first - second) == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-10)
    assert t_test(np.zeros(4)) == 1
    assert t_test(np.full(4, 0.5)) == 0
    assert t_test(np.ones(1)) is None


def test_holm_by_hand() -> None:
    # 0.01 * 4, 0.02 * 3, 0.03 * 2 is raised to the one before, 0.5 * 1
    assert holm([0.03, 0.01, None, 0.5, 0.02]) == pytest.approx([0.06, 0.04, None, 0.5, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([None]) == [None]


def test_every_method_is_compared_with_the_reference_over_shared_sets() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((9, 3))
    values[4, 1] = np.nan
    ranking = rank_methods(table(values), reference="c")
    records = {r["method"]: r for r in ranking}
    both = np.delete(np.arange(9), 4)
    expected = stats.wilcoxon(values[both, 1], values[both, 2]).pvalue
    assert records["b"]["wilcoxon"] == pytest.approx(expected)
    assert records["b"]["n_datasets"] == 8
    p = [stats.ttest_rel(values[s, j], values[s, 2]).pvalue for j, s in ((0, range(9)), (1, both))]
    assert [records[m]["t_test"] for m in "ab"] == pytest.approx(p)
    assert records["ab"[int(np.argmin(p))]]["t_test_holm"] == pytest.approx(min(2 * min(p), 1))
    wins = int((values[:, 0] > values[:, 2]).sum())
    assert (records["a"]["wins"], records["a"]["ties"], records["a"]["losses"]) == (
        wins,
        0,
        9 - wins,
    )
    own = {records["c"][key] for key in ("difference", "wins", "t_test", "wilcoxon_holm")}
    assert own == {None}


# -- input and output ------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_records_give_the_same(frame) -> None:
    rows = table(np.random.default_rng(3).random((5, 3)))
    assert rank_methods(frame(rows)).records == rank_methods(rows).records
    assert isinstance(rank_methods(rows).to_frame(), pd.DataFrame)


def test_comparisons_by_data_set_with_their_partitions() -> None:
    comparisons = {}
    for seed in range(3):
        labels, y = make_partitions(60, 6, 3, noise=0.5, random_state=seed)
        comparisons[f"set {seed}"] = partita.compare(
            labels, ["eac", "ccgp"], 3, y=y, include_partitions=True
        )
    ranking = rank_methods(comparisons, "ACC", reference="partitions (best)")
    assert set(ranking.methods) == {"eac", "ccgp", "partitions (mean)", "partitions (best)"}
    assert ranking.datasets == ["set 0", "set 1", "set 2"]
    mean = next(r for r in ranking if r["method"] == "partitions (mean)")
    assert mean["losses"] == 3
    text = repr(ranking).splitlines()
    assert text[0].startswith("ACC on 3 data sets; differences and corrected p-values against")
    assert len(text) == 6


def test_wrong_input_is_named() -> None:
    rows = table(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"reference must be one of \['a', 'b'\], got 'z'"):
        rank_methods(rows, reference="z")
    with pytest.raises(ValueError, match=r"Expected the columns 'dataset', 'method' and 'NMI'"):
        rank_methods(rows, "NMI")
    with pytest.raises(ValueError, match="results is empty"):
        rank_methods([])
