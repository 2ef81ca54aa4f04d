"""Checks of the labels: what they must be, and which changes of the input must not change them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from partita.consensus import BaseConsensus
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.exceptions import NotSupportedError
from partita.registry import prepare
from partita.testing._ensembles import contested_partitions, rename_labels

__all__ = [
    "SEED",
    "check_containers_agree",
    "check_equal_rows_stay_together",
    "check_missing_labels",
    "check_permuted_columns",
    "check_planted_partition",
    "check_reduction_is_exact",
    "check_renamed_labels",
    "check_repeated_rows_are_weights",
    "check_shuffled_rows",
    "check_unanimity",
    "check_unlabeled_samples",
]

SEED = 7  # of every method under test


def _fit_predict(estimator: BaseConsensus, partitions: Any) -> NDArray[np.int64]:
    """Return the labels of a seeded clone with three clusters."""
    labels: NDArray[np.int64] = prepare(estimator, 3, SEED).fit_predict(partitions)
    return labels


def _assert_same_partition(labels: NDArray[Any], expected: NDArray[Any], change: str) -> None:
    agreement = adjusted_rand_score(expected, labels)
    assert agreement > 1.0 - 1e-12, f"{change} changed the partition (ARI {agreement:.4f})"


def _tables(estimator: BaseConsensus) -> list[NDArray[np.int64]]:
    """Return an easy table and, for deterministic methods, a hard one.

    On a hard table the labels of a randomized method may depend on the order of the rows.
    """
    easy = make_partitions(noise=0.05)[0]
    hard = make_partitions(40, 7, 4, noise=0.4, random_state=3)[0]
    return [easy, hard] if estimator.info.deterministic else [easy]


def check_unanimity(estimator: BaseConsensus) -> None:
    """Equal partitions must be returned unchanged."""
    y = np.repeat([0, 1, 2], [5, 9, 16])
    partitions = rename_labels(np.tile(y[:, None], 6), np.random.default_rng(0))
    labels = _fit_predict(estimator, partitions)
    _assert_same_partition(labels, y, "Fusing equal partitions")


def check_planted_partition(estimator: BaseConsensus) -> None:
    """Planted clusters must be recovered from slightly noisy partitions.

    The planted clusters have equal sizes if `info.balanced` says that the method needs that.
    """
    partitions, y = make_partitions(noise=0.05, balanced=estimator.info.balanced)
    agreement = adjusted_rand_score(y, _fit_predict(estimator, partitions))
    assert agreement > 0.9, f"planted clusters were not recovered: ARI {agreement:.3f}"


def check_shuffled_rows(estimator: BaseConsensus) -> None:
    """The order of the samples must not matter."""
    rng = np.random.default_rng(1)
    for partitions in _tables(estimator):
        order = rng.permutation(len(partitions))
        before = _fit_predict(estimator, partitions)
        after = _fit_predict(estimator, partitions[order])
        _assert_same_partition(after, before[order], "Shuffling rows")


def check_renamed_labels(estimator: BaseConsensus) -> None:
    """The names of the clusters must not matter."""
    rng = np.random.default_rng(2)
    for partitions in _tables(estimator):
        before = _fit_predict(estimator, partitions)
        for renamed in (rename_labels(partitions, rng), partitions.max() - partitions):
            after = _fit_predict(estimator, renamed)
            _assert_same_partition(after, before, "Renaming labels")


def check_permuted_columns(estimator: BaseConsensus) -> None:
    """The order of the partitions must not matter."""
    rng = np.random.default_rng(3)
    for partitions in _tables(estimator):
        before = _fit_predict(estimator, partitions)
        after = _fit_predict(estimator, partitions[:, rng.permutation(partitions.shape[1])])
        _assert_same_partition(after, before, "Permuting columns")


def check_repeated_rows_are_weights(estimator: BaseConsensus) -> None:
    """A row of weight three must count as three equal rows."""
    partitions, _ = make_partitions(30, 8, noise=0.1)
    times = np.random.default_rng(4).integers(1, 4, size=len(partitions))
    repeated = _fit_predict(estimator, np.repeat(partitions, times, axis=0))
    weighted = _fit_predict(estimator, Ensemble.from_partitions(partitions, weights=times))
    _assert_same_partition(np.repeat(weighted, times), repeated, "Weights instead of equal rows")


def check_reduction_is_exact(estimator: BaseConsensus) -> None:
    """`_solve` must give the same labels for weighted distinct rows and for repeated rows.

    The check uses a table on which a method that ignores the weights gives other labels. Methods
    with `info.weighted=False` are not checked.
    """
    if not estimator.info.weighted:
        return
    partitions, weights = contested_partitions()
    core = Ensemble.from_partitions(partitions, weights=weights).compress()
    times = core.weights.astype(np.int64)
    repeated = replace(
        core,
        codes=np.repeat(core.codes, times, axis=0),
        weights=np.ones(times.sum()),
        inverse=np.arange(times.sum()),
    )
    reduced_labels, labels = (
        prepare(estimator, 2, SEED)._solve(ensemble, np.random.default_rng(SEED)).labels
        for ensemble in (core, repeated)
    )
    _assert_same_partition(np.repeat(reduced_labels, times), labels, "Reducing to distinct rows")


def check_equal_rows_stay_together(estimator: BaseConsensus) -> None:
    """Samples with the same labels in all partitions must get the same label."""
    partitions, _ = make_partitions(90, 4, noise=0.3)
    labels = _fit_predict(estimator, partitions)
    _, row = np.unique(partitions, axis=0, return_inverse=True)
    row = row.reshape(-1)
    for i in range(row.max() + 1):
        clusters = np.unique(labels[row == i])
        assert len(clusters) == 1, f"equal rows were put into clusters {clusters}"


def check_missing_labels(estimator: BaseConsensus) -> None:
    """Missing labels must be used, or refused with `NotSupportedError`, as `info.missing` says."""
    partitions, y = make_partitions(
        80, 15, noise=0.03, missing_ratio=0.2, balanced=estimator.info.balanced
    )
    if estimator.info.missing == "refused":
        try:
            _fit_predict(estimator, partitions)
        except NotSupportedError:
            return
        raise AssertionError(
            'info.missing is "refused", but fit with missing labels raised no NotSupportedError'
        )
    labels = _fit_predict(estimator, partitions)
    assert labels.min() >= 0, "a sample with labels got no cluster (-1)"
    agreement = adjusted_rand_score(y, labels)
    assert agreement > 0.8, (
        f"planted clusters were not recovered from partitions with missing labels: "
        f"ARI {agreement:.3f}"
    )
    with_nan = np.where(partitions < 0, np.nan, partitions.astype(float))
    _assert_same_partition(_fit_predict(estimator, with_nan), labels, "NaN instead of -1")
    order = np.random.default_rng(5).permutation(len(partitions))
    shuffled = _fit_predict(estimator, partitions[order])
    _assert_same_partition(shuffled, labels[order], "Shuffling rows with missing labels")


def check_unlabeled_samples(estimator: BaseConsensus) -> None:
    """Samples without any label must get -1 and must not change the other labels."""
    partitions, _ = make_partitions(noise=0.05)
    extended = np.insert(partitions, [0, 7, 7, len(partitions)], -1, axis=0)
    is_unlabeled = (extended < 0).all(axis=1)
    labels = _fit_predict(estimator, Ensemble.from_partitions(extended, unlabeled="keep"))
    assert np.all(labels[is_unlabeled] == -1), "a sample without any label got a cluster"
    np.testing.assert_array_equal(labels[~is_unlabeled], _fit_predict(estimator, partitions))


def check_containers_agree(estimator: BaseConsensus) -> None:
    """All containers of the same partitions must give the same labels."""
    partitions, _ = make_partitions()
    expected = _fit_predict(estimator, partitions)
    containers = {
        "a list of vectors": list(partitions.T),
        "strings": partitions.astype(str),
        "floats": partitions.astype(float),
        "an Ensemble": Ensemble.from_partitions(partitions),
        "a compressed Ensemble": Ensemble.from_partitions(partitions).compress(),
    }
    for name, container in containers.items():
        labels = _fit_predict(estimator, container)
        np.testing.assert_array_equal(labels, expected, err_msg=f"{name} instead of an array")
