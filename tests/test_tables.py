"""Results as data frames and, in notebooks, as tables."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import partita
from partita.datasets import make_partitions
from partita.structure import hierarchical_consensus, modes

LABELS, Y = make_partitions(40, 8, 3, noise=0.1)


def test_scan():
    scan = partita.scan_k(LABELS, range(2, 5), n_resamples=2, n_null=2, random_state=0)
    frame = scan.to_frame()
    assert list(frame["k"]) == [2, 3, 4]
    assert list(frame["gain"]) == scan.gain.tolist()


def test_diagnosis():
    frame = pd.DataFrame(LABELS, index=[f"s{i}" for i in range(40)])
    labels = np.array(["a", "b", "c"], object)[Y]
    labels[0] = None
    diagnosis = partita.diagnose(partita.Ensemble.from_frame(frame), labels)
    table = diagnosis.to_frame()
    assert list(table["sample"][:2]) == ["s0", "s1"]
    assert table["cluster"][0] is None
    assert list(table["cluster"][1:]) == labels[1:].tolist()
    np.testing.assert_array_equal(table["margin"], diagnosis.margin)
    assert table["runner_up"][1] == diagnosis.cluster_names[diagnosis.runner_up[1]]


@pytest.mark.parametrize(
    ("make", "n_rows"),
    [
        (lambda: partita.Ensemble.from_partitions(LABELS), 8),
        (lambda: partita.fuse(LABELS, 3, random_state=0), 3),
        (lambda: partita.cluster_tree([Y, LABELS[:, 0]]), 3),
        (lambda: modes(LABELS, random_state=0), 8),
        (lambda: hierarchical_consensus(LABELS, random_state=0), 4),
    ],
    ids=["ensemble", "fusion", "tree", "modes", "hierarchy"],
)
def test_results_are_tables_in_notebooks(make, n_rows):
    rows = list(ElementTree.fromstring(make()._repr_html_()).iter("tr"))
    assert len(rows) == n_rows + 1
    assert {len(row) for row in rows} == {len(rows[0])}


def test_an_ensemble_is_a_table_of_its_labels():
    labels = [["a", "b", "b"], [5, None, 7]]
    ensemble = partita.Ensemble.from_partitions(
        labels, partition_names=["z", "k"], sample_ids=["s", "t", "u"]
    )
    expected = {"sample": ["s", "t", "u"], "z": ["a", "b", "b"], "k": [5, None, 7]}
    for table in (ensemble, ensemble.compress()):
        frame = table.to_frame()
        assert list(frame.columns) == ["sample", "z", "k"]
        for name, column in expected.items():
            assert [None if v != v else v for v in frame[name]] == column
    many = partita.Ensemble.from_partitions(np.zeros((3, 40), int))
    assert "10 partitions are not shown" in many._repr_html_()


def test_a_fusion_is_the_table_of_its_samples():
    fusion = partita.fuse(LABELS, 3, random_state=0)
    assert list(fusion.to_frame()["cluster"]) == fusion.labels.tolist()
