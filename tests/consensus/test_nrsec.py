"""NRSEC: equal to the plain algorithm on all samples; what it shares with RSEC is tested there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from representation_twin import assert_equal_to_twin, repeated_rows, represent, table

from partita import NRSEC
from partita.datasets import make_partitions

REFERENCE = Path(__file__).parents[1] / "reference" / "nrsec.json"


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_unreduced_twin(missing, seed):
    labels = repeated_rows(missing, seed)
    method = NRSEC(3, random_state=0).fit(labels)
    assert len(method.core_matrix_) < 0.7 * len(labels)
    assert_equal_to_twin(method, represent(labels, 3, 1.0, 0.01, concave=True))


@pytest.mark.parametrize("gamma", [1.2, 4.0])
def test_outer_steps_equal_the_twin(gamma):
    labels = repeated_rows(0.0, 4)
    method = NRSEC(3, gamma=gamma, n_outer=3, random_state=0).fit(labels)
    twin = represent(labels, 3, 1.0, 0.01, concave=True, gamma=gamma, n_outer=3)
    assert_equal_to_twin(method, twin)


def test_gamma_acts_from_the_second_tangent():
    labels = make_partitions(50, 8, noise=0.2)[0]

    def matrix(gamma, n_outer):
        return NRSEC(3, gamma=gamma, n_outer=n_outer, random_state=0).fit(labels).core_matrix_

    np.testing.assert_array_equal(matrix(1.5, 1), matrix(5.0, 1))
    assert np.abs(matrix(1.5, 2) - matrix(5.0, 2)).max() > 1e-3


def test_reference_values():
    reference = json.loads(REFERENCE.read_text(encoding="utf-8"))
    method = NRSEC(reference["n_clusters"], random_state=0).fit(table(reference["labels"]))
    Z, H, every = method.consensus_matrix(), method.embedding_, reference["every"]
    assert method.n_iter_ == reference["n_iter"]
    np.testing.assert_allclose(Z.sum(axis=1)[::every], reference["row_sums"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.diag(Z)[::every], reference["diagonal"], rtol=0, atol=1e-8)
    gram = (H @ H.T).sum(axis=1)
    np.testing.assert_allclose(gram[::every], reference["partition_gram"], rtol=0, atol=1e-8)
    trace = method.history_[[0, 4, 9, 14, 29]]
    np.testing.assert_allclose(trace, reference["history"], rtol=1e-6)
    np.testing.assert_allclose(method.objective_, reference["objective"], rtol=1e-8)


@pytest.mark.parametrize(("name", "value"), [("gamma", 1.0), ("gamma", -2.0), ("n_outer", 0)])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of NRSEC must be"):
        NRSEC(3, **{name: value}).fit(make_partitions()[0])
