"""NRSEC: equal to the plain algorithm on all samples; what it shares with RSEC is tested there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from unreduced_representation import assert_equals_unreduced, repeated_rows, represent

from partita import NRSEC
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_unreduced_computation(missing, seed):
    labels = repeated_rows(missing, seed)
    method = NRSEC(3, random_state=0).fit(labels)
    assert len(method.core_matrix_) < 0.7 * len(labels)
    assert_equals_unreduced(method, represent(labels, 3, 1.0, 0.01, concave=True))


@pytest.mark.parametrize(
    ("gamma", "norm"), [((1.2, 1.2), "l1"), ((4.0, 1.1), "l21"), ((1.1, 4.0), "l21")]
)
def test_outer_steps(gamma, norm):
    labels = repeated_rows(0.0, 4)
    method = NRSEC(
        3, gamma1=gamma[0], gamma2=gamma[1], error_norm=norm, n_outer=3, random_state=0
    ).fit(labels)
    unreduced = represent(labels, 3, 1.0, 0.01, concave=True, gamma=gamma, norm=norm, n_outer=3)
    assert_equals_unreduced(method, unreduced)
    assert method.n_outer_ == 3


@pytest.mark.parametrize("name", ["gamma1", "gamma2"])
def test_gammas_act_from_the_second_tangent(name):
    labels = make_partitions(50, 8, noise=0.2)[0]

    def matrix(gamma, n_outer):
        method = NRSEC(3, **{name: gamma}, lambda2=0.1, n_outer=n_outer, random_state=0)
        return method.fit(labels).core_matrix_

    np.testing.assert_array_equal(matrix(1.01, 1), matrix(5.0, 1))
    assert np.abs(matrix(1.01, 2) - matrix(5.0, 2)).max() > 1e-5


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_outer_steps_to_convergence(norm):
    """The stop is the first step whose weights differ by at most `outer_tol` from the next."""
    labels = repeated_rows(0.0, 4)
    method = NRSEC(3, error_norm=norm, n_outer=40, outer_tol=0.1, random_state=0).fit(labels)
    assert method.converged_
    assert 1 < method.n_outer_ < 40
    steps = method.n_outer_ + 1
    unreduced = represent(labels, 3, 1.0, 0.01, concave=True, norm=norm, n_outer=steps)
    changes = [
        max(np.abs(new - old).max() for new, old in zip(after, before, strict=True))
        for before, after in pairwise(unreduced.weights)
    ]
    assert changes[-1] <= 0.1
    assert min(changes[:-1]) > 0.1
    fixed = NRSEC(3, error_norm=norm, n_outer=method.n_outer_, random_state=0).fit(labels)
    np.testing.assert_array_equal(method.core_matrix_, fixed.core_matrix_)


def test_outer_steps_without_convergence_are_reported():
    labels = repeated_rows(0.0, 4)
    with pytest.warns(ConvergenceWarning, match="n_outer=1 outer steps.*outer_tol=1e-06"):
        method = NRSEC(3, n_outer=1, outer_tol=1e-6, random_state=0).fit(labels)
    assert not method.converged_
    assert method.n_outer_ == 1
    plain = NRSEC(3, random_state=0).fit(labels)
    assert plain.converged_
    np.testing.assert_array_equal(plain.core_matrix_, method.core_matrix_)


@pytest.mark.parametrize(("rho", "mu"), [(1.1, None), (1.6, 0.5)])
def test_course_of_the_penalty(rho, mu):
    labels = repeated_rows(0.0, 5)
    method = NRSEC(3, rho=rho, mu=mu, random_state=0).fit(labels)
    assert_equals_unreduced(method, represent(labels, 3, 1.0, 0.01, concave=True, rho=rho, mu=mu))


@pytest.mark.parametrize(
    ("name", "value"),
    [("gamma1", 1.0), ("gamma2", -2.0), ("n_outer", 0), ("outer_tol", -1.0)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of NRSEC must be"):
        NRSEC(3, **{name: value}).fit(make_partitions()[0])
