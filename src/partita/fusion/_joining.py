"""Partitions of two tables as one ensemble."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.exceptions import InvalidEnsembleError

__all__ = ["join_partitions"]


def join_partitions(first: Ensemble, second: Ensemble) -> Ensemble:
    """Return the partitions of both, with the samples and weights of the first.

    Samples are matched by id if both have ids, and a sample that the second does not have has no
    label in its partitions. Names of partitions are kept if both have names.
    """
    rows = _places(first, second)
    old_names, new_names = _names(first), _names(second)
    new_labels = np.full((first.n_samples, second.n_partitions), -1, np.int64)
    new_labels[rows] = _labels(second)
    return Ensemble.from_partitions(
        np.concatenate([_labels(first), new_labels], axis=1),
        weights=first.weights,
        partition_names=[*old_names, *new_names] if old_names and new_names else None,
        sample_ids=first.sample_ids,
        unlabeled="keep",
    )


def _places(first: Ensemble, second: Ensemble) -> NDArray[np.int64]:
    """Return where the samples of the second are in the first."""
    if first.sample_ids is None or second.sample_ids is None:
        if first.n_samples != second.n_samples:
            raise InvalidEnsembleError(
                f"Expected new partitions of {first.n_samples} samples, got {second.n_samples}. "
                "Pass the same samples in the same order, with -1 where a label is missing."
            )
        return np.arange(first.n_samples)
    place = {str(sample): i for i, sample in enumerate(first.sample_ids.tolist())}
    ids = [str(sample) for sample in second.sample_ids.tolist()]
    if unknown := [sample for sample in ids if sample not in place]:
        raise InvalidEnsembleError(
            f"{len(unknown)} samples of the new partitions are not in the old ones, first "
            f"{unknown[0]!r}. Leave them out, or fuse all partitions anew."
        )
    return np.asarray([place[sample] for sample in ids], np.int64)


def _names(ensemble: Ensemble) -> list[str]:
    """Return the names of the partitions in the order of the user's table; empty without names."""
    if ensemble.partition_names is None:
        return []
    return [str(ensemble.partition_names[i]) for i in np.argsort(ensemble.partition_order)]


def _labels(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return codes of all samples in the order of the user's table, -1 for a missing label."""
    codes = np.where(ensemble.observed, ensemble.codes.astype(np.int64), -1)
    return np.asarray(ensemble.expand(codes[:, np.argsort(ensemble.partition_order)]))
