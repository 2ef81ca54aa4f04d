"""Weights, numbers and matrices at the ends of what is accepted."""

from __future__ import annotations

import numpy as np
import pytest

from partita._input.checks import (
    check_affinity,
    check_connective_matrices,
    check_n_clusters,
    check_weights,
    random_generator,
)
from partita.exceptions import InvalidEnsembleError


def test_the_smallest_and_the_largest_weight_are_accepted():
    assert check_weights([1e-12, 1e12], 2, "weights").tolist() == [1e-12, 1e12]
    for weight in (np.nextafter(1e12, np.inf), np.nextafter(1e-12, 0)):
        with pytest.raises(InvalidEnsembleError, match="must be between"):
            check_weights([weight], 1, "weights")


@pytest.mark.parametrize(
    ("weights", "n", "words"),
    [
        ([1, 1.1e12], 2, r"^weights must be between 1e-12 and 1e\+12, got 1.1e\+12 at index 1\."),
        ([0.9e-12, 1, 2e12], 3, r"got 9e-13 at index 0\."),
        ([1, 0], 2, r"^weights must be positive and finite, got 0 at index 1\."),
        ([1, -2, 0], 3, r"got -2 at index 1\."),
        ([1, np.inf], 2, r"got inf at index 1\."),
        ([np.nan, 1], 2, r"got nan at index 0\."),
        (["a", 1], 2, r"^weights must be numbers: "),
        ([[1, 2]], 2, r"^weights must have shape \(2,\), got \(1, 2\)\."),
        ([1, 2, 3], 2, r"^weights must have shape \(2,\), got \(3,\)\."),
    ],
)
def test_weights_outside(weights, n, words):
    with pytest.raises(InvalidEnsembleError, match=words):
        check_weights(weights, n, "weights")


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_numbers_of_clusters_at_both_ends(n_clusters):
    value = check_n_clusters(np.int8(n_clusters), 3)
    assert type(value) is int
    assert value == n_clusters


@pytest.mark.parametrize("wrong", [True, False, 2.0, "2", None, np.array([1, 2])])
def test_what_is_no_number_of_clusters(wrong):
    with pytest.raises(ValueError, match=r"^n_clusters must be an integer, got "):
        check_n_clusters(wrong, 3)


def symmetric(low, high=None):
    """Return a matrix with the entries `low` and `high` off the diagonal."""
    return np.array([[1.0, low], [low if high is None else high, 1.0]])


def test_affinities_that_are_accepted():
    for matrix in (symmetric(0.5), symmetric(-1e300), symmetric(0.5, 0.5 + 0.9e-8)):
        np.testing.assert_array_equal(check_affinity(matrix, 2), matrix)
    # the tolerance is relative to the largest entry, whatever its sign, and at least 1e-8
    check_affinity(symmetric(-1e6, -1e6 + 0.9e-2), 2)
    check_affinity(symmetric(1e-3, 1e-3 + 0.9e-8), 2)
    nan = symmetric(np.nan)
    np.testing.assert_array_equal(check_affinity(nan, 2, allow_nan=True), nan)
    assert check_affinity(np.eye(2, dtype=np.int8), 2).dtype == np.float64
    assert check_affinity(np.full((2, 2), np.nan), 2, allow_nan=True).shape == (2, 2)


@pytest.mark.parametrize(
    ("matrix", "allow_nan", "words"),
    [
        (np.ones((2, 3)), False, r"^A must have shape \(2, 2\), one row per sample, got \(2, 3\)"),
        (symmetric(np.nan), False, "^A contains NaN or infinity"),
        (symmetric(np.inf), False, "^A contains NaN or infinity"),
        (symmetric(-np.inf), True, "^A contains infinity"),
        (symmetric(0.5, 0.5 + 1.1e-8), False, "^A must be symmetric"),
        (symmetric(1e-3, 1e-3 + 1.1e-8), False, "^A must be symmetric"),
        (symmetric(-1e6, -1e6 + 1.1e-2), False, "^A must be symmetric"),
        (symmetric(np.nan, 0.5), True, "^A must be symmetric"),
    ],
)
def test_affinities_that_are_refused(matrix, allow_nan, words):
    with pytest.raises(ValueError, match=words):
        check_affinity(matrix, 2, "A", allow_nan=allow_nan)


def test_connective_matrices_are_not_copied():
    stack = [symmetric(0.0), symmetric(1.0), symmetric(np.nan), np.full((2, 2), np.nan)]
    stack += [symmetric(-0.9e-8), symmetric(1 + 0.9e-8), np.eye(2, dtype=bool)]
    checked = check_connective_matrices(stack)
    assert all(a is b for a, b in zip(checked, stack, strict=True))
    assert len(check_connective_matrices(np.ones((3, 1, 1)))) == 3


@pytest.mark.parametrize(
    ("matrices", "error", "words"),
    [
        (3, ValueError, r"got 0 of shape \(\)"),
        ([], ValueError, r"got 0 of shape \(\)"),
        ([np.ones(2)], ValueError, r"got 1 of shape \(2,\)"),
        ([np.ones((0, 0))], ValueError, r"got 1 of shape \(0, 0\)"),
        ([symmetric(0.5), np.eye(3)], ValueError, r"matrices\[1\] must have shape \(2, 2\)"),
        ([np.eye(2), np.eye(2, dtype=complex)], TypeError, r"\[1\] must hold numbers.*complex"),
        ([np.eye(2), symmetric(-1.1e-8)], ValueError, r"\[1\].*from -1.1e-08 to 1"),
        ([symmetric(1 + 1.1e-8)], ValueError, r"\[0\] must hold probabilities between 0 and 1"),
        ([symmetric(0.5, 0.6)], ValueError, r"matrices\[0\] must be symmetric"),
    ],
)
def test_connective_matrices_that_are_refused(matrices, error, words):
    with pytest.raises(error, match=words):
        check_connective_matrices(matrices)


def test_random_states_of_numpy():
    def draw(state):
        return random_generator(state).integers(2**40)

    seed = np.random.RandomState(3).randint(0, 2**31, size=4)
    assert draw(np.random.RandomState(3)) == np.random.default_rng(seed).integers(2**40)
    before = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(3)  # noqa: NPY002
        assert draw(np.random) == np.random.default_rng(seed).integers(2**40)
    finally:
        np.random.set_state(before)  # noqa: NPY002
    generator = np.random.default_rng(5)
    assert random_generator(generator) is generator
