"""Labels whose index has the samples in another order than the partitions are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import partita
from partita import metrics
from partita.datasets import make_partitions
from partita.diagnostics import repeatability
from partita.exceptions import InvalidEnsembleError
from partita.fusion import update_consensus
from partita.plotting import ConsensusDisplay, ScoresDisplay
from partita.structure import hidden_groups

TABLE, Y = make_partitions(60, 8, 3, noise=0.1)
NAMES = [f"s{i}" for i in range(60)]
FRAME = pd.DataFrame(TABLE, index=NAMES).rename(columns="p{}".format)
LABELS = pd.Series(Y, index=NAMES)

CALLS = {
    "diagnose": lambda y: partita.diagnose(FRAME, y),
    "repeatability": lambda y: repeatability(FRAME, y, n_resamples=1),
    "hidden_groups": lambda y: hidden_groups(FRAME, y),
    "anmi": lambda y: metrics.anmi(FRAME, y),
    "update_consensus": lambda y: update_consensus(FRAME, y, FRAME),
    "compare": lambda y: partita.compare(FRAME, ["eac"], 3, y=y),
    "summarize": lambda y: partita.reporting.summarize(FRAME, Y, y=y),
    "ConsensusDisplay": lambda y: ConsensusDisplay.from_labels(FRAME, y),
    "ScoresDisplay": lambda y: ScoresDisplay.from_labels(FRAME, Y, y),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_order_is_an_error(name):
    with pytest.raises(InvalidEnsembleError, match="samples in another order than the partitions"):
        CALLS[name](LABELS[::-1])
    CALLS[name](LABELS)
    CALLS[name](pd.Series(Y))  # without names the order is all there is
    CALLS[name](LABELS.set_axis([f"other{i}" for i in range(60)]))
    CALLS[name](LABELS[::-1].to_numpy())


def test_the_order_of_numbered_tables_is_not_known():
    assert np.isfinite(partita.diagnose(TABLE, LABELS[::-1]).confidence).all()
