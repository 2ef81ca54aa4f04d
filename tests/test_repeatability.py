"""Repeatability estimates how often fresh partitions keep a sample in its cluster."""

from __future__ import annotations

import numpy as np
import pytest

from partita import CCGP, EAC
from partita.alignment import align_labels
from partita.datasets import make_partitions
from partita.diagnostics import repeatability


def test_sure_and_doubtful_samples():
    labels, y = make_partitions(60, 16, 3, noise=0.05)
    labels[0] = np.arange(16) % 2 + 1  # half of the partitions say 1, half say 2
    values = repeatability(labels, y, n_resamples=5)
    assert values[1:].min() == 1.0
    assert values[0] == 0.0
    moved = y.copy()
    moved[0] = 1
    assert 0.0 < repeatability(labels, moved, n_resamples=5)[0] < 1.0


def test_missing_labels_and_methods():
    labels, y = make_partitions(60, 12, 3, noise=0.1, missing_ratio=0.2)
    consensus = np.where(np.arange(60) == 5, -1, y)
    values = repeatability(labels, consensus, n_resamples=2)
    assert np.flatnonzero(np.isnan(values)).tolist() == [5]
    fitted = EAC(3).fit(labels)
    np.testing.assert_array_equal(
        repeatability(labels, fitted, n_resamples=2),
        repeatability(labels, fitted.labels_, method=EAC(), n_resamples=2),
    )
    with pytest.raises(ValueError, match="at least 4 partitions, got 3"):
        repeatability(make_partitions(60, 3)[0], y)
    with pytest.raises(ValueError, match="n_resamples must be at least 1, got 0"):
        repeatability(labels, y, n_resamples=0)


def test_it_is_calibrated():
    """Of samples with repeatability c about c keep their cluster with fresh partitions."""
    values, keeps = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        k, noise = int(rng.integers(2, 6)), float(rng.uniform(0.5, 0.75))
        table = make_partitions(120, 24, k, noise=noise, k_max=2 * k, random_state=seed)[0]
        own, fresh = table[:, ::2], table[:, 1::2]
        labels = CCGP(k, random_state=0).fit_predict(own)
        other = CCGP(k, random_state=1).fit_predict(fresh)
        values.append(repeatability(own, labels, n_resamples=5))
        keeps.append(align_labels(labels, other).labels == labels)
    value, keep = np.concatenate(values), np.concatenate(keeps)
    for low, high in ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        part = (value >= low) & (value < high)
        assert part.sum() > 50
        assert abs(value[part].mean() - keep[part].mean()) < 0.2, (low, keep[part].mean())
    assert keep[value < 0.5].mean() < 0.5  # a majority of the doubtful samples changes
