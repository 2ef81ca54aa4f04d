"""Which view disagrees: the records of the views, and their place in the report."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from partita import Ensemble, diagnose
from partita.datasets import make_partitions
from partita.ensemble.view_names import name_partitions, views_of_partitions
from partita.reporting import summarize, write_html

GOOD, Y = make_partitions(90, 5, 3, noise=0.1, random_state=0)
JUNK = np.random.default_rng(1).integers(0, 3, (90, 3))
TABLE = np.column_stack([GOOD, JUNK])
NAMES = [*name_partitions("pixel", 5), *name_partitions("a/b", 3)]


def ensemble(table=TABLE, names=NAMES):
    return Ensemble.from_partitions(table, partition_names=names)


def test_names_of_partitions_tell_their_view():
    assert NAMES[:2] == ["pixel/1", "pixel/2"]
    assert views_of_partitions(NAMES) == ["pixel"] * 5 + ["a/b"] * 3
    assert views_of_partitions(["pixel/1", "pixel/2"]) is None
    assert views_of_partitions(["pixel/1", "shape/1", "other"]) is None
    assert views_of_partitions(None) is None


def test_records_are_means_over_the_partitions_of_a_view():
    pixel, other = diagnose(ensemble(), Y).view_records()
    assert (pixel["view"], pixel["n_partitions"], pixel["labeled"]) == ("pixel", 5, 1.0)
    assert (other["view"], other["n_partitions"]) == ("a/b", 3)

    def mean_nmi(pairs):
        return np.mean(
            [normalized_mutual_info_score(p, q, average_method="geometric") for p, q in pairs]
        )

    for record, table in ((pixel, GOOD), (other, JUNK)):
        ari = np.mean([adjusted_rand_score(Y, column) for column in table.T])
        assert record["adjusted_rand"] == pytest.approx(ari)
        assert record["agreement"] == pytest.approx(mean_nmi(product(table.T, [Y])))
        assert record["within"] == pytest.approx(mean_nmi(combinations(table.T, 2)))
        assert record["between"] == pytest.approx(mean_nmi(product(GOOD.T, JUNK.T)))
    assert not pixel["disagrees"]
    assert other["disagrees"]


def test_views_can_be_named_by_the_caller():
    diagnosis = diagnose(TABLE, Y)
    assert diagnosis.view_records() == []
    assert diagnosis.to_dict()["views"] == []
    named = diagnosis.view_records(["pixel"] * 5 + ["a/b"] * 3)
    assert named == diagnose(ensemble(), Y).view_records()
    with pytest.raises(ValueError, match="each of 8 partitions, got 2"):
        diagnosis.view_records(["a", "b"])


def test_a_partial_view_with_one_partition():
    table = np.column_stack([GOOD[:, :2], GOOD[:, 2]])
    table[:30, 2] = -1
    first, second = diagnose(ensemble(table, ["a/1", "a/2", "b/1"]), Y).view_records()
    assert first["labeled"] == 1
    assert second["labeled"] == pytest.approx(2 / 3)
    assert np.isnan(second["within"])
    assert not second["disagrees"]


def answer(summary):
    return {f["question"]: f for f in summary["findings"]}.get("Do the views agree?")


def test_the_report_has_the_views(tmp_path):
    summary = summarize(ensemble(), Y)
    assert [row["view"] for row in summary["views"]["rows"]] == ["a/b", "pixel"]
    assert [row["remark"] for row in summary["views"]["rows"]] == ["disagrees", ""]
    assert set(summary["views"]["columns"]) == set(summary["views"]["rows"][0])
    assert answer(summary)["mark"] == "look"
    assert answer(summary)["answer"].startswith("a/b disagrees: ")
    page = write_html(summary, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Views, lowest agreement with the consensus first" in page
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_views_that_agree_are_fine():
    agree = summarize(ensemble(GOOD, ["a/1", "a/2", "b/1", "b/2", "b/3"]), Y)
    assert answer(agree)["mark"] == "fine"


def test_a_report_without_views(tmp_path):
    summary = summarize(TABLE, Y)
    assert summary["views"] is None
    assert answer(summary) is None
    del summary["views"]  # as an earlier version wrote it
    page = write_html(summary, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Views, lowest" not in page


def test_names_of_views_are_text_in_the_page(tmp_path):
    hostile = "<script>window.hacked=1</script>"
    names = [*name_partitions(hostile, 4), *name_partitions("plain", 4)]
    page = write_html(summarize(ensemble(names=names), Y), tmp_path / "report.html")
    assert hostile not in page.read_text(encoding="utf-8")
