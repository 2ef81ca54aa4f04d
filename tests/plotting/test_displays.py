"""The displays draw into any axes, without pyplot, and are readable in gray."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from partita import EAC
from partita.plotting import ConsensusDisplay, ScoresDisplay, draw_overview
from partita.plotting.style import blues


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (np.arange(60)[:, None] // 20 + (rng.random((60, 9)) < 0.2)).astype(int)


def test_consensus_from_an_estimator() -> None:
    labels = table()
    model = EAC(n_clusters=3).fit(labels)
    ax = Figure().add_subplot()
    display = ConsensusDisplay.from_estimator(model, labels).plot(ax=ax)
    assert display.ax_ is ax
    assert display.colorbar_ is not None
    assert "EAC consensus: 60 samples in 3 clusters" in ax.get_title(loc="left")
    assert [t.get_text() for t in ax.get_yticklabels()] == [str(k) for k in display.blocks.clusters]
    sizes = {f"{size}" for size in np.bincount(model.labels_)}
    assert {t.get_text().split()[0] for t in ax.texts} == sizes


def test_consensus_needs_a_fitted_estimator() -> None:
    with pytest.raises(NotFittedError):
        ConsensusDisplay.from_estimator(EAC(n_clusters=3), table())


def test_the_caption_names_what_is_left_out() -> None:
    consensus = np.arange(60) // 20
    consensus[:4] = -1
    consensus[10], consensus[11] = 3, 4  # two bands of one sample: their names would overlap
    display = ConsensusDisplay.from_labels(table(), consensus, resolution=400)
    display.plot(colorbar=False)
    caption = display.ax_.get_xlabel()
    assert "4 samples without a label left out" in caption
    assert "1 clusters not named" in caption
    assert display.colorbar_ is None


@pytest.mark.parametrize("name", ["picture.png", "picture.svg"])
def test_save_without_a_screen_and_without_pyplot(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    script = f"""
import sys
from partita.plotting import ConsensusDisplay
ConsensusDisplay.from_labels([[0, 0, 1, 1], [0, 0, 1, 2]], [0, 0, 1, 1]).save({str(path)!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert path.stat().st_size > 1000


def test_scores_best_first_beside_the_base_partitions() -> None:
    display = ScoresDisplay([0.3, 0.5, 0.4], {"A": 0.2, "B": 0.8}, "ARI").plot()
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert names == ["B", "A", "3 base\npartitions"]
    assert [t.get_text() for t in display.ax_.texts] == ["0.80", "0.20"]


def test_scores_count_the_samples_that_are_labeled() -> None:
    partitions = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [-1, 1]])
    classes = ["a", "a", "b", "b", "a"]
    display = ScoresDisplay.from_labels(partitions, ["x", "x", "y", "y", None], classes, name="C")
    assert display.base[0] == 1  # over the four samples it labels
    assert display.base[1] < 0.1
    assert display.methods == {"C": 1.0}


def test_overview_has_an_image_per_cluster() -> None:
    consensus = np.arange(60) // 20
    display = ConsensusDisplay.from_labels(table(), consensus)
    scores = ScoresDisplay([0.3, 0.5], {"A": 0.6}, "ARI")
    figure = draw_overview(display, scores, np.zeros((60, 4, 4)), consensus)
    means = figure.subfigs[1].subfigs[0].axes
    assert [ax.get_title() for ax in means[:3]] == ["0", "1", "2"]


def test_the_colors_keep_their_order_in_gray() -> None:
    gray = blues()(np.linspace(0, 1, 64))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(gray) < 0)
