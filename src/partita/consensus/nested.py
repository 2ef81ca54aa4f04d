"""The consensus for several numbers of clusters; what the numbers share is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partita._numbering import number_by_appearance
from partita._warn import warn_user
from partita.consensus.base import BaseConsensus, below
from partita.ensemble import Ensemble, as_ensemble

__all__ = ["labels_for_each", "labels_for_parts"]


def labels_for_each(
    method: BaseConsensus, partitions: Any, numbers: Sequence[int], *, warn: bool = True
) -> Iterator[NDArray[np.int64]]:
    """Yield the consensus of one ensemble for each of several numbers of clusters.

    The distinct rows are determined once. A linkage method builds one tree, `LWGP` and `CCGP` one
    embedding, and each number is another cut; a method without such a nesting solves each number
    by itself. Only the k-means of these two differs from that of `fit`: it gives up restarts that
    fall behind.

    Parameters
    ----------
    method : BaseConsensus
        Consensus method with the parameter `n_clusters`, which is not used.
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    numbers : sequence of int
        Numbers of clusters, ascending. A number above that of the distinct rows gives one cluster
        for each of these, and one warning.
    warn : bool, default=True
        Whether to warn of another number of clusters. A scan does so for the partitions of the
        user, not for halves of them and null ensembles.

    Yields
    ------
    array of shape (n_samples,)
        Cluster of every sample, numbered by first appearance; -1 only for samples without any
        label.
    """
    ensemble = as_ensemble(partitions)
    yield from labels_for_parts(method, ensemble, ensemble, [], numbers, warn=warn)


def labels_for_parts(
    method: BaseConsensus,
    ensemble: Ensemble,
    rows: Ensemble,
    subsets: Sequence[NDArray[np.int64]],
    numbers: Sequence[int],
    *,
    warn: bool = True,
) -> Iterator[NDArray[np.int64]]:
    """Yield the consensus of an ensemble, and of subsets of its partitions, for several numbers.

    `LWGP` and `CCGP` compute the certainty of clusters once for all subsets.

    Parameters
    ----------
    method, numbers
        As in `labels_for_each`.
    ensemble : Ensemble
        The base partitions.
    rows : Ensemble
        Their distinct rows as samples with weights, in the order of `ensemble.compress()`. Not used
        without subsets.
    subsets : sequence of arrays of indices
        Columns of `rows`.
    warn : bool, default=True
        Whether to warn of another number of clusters; never for a subset.

    Yields
    ------
    array
        Cluster of every sample for each number, and then, for every subset and number, of every
        row of `rows`.
    """
    method._validate_params()
    core = method._reduce(ensemble)
    method._check_missing(core)
    if inner := below(core, numbers):
        clone(method).set_params(n_clusters=max(inner))._check_memory(core)
    if warn and (beyond := [k for k in numbers if k > core.n_rows]):
        warn_user(
            f"{type(method).__name__} returns {core.n_rows} clusters for n_clusters="
            f"{_described(beyond)}: the ensemble has only {core.n_rows} distinct rows."
        )
    parts = method._solve_parts(core, rows, subsets, numbers)
    for part, solutions in parts:
        for k in numbers:
            solution = next(solutions) if k < part.n_rows else method._solve_trivial(part)
            labels, n_clusters = number_by_appearance(part.expand(solution.labels))
            if warn and n_clusters != k and k <= part.n_rows:
                warn_user(
                    f"{type(method).__name__} returned {n_clusters} clusters instead of "
                    f"n_clusters={k} for {part.n_rows} distinct rows."
                )
            yield labels
        warn = False


def _described(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, many of them by the first and the last."""
    if len(numbers) < 4:
        return ", ".join(map(str, numbers))
    return f"{numbers[0]}, ..., {numbers[-1]}"
