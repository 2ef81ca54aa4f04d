"""Comparison of methods, and convergence of one method."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import partita
from partita.datasets import make_partitions
from partita.plotting import ComparisonDisplay, ConvergenceDisplay


@pytest.fixture(scope="module")
def ensemble() -> tuple[np.ndarray, np.ndarray]:
    return make_partitions(60, 8, 3, noise=0.2)


def test_comparison_best_first_with_shapes_and_failures() -> None:
    labels, truth = make_partitions(200, 8, 3, noise=0.3)
    with partita.config_context(memory_budget=100_000):  # for label rows, not for a matrix
        comparison = partita.compare(labels, ["eac", "sec", "kcc"], 3, y=truth)
    display = ComparisonDisplay.from_comparison(comparison).plot()
    assert list(display.scores) == ["ARI", "anmi", "agreement"]
    assert display.failed == ["eac"]
    assert "failed: eac" in display.ax_.get_xlabel()
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert names == [display.methods[k] for k in np.argsort(-display.scores["ARI"], kind="stable")]
    assert len({line.get_marker() for line in display.ax_.lines}) == 3
    ax = Figure().add_subplot()
    assert ComparisonDisplay.from_comparison(comparison, scores=["anmi"]).plot(ax).ax_ is ax
    with pytest.raises(ValueError, match=r"scores must be among .* got \['seconds'\]"):
        ComparisonDisplay.from_comparison(comparison, scores=["seconds"])


def test_comparison_of_one_method_has_no_agreement_with_others(ensemble) -> None:
    comparison = partita.compare(ensemble[0], ["sec"], 3)
    display = ComparisonDisplay.from_comparison(comparison).plot()
    assert np.isnan(display.scores["agreement"]).all()


def test_rows_of_partitions_have_no_seconds() -> None:
    labels, truth = make_partitions(60, 8, 3, noise=0.3)
    comparison = partita.compare(labels, ["ccgp"], 3, y=truth, include_partitions=True)
    display = ComparisonDisplay.from_comparison(comparison).plot()
    assert display.methods == ["ccgp", "partitions (mean)", "partitions (best)"]
    assert sum(text.get_text().endswith(" s") for text in display.ax_.texts) == 1


def test_convergence_is_the_history(ensemble) -> None:
    model = partita.SEC(3, random_state=0).fit(ensemble[0])
    display = ConvergenceDisplay.from_estimator(model).plot()
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), model.history_)
    assert display.ax_.lines[0].get_xdata()[0] == 1
    assert display.ax_.get_yscale() == "linear"


def test_several_lines_differ_in_dash_and_wide_ranges_are_logarithmic() -> None:
    history = np.column_stack([np.logspace(0, -4, 50), np.logspace(1, -3, 50)])
    history[0, 1] = np.inf
    display = ConvergenceDisplay(history, ["C", "E"]).plot()
    assert display.ax_.get_yscale() == "log"
    assert len({line.get_linestyle() for line in display.ax_.lines}) == 2
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["C", "E"]


def test_a_method_that_does_not_iterate_is_refused(ensemble) -> None:
    with pytest.raises(ValueError, match="EAC has no history_"):
        ConvergenceDisplay.from_estimator(partita.EAC(3).fit(ensemble[0]))
    with pytest.raises(ValueError, match="names must have one entry per line, 1, got 2"):
        ConvergenceDisplay([1.0, 0.5], ["a", "b"])
    with pytest.raises(ValueError, match="at least one iteration"):
        ConvergenceDisplay([])
