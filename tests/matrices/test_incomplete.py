"""Signed co-association: agreement, disagreement, and not knowing."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble, coassociation
from partita.datasets import make_partitions
from partita.matrices import incomplete_coassociation


def count_votes(labels):
    n, m = labels.shape
    S = np.zeros((n, n))
    for p in range(n):
        for q in range(n):
            for a, b in zip(labels[p], labels[q], strict=True):
                if a >= 0 and b >= 0:
                    S[p, q] += 1 if a == b else -1
    return S / m


@pytest.mark.parametrize("missing", [0.1, 0.6])
def test_counts_votes(missing):
    labels = make_partitions(25, 6, noise=0.3, missing_ratio=missing)[0]
    np.testing.assert_allclose(
        incomplete_coassociation(labels), count_votes(labels), rtol=0, atol=1e-15
    )


def test_is_the_coassociation_where_nothing_is_missing():
    labels = make_partitions(25, 6, noise=0.3)[0]
    np.testing.assert_array_equal(incomplete_coassociation(labels), coassociation(labels))


def test_reduced_form_expands_to_the_full_one():
    labels = np.repeat(make_partitions(12, 5, missing_ratio=0.3)[0], 2, axis=0)
    core = Ensemble.from_partitions(labels).compress()
    reduced = incomplete_coassociation(core, expand=False)
    expanded = reduced[np.ix_(core.inverse, core.inverse)]
    np.testing.assert_array_equal(expanded, incomplete_coassociation(labels))
