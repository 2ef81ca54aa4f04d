"""GCC: the three cuts, chosen between by average NMI with the ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from balanced_cuts import TOY, TOY_ANSWER

from partita import CSPA, GCC, HGPA, MCLA
from partita._packages import is_installed
from partita.datasets import make_partitions
from partita.metrics import anmi
from partita.testing import consensus_checks


@pytest.mark.skipif(
    not is_installed("pymetis") and not is_installed("kahypar"),
    reason="tests/test_all_methods.py has it",
)
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_without_the_extra(check):
    check(GCC(partitioner="builtin"))


def test_toy_of_the_paper():
    found = GCC(3, random_state=0).fit(TOY)
    np.testing.assert_array_equal(found.labels_, TOY_ANSWER)
    assert found.objective_ == pytest.approx(anmi(TOY, TOY_ANSWER), rel=1e-12)
    assert found.best_ == "cspa", "the first of equals"


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_best_by_average_nmi_is_kept(missing):
    labels = np.repeat(make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing)[0], 3, axis=0)
    found = GCC(3, partitioner="builtin", random_state=0).fit(labels)
    assert set(found.scores_) == {"cspa", "hgpa", "mcla"}
    assert found.objective_ == max(found.scores_.values()) == found.scores_[found.best_]
    # rows with weights score as the samples they stand for
    assert found.objective_ == pytest.approx(anmi(labels, found.labels_), rel=1e-12)
    assert found.partitioner_ == "builtin"


def test_each_of_the_three_is_the_method_of_that_name():
    """The first cut made is CSPA's, from the same random numbers; on clear data all agree."""
    labels, _ = make_partitions(noise=0.2, balanced=True)
    found = GCC(3, partitioner="builtin", random_state=0).fit(labels)
    cspa = CSPA(3, partitioner="builtin", random_state=0).fit(labels)
    assert found.scores_["cspa"] == pytest.approx(anmi(labels, cspa.labels_), rel=1e-12)
    for method in (HGPA, MCLA):
        alone = method(3, partitioner="builtin", random_state=0).fit_predict(labels)
        score = found.scores_[method.info.key]
        assert score == pytest.approx(anmi(labels, alone), abs=0.05)


def test_unequal_clusters_are_left_to_mcla():
    labels, _ = make_partitions(noise=0.1)
    found = GCC(3, partitioner="builtin", random_state=0).fit(labels)
    assert found.best_ == "mcla"
    assert found.scores_["mcla"] > found.scores_["cspa"]


def test_nothing_to_cut():
    found = GCC(2, random_state=0).fit(np.array([[0, 0, 1], [0, 0, 1]]).T)
    assert (found.best_, found.scores_, found.partitioner_) == ("none", {}, "none")
