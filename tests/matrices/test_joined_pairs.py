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


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "missing"])
def ensemble(request):
    labels, _ = make_partitions(40, 11, 4, noise=0.4, missing_ratio=request.param)
    return Ensemble.from_partitions(labels).compress()


def votes_of(ensemble):
    """Return who joins and who labels each pair above the diagonal, shape (m, n_pairs) each."""
    columns, observed = ensemble.codes.T, ensemble.observed.T
    sees = observed[:, :, None] & observed[:, None]
    joins = (columns[:, :, None] == columns[:, None]) & sees
    listed = np.triu(joins.any(axis=0), 1)
    return joins[:, listed], sees[:, listed], listed


def test_lists_the_pairs_that_some_partition_joins(ensemble):
    _, _, listed = votes_of(ensemble)
    pairs = joined_pairs(ensemble)
    row, partner = np.nonzero(listed)
    np.testing.assert_array_equal(pairs.partner, partner)
    np.testing.assert_array_equal(np.diff(pairs.start_of), listed.sum(axis=1))
    for block in (slice(0, len(pairs)), slice(3, 50), slice(len(pairs) - 1, len(pairs))):
        a, b = pairs.rows(block)
        np.testing.assert_array_equal(a, row[block])
        np.testing.assert_array_equal(b, partner[block])


def test_blocks_cover_all_pairs(ensemble, monkeypatch):
    monkeypatch.setattr("partita.matrices.pairs._PAIRS", 7)
    pairs = joined_pairs(ensemble)
    covered = np.concatenate([np.arange(len(pairs))[block] for block in pairs.blocks()])
    np.testing.assert_array_equal(covered, np.arange(len(pairs)))


def test_sums_of_votes(ensemble):
    joins, sees, _ = votes_of(ensemble)
    strength = np.random.default_rng(0).uniform(1, 9, ensemble.n_partitions)
    joining, total, unanimous = joined_pairs(ensemble).votes.sums(strength, slice(5, 90))
    factor = ensemble.n_partitions / sees.sum(axis=0)
    np.testing.assert_allclose(joining, (strength @ joins * factor)[5:90], rtol=1e-13)
    np.testing.assert_allclose(total, (strength @ sees * factor)[5:90], rtol=1e-13)
    np.testing.assert_array_equal(unanimous, (joins == sees).all(axis=0)[5:90])


def test_costs_of_partitions(ensemble):
    joins, sees, _ = votes_of(ensemble)
    parted, change = np.random.default_rng(1).random((2, 85))
    costs = joined_pairs(ensemble).votes.costs(parted, change, slice(5, 90))
    expected = sees[:, 5:90] @ parted + joins[:, 5:90] @ change
    np.testing.assert_allclose(costs, expected, rtol=1e-13)
