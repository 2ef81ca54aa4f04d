"""NRSEC: equal to the plain algorithm on all samples; what it shares with RSEC is tested there."""

from __future__ import annotations

import numpy as np
import pytest
from unreduced_representation import assert_equals_unreduced, repeated_rows, represent

from partita import NRSEC
from partita.datasets import make_partitions


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_unreduced_computation(missing, seed):
    labels = repeated_rows(missing, seed)
    method = NRSEC(3, random_state=0).fit(labels)
    assert len(method.core_matrix_) < 0.7 * len(labels)
    assert_equals_unreduced(method, represent(labels, 3, 1.0, 0.01, concave=True))


@pytest.mark.parametrize("gamma", [1.2, 4.0])
def test_outer_steps(gamma):
    labels = repeated_rows(0.0, 4)
    method = NRSEC(3, gamma=gamma, n_outer=3, random_state=0).fit(labels)
    unreduced = represent(labels, 3, 1.0, 0.01, concave=True, gamma=gamma, n_outer=3)
    assert_equals_unreduced(method, unreduced)


def test_gamma_acts_from_the_second_tangent():
    labels = make_partitions(50, 8, noise=0.2)[0]

    def matrix(gamma, n_outer):
        return NRSEC(3, gamma=gamma, n_outer=n_outer, random_state=0).fit(labels).core_matrix_

    np.testing.assert_array_equal(matrix(1.5, 1), matrix(5.0, 1))
    assert np.abs(matrix(1.5, 2) - matrix(5.0, 2)).max() > 1e-3


@pytest.mark.parametrize(("name", "value"), [("gamma", 1.0), ("gamma", -2.0), ("n_outer", 0)])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of NRSEC must be"):
        NRSEC(3, **{name: value}).fit(make_partitions()[0])
