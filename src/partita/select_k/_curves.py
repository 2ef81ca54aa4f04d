"""The curves of one ensemble, observed or null, over the number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import BaseConsensus
from partita.consensus.nested import labels_for_parts
from partita.ensemble import Ensemble
from partita.registry import prepare
from partita.select_k._evidence import Evidence
from partita.select_k._result import CDF_POINTS
from partita.select_k._rows import AGREEMENTS, DistinctRows, agreements
from partita.select_k._shape import delta_area, eigengaps, lifetimes

__all__ = ["CRITERIA", "Clusterer", "Curves", "Judged"]

CRITERIA = (*AGREEMENTS, "stability", "pac")  # curves that have a null
RESAMPLED = (*AGREEMENTS, "stability")  # curves with a value per resample
_AMBIGUOUS = (0.1, 0.9)  # consensus values between these are neither "apart" nor "together"
_N_PAIRS = 20_000

# An ensemble, the numbers of clusters that are judged by it, and what else is judged of clusters of
# features.
Judged = tuple[Ensemble, Sequence[int], Evidence | None]

_Columns = dict[str, NDArray[np.float64]]


class Curves:
    """Curves over the number of clusters.

    Each pair of halves is drawn once for all numbers, so that the numbers are compared on the same
    resamples and share their reduction and, where the method has one, their tree or embedding.

    Parameters
    ----------
    judged : iterable of (Ensemble, sequence of int, Evidence or None)
        Ensembles, the numbers of clusters for which they are used, all ascending, and the evidence
        for clusters of the features that the ensemble was made from, if there are any.
    cluster : Clusterer
        Clusters them.
    n_resamples : int
        Number of pairs of halves. With 0, for a null only, stability and PAC are left out.
    rng : Generator
        Source of random numbers.
    is_null : bool
        Whether only the curves in `CRITERIA` are needed.
    in_full : bool
        Whether to compute all curves. Otherwise `values` has the agreements and the evidence only,
        and `complete` computes the others.

    Attributes
    ----------
    values : dict of str to array of shape (n_k,)
        The curves.
    labels : dict of int to array of shape (n_samples,)
        As in `KScan`; empty for a null.
    resamples, cdf, pac_interval
        As in `KScan`; a null has none.
    """

    def __init__(
        self,
        judged: Iterable[Judged],
        cluster: Clusterer,
        n_resamples: int,
        rng: np.random.Generator,
        *,
        is_null: bool = False,
        in_full: bool = True,
    ) -> None:
        self._cluster = cluster
        self._is_null = is_null
        self.labels: dict[int, NDArray[np.int64]] = {}
        self.values: dict[str, NDArray[np.float64]] = {}
        self._pending: list[Iterator[_Columns]] = []
        of_all, of_halves = [], []
        for each in judged:
            columns = self._judge(*each, n_resamples, rng)
            of_all.append(next(columns))
            if in_full:
                of_halves.append(next(columns))
            else:
                self._pending.append(columns)
        self.values |= _joined(of_all)
        if in_full:
            self._add(of_halves)

    @property
    def is_complete(self) -> bool:
        """Whether no curve was left out."""
        return not self._pending

    def complete(self) -> None:
        """Compute the curves that were left out."""
        if self._pending:
            self._add([next(columns) for columns in self._pending])
            self._pending = []

    def _add(self, of_halves: Sequence[_Columns]) -> None:
        """Add the curves that need halves of the partitions, and those of the shape."""
        columns = _joined(of_halves)
        if self._is_null:
            self.values |= columns
            return
        self.cdf, self.pac_interval = columns.pop("cdf"), columns.pop("pac_interval")
        self.resamples = {
            name: np.moveaxis(columns.pop(f"{name} of halves"), 0, -1) for name in RESAMPLED
        }
        self.values |= columns | {"delta_area": delta_area(self.cdf)}

    def _judge(
        self,
        ensemble: Ensemble,
        ks: Sequence[int],
        evidence: Evidence | None,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> Iterator[_Columns]:
        """Yield the curves of all partitions, and then those that need halves of them."""
        distinct = DistinctRows(ensemble)
        pairs = _pairs(ensemble.n_samples, rng) if n_resamples else None
        orders = [rng.permutation(ensemble.n_partitions) for _ in range(n_resamples)]
        halves = [
            np.asarray(half)
            for order in orders
            for half in (order[: len(order) // 2], order[len(order) // 2 :])
        ]
        # partitions that were generated are none that the user could mend
        warn = not self._is_null and evidence is None
        clusterings = self._cluster(ensemble, distinct, halves, ks, warn=warn)
        labels = next(clusterings)
        if not self._is_null:
            self.labels |= dict(zip(ks, labels, strict=True))
        means = agreements(distinct.rows, [distinct.select(each) for each in labels])
        if evidence is not None:
            means[evidence.name] = np.asarray([evidence.of(each) for each in labels])
        yield means
        if pairs is None:
            yield {}
            return
        results = list(clusterings)
        by_k = list(zip(*results, strict=True))
        stability = np.asarray([_stabilities(distinct, each) for each in by_k])
        consensus = [distinct.consensus_values(each, *pairs) for each in by_k]
        ambiguity, interval = _ambiguity(consensus)
        curves = {"stability": stability.mean(axis=1), "pac": ambiguity}
        if self._is_null:
            yield curves
            return
        of_halves = [
            agreements(distinct.half(half), each)
            for half, each in zip(halves, results, strict=True)
        ]
        resampled = {"stability of halves": stability}
        for name in AGREEMENTS:
            values = np.reshape([each[name] for each in of_halves], (n_resamples, 2, len(ks)))
            resampled[f"{name} of halves"] = np.moveaxis(values, -1, 0)
        shape = {"eigengap": eigengaps(ensemble, ks), "lifetime": lifetimes(ensemble, ks)}
        pairs_of = {"cdf": np.asarray([_cdf(c) for c in consensus]), "pac_interval": interval}
        yield curves | shape | resampled | pairs_of


class Clusterer:
    """Clusters an ensemble and parts of it into several numbers of clusters, from one seed.

    Parameters
    ----------
    method : estimator
        Consensus method.
    rng : Generator
        Draws the seed.
    advance : callable
        Called with each number of clusters of each clustering, when it is done.
    """

    def __init__(
        self, method: Any, rng: np.random.Generator, advance: Callable[[int], None]
    ) -> None:
        self._method, self._seed, self._advance = method, int(rng.integers(2**31)), advance

    def labels(self, ensemble: Ensemble, k: int) -> NDArray[np.int64]:
        """Return labels of the samples for one number alone, which counts as no progress."""
        return next(self._labels(ensemble, ensemble, [], [k], warn=False))

    def __call__(
        self,
        ensemble: Ensemble,
        distinct: DistinctRows,
        parts: Sequence[NDArray[np.int64]],
        ks: Sequence[int],
        *,
        warn: bool,
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield labels of the samples, then of the distinct rows by each part, for all K."""
        every = self._labels(ensemble, distinct.rows, parts, ks, warn=warn)
        for _ in range(1 + len(parts)):
            labels = []
            for k in ks:
                labels.append(next(every))
                self._advance(k)
            yield labels

    def _labels(
        self,
        ensemble: Ensemble,
        rows: Ensemble,
        parts: Sequence[NDArray[np.int64]],
        ks: Sequence[int],
        *,
        warn: bool,
    ) -> Iterator[NDArray[np.int64]]:
        if isinstance(self._method, BaseConsensus):
            method = prepare(self._method, None, self._seed)
            yield from labels_for_parts(method, ensemble, rows, parts, ks, warn=warn)
            return
        for table in (ensemble, *(rows.subset(partitions=part) for part in parts)):
            for k in ks:
                yield np.asarray(prepare(self._method, k, self._seed).fit_predict(table))


