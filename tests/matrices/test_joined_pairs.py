"""Listed pairs as sparse, dense and summed."""

from __future__ import annotations

import numpy as np
import pytest

import partita
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.exceptions import MemoryBudgetError
from partita.matrices.pairs import joined_pairs


@pytest.fixture
def core():
    return Ensemble.from_partitions(make_partitions(20, 4, 5, noise=0.3)[0]).compress()


def test_forms_agree(core):
    pairs = joined_pairs(core)
    share = partita.coassociation(core, expand=False)
    above = np.triu(share, 1)
    values = above[above > 0]
    np.testing.assert_array_equal(pairs.upper(values).toarray(), above)
    np.testing.assert_array_equal(pairs.dense(values, diagonal=1.0, elsewhere=0.0), share)
    assert pairs.dense(values, diagonal=2.0, elsewhere=-1.0).min() == -1.0
    r = core.weights
    assert pairs.total(values, r) == pytest.approx(r @ (share - np.eye(len(share))) @ r)


def test_upper_shares_the_values(core):
    pairs = joined_pairs(core)
    values = np.ones(len(pairs))
    assert np.shares_memory(pairs.upper(values).data, values)


def test_threads_do_not_matter():
    core = Ensemble.from_partitions(make_partitions(600, 6, 5, noise=0.5)[0]).compress()
    found = []
    for n_threads in (1, 2):
        with partita.config_context(n_threads=n_threads):
            found.append(joined_pairs(core))
    np.testing.assert_array_equal(found[0].partner, found[1].partner)


def test_dense_keeps_to_the_budget(core):
    pairs = joined_pairs(core)
    with partita.config_context(memory_budget=100), pytest.raises(MemoryBudgetError):
        pairs.dense(np.ones(len(pairs)), diagonal=1.0, elsewhere=0.0)
