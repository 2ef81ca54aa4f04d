"""`modes`: groups of partitions that tell different stories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._input.checks import random_generator
from partita.alignment import align_labels
from partita.ensemble import Ensemble, as_ensemble
from partita.metrics import adjusted_rand
from partita.registry import prepare
from partita.structure._partition_groups import (
    chance_agreement,
    group_partitions,
    nested_agreement,
    shuffle_within,
)

__all__ = ["Modes", "modes"]

_COMPARED_SAMPLES = 2000  # partitions are compared on so many samples of a larger ensemble
_LEAST_COMPARED = 4  # partitions
_LEAST_SEPARATION = 0.05  # of groups that are modes


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Groups of partitions by agreement, with a consensus each. Made by `modes`.

    Attributes
    ----------
    mode_of : array of shape (n_partitions,)
        Mode of each partition, the largest mode first; -1 for a partition that agrees with none or
        has one cluster only.
    labels : list of arrays of shape (n_samples,)
        Consensus of the partitions of each mode, its clusters named after those of the first.
    agreement : array of shape (n_partitions, n_partitions)
        Agreement of the partitions: 1 if one refines the other, 0 by chance.
    separation : float
        Separation of the best grouping, 0 to 1, also if it is not accepted.
    p_value : float
        Share of the ensembles of one mode with a separation at least as large.
    differences : list of dict
        One dictionary per pair of modes: ``mode``, ``other``, ``n_moved`` and ``share_moved`` (the
        samples in different clusters, after the best matching of names) and ``adjusted_rand``.
    partition_names : list
        Names of the partitions; 0, 1, ... if they have none.
    """

    mode_of: NDArray[np.int64]
    labels: list[NDArray[np.int64]]
    agreement: NDArray[np.float64]
    separation: float
    p_value: float
    differences: list[dict[str, Any]]
    partition_names: list[Any]

    @property
    def n_modes(self) -> int:
        """Number of modes; 1 if all partitions tell the same story."""
        return len(self.labels)

    def moved_samples(self, mode: int = 0, other: int = 1) -> NDArray[np.int64]:
        """Return the samples that are in different clusters in two modes.

        Parameters
        ----------
        mode : int, default=0
            Number of a mode.
        other : int, default=1
            Number of the mode to compare with.
        """
        return _moved(self.labels[mode], self.labels[other])

    def to_frame(self) -> Any:
        """Return a data frame with one row per partition: its mode and its mean agreement.

        `within` is the mean agreement with the other partitions of its mode, `between` that with
        the partitions of other modes. Of the first of pandas, polars and pyarrow that is
        installed; if none is, a list of dictionaries.
        """
        return frame_of_records(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per partition, with the columns of `to_frame`."""
        records = []
        for i, name in enumerate(self.partition_names):
            same = (self.mode_of == self.mode_of[i]) & (np.arange(len(self.mode_of)) != i)
            others = (self.mode_of >= 0) & (self.mode_of != self.mode_of[i])
            within = self.agreement[i, same].mean() if same.any() else np.nan
            between = self.agreement[i, others].mean() if others.any() else np.nan
            records.append(
                {
                    "partition": name,
                    "mode": int(self.mode_of[i]),
                    "within": float(within) if self.mode_of[i] >= 0 else float("nan"),
                    "between": float(between),
                }
            )
        return records

    def _repr_html_(self) -> str:
        return html_of_records(self.records(), caption=repr(self).splitlines()[0])

    def __repr__(self) -> str:
        grouping = f"separation {self.separation:.2f}, p = {self.p_value:.2g}"
        if self.n_modes == 1:
            return f"One mode: the partitions do not disagree in groups ({grouping})"
        sizes = np.bincount(self.mode_of[self.mode_of >= 0])
        lines = [f"{self.n_modes} modes of {', '.join(map(str, sizes))} partitions ({grouping})"]
        for pair in self.differences:
            lines.append(
                f"  modes {pair['mode']} and {pair['other']}: {pair['n_moved']} samples "
                f"({pair['share_moved']:.0%}) move, ARI {pair['adjusted_rand']:.2f}"
            )
        if n_alone := int(np.count_nonzero(self.mode_of < 0)):
            lines.append(f"  {n_alone} partitions agree with no mode")
        return "\n".join(lines)


def modes(
    partitions: Any,
    n_clusters: int | None = None,
    *,
    method: Any = "ccgp",
    alpha: float = 0.05,
    random_state: Any = None,
) -> Modes:
    """Find groups of partitions that disagree with each other, and the consensus of each group.

    The agreement of two partitions is their mutual information divided by the smaller entropy,
    corrected for chance: a partition agrees with its refinements, so that different numbers of
    clusters are no disagreement. The distance of two partitions is 1 minus the cosine of their
    agreements with the others (with 0.01 added to the squared lengths, so that chance counts as
    none), and average linkage groups them. The separation of groups is the
    mean over the partitions of the distance to the next group minus that to the own group. Groups
    of three partitions or more are modes if their separation is at least 0.05 and larger than in
    ensembles of one mode. These are made by permuting the labels of every partition within the
    clusters of the consensus of all: each partition agrees with that consensus as before, and the
    partitions share nothing beyond it.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. All samples count alike.
    n_clusters : int, optional
        Number of clusters of each consensus. By default the median number of clusters of the
        partitions that it combines.
    method : str, class or estimator, default="ccgp"
        Consensus method.
    alpha : float, default=0.05
        Probability that partitions of one mode are grouped.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations and of a method that has none.

    Returns
    -------
    Modes
        Mode of each partition, a consensus for each mode, and what differs.

    Notes
    -----
    The partitions are compared on at most 2,000 samples: O(m²) time for m partitions beside the fit
    of the method. Two partitions are compared on the samples that both label.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.structure import modes
    >>> rows, columns = np.repeat(np.arange(3), 30), np.tile(np.arange(3), 30)
    >>> result = modes([rows] * 4 + [columns] * 3, random_state=0)
    >>> result.n_modes, result.mode_of
    (2, array([0, 0, 0, 0, 1, 1, 1]))
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be a level between 0 and 1 (both excluded), got {alpha!r}.")
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError(
            "Expected an ensemble with one row per sample, got a compressed one. Pass the ensemble "
            "that `compress` was called on."
        )
    rng = random_generator(random_state)
    seed = int(rng.integers(2**31))
    compared, columns = _compared_part(ensemble, rng)
    groups, separation, p_value = np.zeros(len(columns), np.int64), 0.0, 1.0
    agreement = np.eye(ensemble.n_partitions)
    if compared is not None:
        pooled = _consensus(compared, n_clusters, method, seed)
        groups, between, separation, p_value = _test(compared, pooled, alpha, rng)
        agreement[np.ix_(columns, columns)] = between
    mode_of = np.full(ensemble.n_partitions, -1)
    mode_of[columns] = groups
    mode_of = _by_size(mode_of)
    place = np.argsort(ensemble.partition_order)
    consensus: list[NDArray[np.int64]] = []
    for mode in range(int(mode_of.max(initial=0)) + 1):
        own = place[mode_of == mode] if (mode_of == mode).any() else place
        part = ensemble if len(own) == len(place) else ensemble.subset(partitions=own)
        labels = _consensus(part, n_clusters, method, seed)
        consensus.append(align_labels(consensus[0], labels).labels if consensus else labels)
    names = ensemble.partition_names
    return Modes(
        mode_of=mode_of,
        labels=consensus,
        agreement=agreement,
        separation=separation,
        p_value=p_value,
        differences=_differences(consensus),
        partition_names=list(range(len(mode_of))) if names is None else list(names[place]),
    )


def _compared_part(
    ensemble: Ensemble, rng: np.random.Generator
) -> tuple[Ensemble | None, NDArray[np.int64]]:
    """Return the samples and partitions to compare, and the positions of these partitions.

    The samples are those of the canonical order, so that the order of the user's rows does not
    matter. Partitions with one cluster are left out. None if fewer than four partitions remain.
    """
    rows = ensemble.compress()
    inverse = np.asarray(rows.inverse)
    samples = np.sort(inverse[inverse >= 0])
    if len(samples) > _COMPARED_SAMPLES:
        samples = np.sort(rng.choice(samples, _COMPARED_SAMPLES, replace=False))
    codes = rows.codes[samples]
    is_divided = [len(np.unique(column[column != rows.missing_code])) > 1 for column in codes.T]
    columns = np.flatnonzero(is_divided)
    part = None
    if len(columns) >= _LEAST_COMPARED:
        layout = rows.layout.select(columns)
        part = Ensemble.from_codes(codes[:, columns], layout, unlabeled="keep")
    return part, rows.partition_order[columns]


def _test(
    part: Ensemble, pooled: NDArray[np.int64], alpha: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], float, float]:
    """Return the groups, the agreement, the separation and its p-value."""
    partition = np.repeat(np.arange(part.n_partitions), part.n_clusters)
    clusters = np.where(part.observed, part.codes.astype(np.int64) + part.offsets[:-1], -1)
    chance = chance_agreement(clusters, partition, rng)
    agreement = nested_agreement(clusters, partition, chance)
    groups, separation = group_partitions(agreement)
    n_null = max(19, int(np.ceil(1 / alpha - 1e-9)) - 1)
    n_as_good = 0
    for _ in range(n_null if separation >= _LEAST_SEPARATION else 0):
        null = nested_agreement(shuffle_within(clusters, pooled, rng), partition, chance)
        n_as_good += group_partitions(null)[1] >= separation
    p_value = (1 + n_as_good) / (n_null + 1) if separation >= _LEAST_SEPARATION else 1.0
    if p_value > alpha:
        groups = np.zeros(len(groups), np.int64)
    return groups, agreement, separation, p_value