def _joined(columns: Sequence[_Columns]) -> _Columns:
    """Return the curves of all numbers of clusters, from those of some numbers each."""
    return {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}


def _pairs(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of different samples, or a random sample of pairs where there are many."""
    if n * (n - 1) // 2 <= _N_PAIRS:
        return np.triu_indices(n, 1)
    first = rng.integers(n, size=_N_PAIRS)
    second = (first + rng.integers(1, n, size=_N_PAIRS)) % n
    return first, second


def _stabilities(distinct: DistinctRows, results: Sequence[NDArray[np.int64]]) -> list[float]:
    """Return the adjusted Rand index of the halves that belong together, per pair."""
    pairs = zip(results[::2], results[1::2], strict=True)
    return [distinct.adjusted_rand(*pair) for pair in pairs]


def _ambiguity(
    consensus: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of ambiguous pairs for every K, and its 95 % interval."""
    low, high = _AMBIGUOUS
    pac = np.asarray([np.mean((values > low) & (values < high)) for values in consensus])
    n_pairs = len(consensus[0])
    spread = 1.96 * np.sqrt(np.maximum(pac * (1 - pac), 1 / n_pairs) / n_pairs)
    interval = np.clip([pac - spread, pac + spread], 0.0, 1.0).T
    return pac, interval


def _cdf(consensus: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.searchsorted(np.sort(consensus), CDF_POINTS, "right") / len(consensus)
