"""Confidence per cluster and agreement of partitions."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita.datasets import make_partitions
from partita.diagnostics import diagnose
from partita.plotting import AgreementDisplay, ConfidenceDisplay


@pytest.fixture
def case() -> tuple[np.ndarray, np.ndarray]:
    labels, truth = make_partitions(120, 10, 3, noise=0.15, random_state=2)
    junk = np.random.default_rng(0).integers(0, 3, 120)
    return np.column_stack([labels, labels[:, 4], junk]), truth


def test_confidence_is_that_of_the_diagnosis(case) -> None:
    labels, truth = case
    diagnosis = diagnose(labels, truth)
    display = ConfidenceDisplay.from_diagnosis(diagnosis, clusters=["a", "b", "c"]).plot()
    for k in range(3):
        expected = np.quantile(diagnosis.confidence[truth == k], [0.05, 0.25, 0.5, 0.75, 0.95])
        np.testing.assert_allclose(display.quantiles[k], expected, rtol=0, atol=1e-12)
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert names == [["a", "b", "c"][k] for k in np.argsort(-display.quantiles[:, 2])]
    assert {t.get_text() for t in display.ax_.texts} == {"20", "40", "60"}
    ax = Figure().add_subplot()
    assert ConfidenceDisplay.from_labels(labels, truth).plot(ax).ax_ is ax


def test_of_many_clusters_those_with_the_lowest_confidence_are_shown() -> None:
    middle = np.linspace(0.2, 0.9, 50)
    quantiles = np.repeat(middle[:, None], 5, axis=1)
    quantiles[7] = np.nan
    display = ConfidenceDisplay([f"c{k}" for k in range(50)], np.ones(50), quantiles).plot()
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert len(names) == 30
    assert names[-1] == "c0"
    assert "c7" not in names
    assert "19 clusters with higher confidence not shown" in display.ax_.get_xlabel()
    assert "1 clusters of one sample" in display.ax_.get_xlabel()


def test_equal_partitions_are_adjacent_and_bad_partitions_are_marked(case) -> None:
    labels, truth = case
    names = [f"run {i}" for i in range(12)]
    diagnosis = diagnose(labels, truth)
    display = AgreementDisplay.from_diagnosis(diagnosis, names=names).plot()
    place = {name: i for i, name in enumerate(display.names)}
    assert sorted(display.names) == sorted(names)
    assert abs(place["run 4"] - place["run 10"]) == 1
    marks = [line for line in display.ax_.lines if line.get_marker() == "<"]
    assert marks[0].get_ydata().tolist() == [place["run 11"]]
    frames = [line for line in display.ax_.lines if line.get_marker() == "None"]
    assert len(frames) == 1
    assert "framed: equal partitions (1 group)" in display.ax_.get_xlabel()
    assert "triangle: bad partition (1)" in display.ax_.get_xlabel()
    i, j = place["run 2"], place["run 7"]
    assert display.im_.get_array()[i, j] == diagnosis.pairwise[2, 7]


def test_of_many_partitions_the_bad_ones_are_kept(case) -> None:
    labels, truth = case
    display = AgreementDisplay.from_diagnosis(diagnose(labels, truth), limit=5).plot()
    assert len(display.names) == 5
    assert 11 in display.names
    assert display.n_left_out == 7
    assert "7 partitions left out" in display.ax_.get_xlabel()


@pytest.mark.parametrize("n", [1, 2])
def test_few_partitions(n: int) -> None:
    display = AgreementDisplay.from_labels([[0, 0, 1], [0, 1, 1]][:n], [0, 0, 1]).plot()
    assert display.names == list(range(n))
