"""Curves over K beside their nulls, and clusters tracked over K."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita.datasets import make_partitions
from partita.plotting import (
    PALETTE,
    ScanDisplay,
    ScanMatricesDisplay,
    TrackingDisplay,
    block_means,
)
from partita.select_k import KScan, scan_k


@pytest.fixture(scope="module")
def scan() -> KScan:
    labels = make_partitions(90, 10, 3, noise=0.2)[0]
    return scan_k(labels, range(2, 6), n_resamples=2, n_null=3, random_state=0)


def test_a_panel_per_curve_with_its_null(scan: KScan) -> None:
    display = ScanDisplay.from_scan(scan).plot()
    assert len(display.axes_) == 6
    assert display.figure_ is display.axes_[5].figure
    for ax, name in zip(display.axes_[:5], display.curves, strict=True):
        lines = {line.get_label(): line.get_ydata() for line in ax.lines}
        np.testing.assert_array_equal(lines["this ensemble"], scan.curves[name])
        if name != "delta_area":
            np.testing.assert_array_equal(lines["null, mean"], scan.null_mean[name])
        assert "suggested: K = 3" in lines
    for line, distribution in zip(display.axes_[5].lines, scan.cdf, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), distribution)
    band = display.axes_[0].collections[0].get_paths()[0].vertices[:, 1]
    high = scan.null_mean["separation"] + 2 * scan.null_std["separation"]
    assert band.max() == pytest.approx(high.max())


def test_one_curve_into_the_axes_passed(scan: KScan) -> None:
    ax = Figure().add_subplot()
    display = ScanDisplay.from_scan(scan, curves=["eigengap"]).plot(ax)
    assert display.ax_ is ax
    assert not ax.collections  # no null, no band
    with pytest.raises(ValueError, match="ax must have one Axes for each of"):
        ScanDisplay.from_scan(scan).plot(ax)
    with pytest.raises(ValueError, match=r"curves must be among .* got \['nosuch'\]"):
        ScanDisplay.from_scan(scan, curves=["nosuch"])


def test_a_matrix_per_k(scan: KScan) -> None:
    partitions = make_partitions(90, 10, 3, noise=0.2)[0]
    display = ScanMatricesDisplay.from_scan(partitions, scan, resolution=30).plot()
    assert [ax.get_title(loc="left") for ax in display.axes_] == [
        "K = 2",
        "K = 3  (suggested)",
        "K = 4",
        "K = 5",
    ]
    for ax, k in zip(display.axes_, scan.k, strict=True):
        expected = block_means(partitions, scan.labels[k], resolution=30)
        np.testing.assert_array_equal(ax.images[0].get_array(), expected.image)
        assert len(ax.lines) == 2 * (k - 1)
    with pytest.raises(ValueError, match="one Axes for each K"):
        display.plot(Figure().add_subplot())


def test_no_k_is_marked_without_structure() -> None:
    display = ScanDisplay([2, 3], {"pac": [0.1, 0.2]}, {"pac": [0.1, 0.2]}, {"pac": [1, 1]}).plot()
    assert not [line for line in display.ax_.lines if "suggested" in str(line.get_label())]
    band = display.ax_.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0, 1)  # a share stays between 0 and 1


def test_tracking_keeps_names_and_shares(scan: KScan) -> None:
    display = TrackingDisplay.from_scan(scan).plot()
    assert display.bands.shape == (4, 90)
    for band, k in zip(display.bands, scan.k, strict=True):
        assert np.array_equal(
            np.sort(np.unique(band, return_counts=True)[1]), np.sort(np.bincount(scan.labels[k]))
        )
    # noise aside, the three planted clusters keep their names from K = 3 on
    assert np.mean(display.bands[1] == display.bands[2]) > 0.8
    assert {t.get_text() for t in display.ax_.texts} >= {"0", "1", "2"}
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == [f"K = {k}" for k in scan.k]


def test_tracking_draws_any_number_of_samples_in_as_many_columns() -> None:
    coarse = np.arange(50_000) % 2
    fine = np.where(coarse == 0, 7, 5 + np.arange(50_000) % 4)
    display = TrackingDisplay.from_partitions([coarse, fine], resolution=200).plot()
    assert display.bands.shape == (2, 200)
    assert display.bands[0].tolist() == [0] * 100 + [1] * 100
    assert np.unique(display.bands[1], return_counts=True)[1].tolist() == [100, 50, 50]
    assert "200 of them drawn" in display.ax_.get_xlabel()


def test_samples_without_a_label_are_white() -> None:
    display = TrackingDisplay.from_partitions({2: [0, 0, -1, 1], 9: [0, 0, 8, 1]}).plot()
    colors = [patch.get_facecolor() for patch in display.ax_.patches]
    assert (1.0, 1.0, 1.0, 1.0) in colors
    assert len(PALETTE) == 8
    assert "of them drawn" not in display.ax_.get_xlabel()
