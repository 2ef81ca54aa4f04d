"""The summary has the values of the diagnosis, in sentences and JSON, and a bounded size."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from report_cases import full_case, hostile_case, summary_of

import partita
from partita._packages import is_installed
from partita.datasets import make_partitions
from partita.reporting import summarize
from partita.reporting._values import drop_folders, join_names, shorten, to_json


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    return full_case()


@pytest.fixture(scope="module")
def summary(case) -> dict[str, Any]:
    return summary_of(case)


def answers(summary: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {finding["question"]: finding for finding in summary["findings"]}


def test_a_summary_has_json_types(summary) -> None:
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_the_findings_are_those_of_the_diagnosis(case, summary) -> None:
    diagnosis = partita.diagnose(case["partitions"], case["labels"])
    findings = answers(summary)
    assert (
        "SEC divides 120 samples into 3 clusters"
        in findings["How many clusters are there?"]["answer"]
    )
    assert (
        f"{diagnosis.confidence.mean():.0%}"
        in findings["How much do the partitions agree?"]["answer"]
    )
    doubtful = findings["Which samples are doubtful?"]["answer"]
    assert doubtful.startswith(f"{len(diagnosis.doubtful_samples())} of 120 samples")
    harm = findings["Is the consensus as good as the best partition?"]
    assert harm["mark"] == ("fine" if diagnosis.harmless else "look")
    assert f"{diagnosis.anmi:.3f}" in harm["answer"]
    assert f"{diagnosis.best_partition_anmi:.3f}" in harm["answer"]
    assert "1 of 14 partitions: 13." in findings["Are there bad partitions?"]["answer"]
    assert "equal partitions: 1 and 12." in findings["Are there equal partitions?"]["answer"]
    scores = partita.metrics.evaluate(case["y"], case["labels"])
    assert f"ARI {scores['ARI']:.3f}" in findings["How close is it to the true classes?"]["answer"]
    assert findings["Is this number of clusters supported?"]["mark"] == "fine"


def test_a_better_partition_and_missing_structure_are_reported() -> None:
    labels, truth = make_partitions(60, 8, 3, noise=0.2)
    rng = np.random.default_rng(0)
    worse = rng.integers(0, 3, 60)
    findings = answers(summarize(labels, worse))
    assert findings["Is the consensus as good as the best partition?"]["mark"] == "look"
    assert findings["Is the consensus as good as the best partition?"]["answer"].startswith(
        "Perhaps not: partition "
    )
    noise = rng.integers(0, 3, (60, 8))
    scan = partita.scan_k(noise, range(2, 4), n_resamples=2, n_null=5, random_state=0)
    assert scan.best_k is None
    question = "Is this number of clusters supported?"
    answer = answers(summarize(noise, truth, scan=scan))[question]["answer"]
    assert "No structure was found from K = 2 to 3: no number" in answer
    pieces = replace(scan, rejected_k=3)
    answer = answers(summarize(noise, truth, scan=pieces))[question]["answer"]
    assert "No structure was found from K = 2 to 3: K = 3 does better than the null, but" in answer


def test_rows_of_partitions_are_no_methods() -> None:
    labels, truth = make_partitions(60, 8, 3, noise=0.2)
    comparison = partita.compare(labels, ["eac", "ccgp"], 3, y=truth, include_partitions=True)
    summary = summarize(labels, comparison.labels["eac"], y=truth, comparison=comparison)
    finding = answers(summary)["Does the result depend on the method?"]["answer"]
    assert finding.startswith("The results of 2 methods have a mean ARI")
    assert "failed" not in finding


def test_the_samples_have_the_lowest_margin_and_the_rest_is_counted() -> None:
    labels, truth = make_partitions(2000, 10, 4, noise=0.3)
    table = summarize(labels, truth)["samples"]
    diagnosis = partita.diagnose(labels, truth)
    assert len(table["rows"]) == 500
    assert table["n_left_out"] == 1500
    assert "1,500 samples are left out" in table["left_out"]
    expected = np.sort(diagnosis.margin)[:500]
    shown = [row["margin"] for row in table["rows"]]
    np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-4)
    first = int(table["rows"][0]["sample"])
    assert table["rows"][0]["n_disagreeing"] == len(diagnosis.disagreeing_partitions(first))
    doubtful = set(diagnosis.doubtful_samples().tolist())
    assert all(
        (row["remark"] == "doubtful") == (int(row["sample"]) in doubtful) for row in table["rows"]
    )


def test_every_call_draws_its_figure(case, summary) -> None:
    assert {figure["key"] for figure in summary["figures"]} == {
        "consensus",
        "confidence",
        "embedding",
        "scan",
        "tracking",
        "clustertree",
        "agreement",
        "scores",
        "comparison",
        "convergence",
    }
    for figure in summary["figures"]:
        *lines, last = figure["call"].splitlines()
        names = dict(case)
        exec("\n".join(lines), names)
        drawn = eval(last, names)
        assert type(drawn).__name__ == figure["display"]
        assert drawn.figure_ is not None


def test_the_call_runs_for_clusters_with_names() -> None:
    case = hostile_case()
    (figure,) = (f for f in summary_of(case)["figures"] if f["key"] == "consensus")
    exec(figure["call"], dict(case))


def test_every_figure_has_a_description(summary) -> None:
    for figure in summary["figures"]:
        assert len(figure["text"]) > 60
        assert "nan" not in figure["text"]


def test_provenance_names_versions_seeds_and_parameters_but_no_folder() -> None:
    labels, truth = make_partitions(40, 6, 2)
    ensemble = partita.Ensemble.from_partitions(
        labels,
        provenance={"file": "/srv/data/secret/labels.csv", "also": ["C:\\Users\\me\\a.npy", 3]},
    )
    method = partita.SEC(2, random_state=np.random.default_rng(1)).fit(ensemble)
    found = summarize(ensemble, method, random_state=7)["provenance"]
    assert found["versions"]["partita"] == partita.__version__
    assert {"python", "numpy", "scipy", "scikit-learn"} <= set(found["versions"])
    assert ("numba" in found["versions"]) == is_installed("numba")
    assert found["random_state"] == 7
    assert found["method"]["class"] == "SEC"
    assert found["method"]["parameters"]["n_clusters"] == 2
    assert found["method"]["parameters"]["random_state"] == "Generator, state not recorded"
    assert found["source"] == {"file": "labels.csv", "also": ["a.npy", 3]}
    assert truth.shape == (40,)


def test_awkward_shapes() -> None:
    one = summarize([[0, 0, 1]], [0, 0, 0])  # one partition, one cluster
    assert "into 1 cluster." in one["findings"][0]["answer"]
    alone = summarize([[0, 1, 2], [0, 1, 1]], ["a", "b", "c"])
    assert alone["samples"]["rows"] == []
    left_out = summarize([[0, 0, 1, 1], [0, 0, 1, 1]], [0, 0, 1, None])
    assert "1 sample without a label is left out" in left_out["findings"][0]["answer"]
    weighted = partita.Ensemble.from_partitions([[0, 0, 1]], weights=[1.5, 1, 1])
    assert "by weight" in summarize(weighted, [0, 0, 1])["findings"][0]["answer"]


def test_a_fusion_is_not_diagnosed_again(monkeypatch) -> None:
    partitions, _ = make_partitions(60, 8, 3, noise=0.2)
    ensemble = partita.Ensemble.from_partitions(partitions)
    fusion = partita.fuse(ensemble, 3, random_state=0)
    expected = summarize(ensemble, fusion.method)
    assert fusion.diagnosis is not None
    assert fusion.diagnosis.modes.n_modes == 1  # computed when it is first read

    def refuse(*_: Any) -> None:
        raise AssertionError("computed a second time")

    monkeypatch.setattr("partita.reporting._summary.diagnose", refuse)
    monkeypatch.setattr("partita.ensemble._ensemble.compress", refuse)
    summary = summarize(ensemble, fusion)
    for key in ("findings", "clusters", "partitions", "samples", "figures"):
        assert summary[key] == expected[key]
    assert summary["provenance"]["method"]["class"] == "CCGP"
    with pytest.raises(ValueError, match="partitions has 30 samples, the fusion 60"):
        summarize(ensemble.subset(samples=range(30)), fusion)


def test_a_wrong_y_is_refused() -> None:
    with pytest.raises(ValueError, match="4"):
        summarize([[0, 0, 1, 1]], [0, 0, 1, 1], y=[0, 1])


def test_values_become_json_types() -> None:
    values = {"a": np.float32(np.nan), "b": np.arange(2), 3: [1 / 3, float("inf"), True, None]}
    assert to_json(values) == {"a": None, "b": [0, 1], "3": [0.3333, None, True, None]}
    assert shorten("a\x00b\ud800\nc") == "a b  c"
    assert len(shorten("x" * 1000)) == 80
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(list(range(9))) == "0, 1, 2, 3, 4 and 4 more"
    assert drop_folders("relative/name.csv") == "relative/name.csv"


def test_only_a_look_has_advice(summary) -> None:
    for finding in summary["findings"]:
        assert bool(finding["advice"]) == (finding["mark"] == "look"), finding["question"]
    assert {finding["mark"] for finding in summary["findings"]} == {"fine", "look", "plain"}


def test_classes_and_clusters_are_counted(case, summary) -> None:
    table = summary["classes"]
    y, labels = np.asarray(case["y"]), np.asarray(case["labels"])
    for row in table["rows"]:
        own = labels == int(row["cluster"])
        counts = [row[f"class_{c}"] for c in range(3)]
        assert counts == [int(np.sum(y[own] == c)) for c in range(3)]
        assert row["main_class"] == str(np.argmax(counts))
        assert row["main_share"] == round(max(counts) / own.sum(), 4)
    assert [sum(row[f"class_{c}"] for row in table["rows"]) for c in range(3)] == np.bincount(
        y
    ).tolist()
    assert summarize(case["partitions"], case["labels"])["classes"] is None


def test_many_classes_share_a_column() -> None:
    y = np.repeat(np.arange(50), 4)
    table = summarize([y // 5, y // 10], y // 10, y=y)["classes"]
    assert table["columns"]["other_classes"] == "20 other classes"
    assert sum(row["other_classes"] for row in table["rows"]) == 80


def test_numbers_of_clusters_that_are_as_good_are_named(case, summary) -> None:
    scan = case["scan"]
    rows = {row["k"]: row for row in summary["numbers"]["rows"]}
    assert list(rows) == [2, 3, 4]
    assert rows[scan.best_k]["remark"].startswith("suggested")
    assert "this consensus" in rows[3]["remark"]
    # every K within one standard error of the best gain
    tied = replace(scan, best_k=2, gain=np.array([0.5, 0.4, 0.52]), standard_error=np.full(3, 0.05))
    numbers = summarize(**{**case, "scan": tied})["numbers"]["rows"]
    assert [row["remark"] for row in numbers] == ["suggested", "this consensus", "as good"]


def test_two_stories_are_reported() -> None:
    rows, columns = np.repeat(np.arange(3), 30), np.tile(np.arange(3), 30)
    findings = answers(summarize([rows] * 4 + [columns] * 4, rows))
    finding = findings["Do the partitions tell one story?"]
    assert finding["mark"] == "look"
    assert finding["answer"].startswith("No: 2 groups of 4, 4 partitions disagree")


def test_the_clusters_of_all_samples_are_there_unless_there_are_very_many(case, summary) -> None:
    assigned = summary["assignments"]
    assert assigned["sample"] == list(range(120))
    assert assigned["cluster"] == [str(k) for k in case["labels"]]
    diagnosis = partita.diagnose(case["partitions"], case["labels"])
    np.testing.assert_allclose(assigned["margin"], diagnosis.margin, rtol=0, atol=1e-4)
    many = np.arange(20_001) % 2
    assert summarize([many, many], many)["assignments"] is None
    long_ids = [f"{i} " + "<" * 75 for i in range(4000)]
    ensemble = partita.Ensemble.from_partitions([many[:4000]] * 2, sample_ids=long_ids)
    assert summarize(ensemble, many[:4000])["assignments"] is None  # 480 characters per id


def test_profiles_name_what_distinguishes_each_cluster(case, summary) -> None:
    rows = {row["cluster"]: row for row in summary["profiles"]["rows"]}
    main = int(np.bincount(np.asarray(case["labels"])[case["y"] == 1]).argmax())
    assert "kind = b: " in rows[str(main)]["features"]
    assert "size: " in rows[str(main)]["features"]
    assert rows[str(main)]["size"] == int(np.sum(case["labels"] == main))
    assert "double dipping" in summary["profiles"]["help"]
    assert summarize(case["partitions"], case["labels"])["profiles"] is None
    with pytest.raises(ValueError, match="features has 5 rows"):
        summarize(case["partitions"], case["labels"], features=np.zeros((5, 2)))


def test_a_hidden_group_is_reported_with_the_number_to_try() -> None:
    fine = np.repeat([0, 1, 2], 20)
    findings = answers(summarize([fine, fine, fine, fine > 0], fine > 0))
    finding = findings["Does a cluster hide a group?"]
    assert finding["mark"] == "look"
    assert finding["answer"].startswith("Cluster True: 3 of 4 partitions split 20 samples (50%")
    assert "Fuse with 3 clusters" in finding["advice"]
    assert answers(summarize([fine] * 3, fine))["Does a cluster hide a group?"]["mark"] == "fine"


def test_modes_and_hierarchy_have_tables(summary) -> None:
    assert summary["hierarchy"]["rows"][0]["level"] == 0
    assert summary["modes"] is None
    rows, columns = np.repeat(np.arange(3), 30), np.tile(np.arange(3), 30)
    table = summarize([rows] * 4 + [columns] * 3, rows)["modes"]
    assert [(row["n_partitions"], row["partitions"]) for row in table["rows"]] == [
        (4, "0, 1, 2 and 3"),
        (3, "4, 5 and 6"),
    ]


def test_many_samples_are_thinned_in_pictures() -> None:
    labels, truth = make_partitions(6000, 6, 3, noise=0.2)
    figures = {figure["key"]: figure for figure in summarize(labels, truth)["figures"]}
    assert "5,000 of them are drawn" in figures["embedding"]["text"]
    assert len(figures["embedding"]["data"]["labels"]) == 5000
