"""Losses of partitions against their definitions, pair by pair and sample by sample."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from partita import EAC, Ensemble
from partita.metrics import binder_loss, expected_loss, omari_loss, variation_of_information

sys.path.append(str(Path(__file__).parent / "consensus"))
from unreduced_losses import expected_slowly, loss_slowly

LOSSES = ("vi", "binder", "omari")


@pytest.mark.parametrize("a", [0.3, 1.0, 1.8])
@pytest.mark.parametrize("seed", range(4))
def test_equal_the_definitions(a, seed):
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(4, size=25), rng.integers(3, size=25)
    vi = variation_of_information(y, labels, a)
    assert vi == pytest.approx(loss_slowly(y, labels, "vi", a), rel=1e-12)
    assert binder_loss(y, labels, a) == pytest.approx(
        loss_slowly(y, labels, "binder", a), rel=1e-12
    )
    assert omari_loss(y, labels) == pytest.approx(loss_slowly(y, labels, "omari"), rel=1e-12)
    # exchanging the partitions exchanges the costs
    assert vi == pytest.approx(variation_of_information(labels, y, 2 - a), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_partitions_have_no_loss(loss):
    assert expected_loss([["a", "b", "b"], [5, 7, 7]], [1, 0, 0], loss) == 0.0


def test_bounds():
    n = 8
    apart, together = np.arange(n), np.zeros(n, int)
    assert variation_of_information(apart, together) == pytest.approx(np.log2(n))
    assert binder_loss(apart, together) == pytest.approx(1 - 1 / n)
    assert omari_loss(apart, together) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_loss_with_missing_labels_and_weights(loss):
    rng = np.random.default_rng(0)
    partitions = rng.integers(-1, 3, size=(20, 5))
    partitions[:, 0] = rng.integers(3, size=20)
    labels, times = rng.integers(3, size=20), rng.integers(1, 4, size=20)
    expected = expected_slowly(np.repeat(partitions, times, axis=0), np.repeat(labels, times), loss)
    weighted = Ensemble.from_partitions(partitions, weights=times)
    assert expected_loss(weighted, labels, loss) == pytest.approx(expected, rel=1e-12)
    method = EAC(3).fit(partitions)
    assert expected_loss(partitions, method, loss) == expected_loss(
        partitions, method.labels_, loss
    )


def test_errors():
    with pytest.raises(ValueError, match="loss must be one of"):
        expected_loss([[0, 1]], [0, 1], "rand")
    with pytest.raises(ValueError, match="a must be a cost between 0 and 2"):
        binder_loss([0, 1], [0, 1], 2.0)
    with pytest.raises(ValueError, match="compressed"):
        expected_loss(Ensemble.from_partitions([[0, 1]]).compress(), [0, 1])
