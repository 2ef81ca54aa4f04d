"""The consensus for several numbers of clusters; what the numbers share is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partita._numbering import number_by_appearance
from partita._warn import warn_user
from partita.consensus.base import BaseConsensus
from partita.ensemble import as_ensemble

__all__ = ["labels_for_each"]


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
    method._validate_params()
    core = method._reduce(as_ensemble(partitions))
    method._check_missing(core)
    inner = [k for k in numbers if k < core.n_rows]
    if inner:
        clone(method).set_params(n_clusters=max(inner))._check_memory(core)
    if warn and (beyond := [k for k in numbers if k > core.n_rows]):
        warn_user(
            f"{type(method).__name__} returns {core.n_rows} clusters for n_clusters="
            f"{_described(beyond)}: the ensemble has only {core.n_rows} distinct rows."
        )
    solutions = method._solve_each(core, inner)
    for k in numbers:
        solution = next(solutions) if k < core.n_rows else method._solve_trivial(core)
        labels, n_clusters = number_by_appearance(core.expand(solution.labels))
        if warn and n_clusters != k and k <= core.n_rows:
            warn_user(
                f"{type(method).__name__} returned {n_clusters} clusters instead of n_clusters={k} "
                f"for {core.n_rows} distinct rows."
            )
        yield labels


def _described(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, many of them by the first and the last."""
    if len(numbers) < 4:
        return ", ".join(map(str, numbers))
    return f"{numbers[0]}, ..., {numbers[-1]}"