def _consensus(
    ensemble: Ensemble, n_clusters: int | None, method: Any, seed: int
) -> NDArray[np.int64]:
    k = n_clusters or min(max(2, int(np.median(ensemble.n_clusters))), ensemble.n_samples)
    labels: NDArray[np.int64] = prepare(method, k, seed).fit(ensemble).labels_
    return labels


def _by_size(mode_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number modes by decreasing number of partitions, then by first appearance."""
    names, first, sizes = np.unique(mode_of[mode_of >= 0], return_index=True, return_counts=True)
    rank = {int(names[k]): r for r, k in enumerate(np.lexsort((first, -sizes)))}
    return np.array([rank.get(int(mode), -1) for mode in mode_of], np.int64)


def _differences(consensus: list[NDArray[np.int64]]) -> list[dict[str, Any]]:
    records = []
    for mode, own in enumerate(consensus):
        for other in range(mode + 1, len(consensus)):
            both = (own >= 0) & (consensus[other] >= 0)
            n_moved = len(_moved(own, consensus[other]))
            records.append(
                {
                    "mode": mode,
                    "other": other,
                    "n_moved": n_moved,
                    "share_moved": n_moved / max(int(both.sum()), 1),
                    "adjusted_rand": adjusted_rand(own[both], consensus[other][both]),
                }
            )
    return records


def _moved(labels: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    aligned = align_labels(labels, other).labels
    return np.flatnonzero((labels >= 0) & (aligned >= 0) & (labels != aligned))
