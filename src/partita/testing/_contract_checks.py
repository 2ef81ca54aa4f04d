"""Checks of the contract: attributes, parameters, random numbers, memory and side effects."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from partita.config import Progress, config_context
from partita.consensus import BaseConsensus
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.registry import prepare
from partita.testing._label_checks import SEED

__all__ = [
    "check_interruption",
    "check_memory_budget",
    "check_n_clusters_bounds",
    "check_no_side_effects",
    "check_pickle_clone_refit",
    "check_random_state_parameter",
    "check_result_attributes",
    "check_same_seed_same_labels",
]


def _prepared(estimator: BaseConsensus, n_clusters: int = 3) -> Any:
    return prepare(estimator, n_clusters, SEED)


def check_result_attributes(estimator: BaseConsensus) -> None:
    """Exactly `n_clusters` clusters, numbered by first appearance, and all attributes set."""
    partitions, _ = make_partitions(noise=0.2)
    method = _prepared(estimator).fit(partitions)
    labels = method.labels_
    assert labels.shape == (len(partitions),)
    assert labels.dtype.kind == "i"
    _, first = np.unique(labels, return_index=True)
    assert np.all(np.diff(first) > 0), "clusters are not numbered by first appearance"
    assert method.n_clusters_ == len(first), "n_clusters_ is not the number of clusters"
    if getattr(method, "n_clusters", None) is not None:
        assert method.n_clusters_ == 3, f"{method.n_clusters_} clusters instead of 3"
    for name, kind in (("n_iter_", int), ("converged_", bool), ("objective_", float)):
        value = getattr(method, name)
        assert isinstance(value, kind), f"{name} must be a {kind.__name__}, got {value!r}"


def check_n_clusters_bounds(estimator: BaseConsensus) -> None:
    """`n_clusters` from 1 to the number of samples must be accepted, others must be refused.

    More clusters than distinct rows are impossible; a warning must say so.
    """
    if "n_clusters" not in estimator.get_params():
        return
    partitions, _ = make_partitions(20, 5)
    assert _prepared(estimator, 1).fit(partitions).n_clusters_ == 1
    for invalid in (0, -1, len(partitions) + 1):
        try:
            _prepared(estimator, invalid).fit(partitions)
        except ValueError:
            continue
        raise AssertionError(f"n_clusters={invalid} was accepted for {len(partitions)} samples")
    n_distinct = len(np.unique(partitions, axis=0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method = _prepared(estimator, len(partitions)).fit(partitions)
    assert method.n_clusters_ == n_distinct
    if n_distinct < len(partitions):
        assert any("distinct rows" in str(w.message) for w in caught), (
            "no warning says that there are fewer distinct rows than clusters"
        )


def check_same_seed_same_labels(estimator: BaseConsensus) -> None:
    """The same seed must give the same labels on one thread and on two."""
    partitions, _ = make_partitions(300, 10, noise=0.3)
    with config_context(n_threads=1):
        one = _prepared(estimator).fit_predict(partitions)
    with config_context(n_threads=2):
        two = _prepared(estimator).fit_predict(partitions)
    np.testing.assert_array_equal(one, two)


def check_random_state_parameter(estimator: BaseConsensus) -> None:
    """A method must have `random_state` if and only if `info.deterministic` is False."""
    has_seed = "random_state" in estimator.get_params()
    assert has_seed != estimator.info.deterministic, (
        f"info.deterministic is {estimator.info.deterministic}, but the method has "
        f"{'a' if has_seed else 'no'} parameter random_state"
    )


def check_no_side_effects(estimator: BaseConsensus) -> None:
    """`fit` must not change its input, the parameters or NumPy's global random state."""
    partitions, _ = make_partitions()
    copied = partitions.copy()
    method = _prepared(estimator)
    parameters = copy.deepcopy(method.get_params())
    original = np.random.get_state()  # noqa: NPY002
    np.random.seed(20240229)  # noqa: NPY002  (a seed that no method would set)
    try:
        before = np.random.get_state()  # noqa: NPY002
        method.fit(partitions)
        after = np.random.get_state()  # noqa: NPY002
    finally:
        np.random.set_state(original)  # noqa: NPY002
    np.testing.assert_array_equal(partitions, copied)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)), (
        "fit changed NumPy's global random state; use the argument `rng` of `_solve`"
    )
    assert str(method.get_params()) == str(parameters), "fit changed a parameter"


def check_pickle_clone_refit(estimator: BaseConsensus) -> None:
    """Pickling must keep the labels, and a second fit must not depend on the first."""
    first, _ = make_partitions(random_state=1)
    second, _ = make_partitions(50, 9, random_state=2)
    method = _prepared(estimator).fit(first)
    restored = pickle.loads(pickle.dumps(method))
    np.testing.assert_array_equal(restored.labels_, method.labels_)
    fresh = clone(method).fit_predict(second)
    np.testing.assert_array_equal(method.fit_predict(second), fresh)


def check_memory_budget(estimator: BaseConsensus) -> None:
    """`fit` must compare `info.bytes_needed` with the memory budget before it computes anything.

    The error must name the bytes that are needed and the methods that fit.
    """
    partitions, _ = make_partitions()
    with config_context(memory_budget=1):
        try:
            _prepared(estimator).fit(partitions)
        except MemoryBudgetError as error:
            message = str(error)
        else:
            raise AssertionError("fit with a memory budget of one byte raised no error")
    assert " bytes)" in message, "the error does not say how much memory is needed"
    assert "Methods that would fit: " in message, "the error does not name methods that would fit"


def check_interruption(estimator: BaseConsensus) -> None:
    """An interruption during a progress report must reach the caller."""
    partitions, _ = make_partitions()
    steps = []

    def interrupt(step: Progress) -> None:
        steps.append(step)
        raise KeyboardInterrupt

    with config_context(progress=interrupt):
        try:
            _prepared(estimator).fit(partitions)
        except KeyboardInterrupt:
            return
    assert not steps, "fit caught a KeyboardInterrupt"
