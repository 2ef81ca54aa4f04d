"""Choosing the number of clusters against a null, and saying so when there is nothing to choose.

The consensus is computed for every K on the ensemble, on random halves of its partitions, and on
null ensembles in which the partitions have nothing in common (labels) or come from data without
clusters (features). A curve of K means nothing by itself: consensus matrices look clean for noise
too. What counts is the gain over the null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t
from sklearn.base import clone

from partita._input.checks import random_generator
from partita._linalg import svd
from partita.config import report_progress
from partita.consensus import EAC
from partita.diagnostics import confidence_and_margin
from partita.ensemble import Ensemble, as_ensemble
from partita.generators import RandomRows
from partita.matrices import cluster_certainty
from partita.matrices.label_graph import LabelGraph
from partita.metrics import adjusted_rand
from partita.registry import prepare
from partita.solvers.transfer_cut import transfer_cut_embedding

__all__ = ["KScan", "scan_k", "scan_k_features"]

_AMBIGUOUS = (0.1, 0.9)  # consensus values that are neither "apart" nor "together"
_BINS = 100
_N_PAIRS = 20_000
_LIFETIME_ROWS = 5_000  # beyond this many distinct rows the n' x n' tree is not grown
_FALSE_ALARM = 0.01
_CRITERIA = ("separation", "stability", "item_consensus", "pac")


EnsembleFor = Callable[[int], Ensemble]  # the partitions by which K clusters are judged


@dataclass(frozen=True)
class KScan:
    """Curves over the number of clusters, and what they suggest. Made by `scan_k`.

    Attributes
    ----------
    k : array of shape (n_k,)
    best_k : int or None
        The smallest K whose gain is within one standard error of the best; None where the null
        itself reaches such gains in more than one scan of a hundred.
    curves : dict of arrays of shape (n_k,)
        "separation": mean over the samples of the item consensus with the own cluster minus that
        with the next, which merged clusters lower at one end and split ones at the other;
        "stability": mean adjusted Rand index between the consensus of
        two disjoint halves of the partitions; "item_consensus"; "pac": share of pairs of samples
        that the halves' results join neither nearly always nor nearly never; "delta_area";
        "eigengap"; "lifetime" (NaN where the ensemble is too large for a tree).
    null_mean, null_std : dicts of arrays of shape (n_k,)
        The same for the null ensembles, for the four curves that have a null.
    gain, standard_error : arrays of shape (n_k,)
        Separation minus its null mean, and its standard error over halves and nulls.
    pac_interval : array of shape (n_k, 2)
        95 % interval of the PAC from sampled pairs.
    cdf : array of shape (n_k, 101)
        Distribution of the consensus values of pairs, at `cdf_at`.
    labels : dict
        The consensus for every K.
    criterion : str
    """

    k: NDArray[np.int64]
    best_k: int | None
    curves: dict[str, NDArray[np.float64]]
    null_mean: dict[str, NDArray[np.float64]]
    null_std: dict[str, NDArray[np.float64]]
    gain: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    pac_interval: NDArray[np.float64]
    cdf: NDArray[np.float64]
    labels: dict[int, NDArray[np.int64]] = field(repr=False)
    criterion: str = "separation"

    @property
    def cdf_at(self) -> NDArray[np.float64]:
        return np.linspace(0.0, 1.0, _BINS + 1)

    def records(self) -> list[dict[str, float]]:
        """One row per K: curves, nulls, gain and standard error."""
        return [
            {"k": int(k)}
            | {name: float(curve[j]) for name, curve in self.curves.items()}
            | {f"null_{name}": float(curve[j]) for name, curve in self.null_mean.items()}
            | {"gain": float(self.gain[j]), "standard_error": float(self.standard_error[j])}
            for j, k in enumerate(self.k)
        ]

    def __str__(self) -> str:
        lines = [f"{'K':>4} {self.criterion:>12} {'null':>8} {'gain':>8} {'s.e.':>8}"]
        for j, k in enumerate(self.k):
            values = (self.curves[self.criterion][j], self.null_mean[self.criterion][j])
            mark = "  <- suggested" if k == self.best_k else ""
            lines.append(
                f"{k:>4} {values[0]:>12.3f} {values[1]:>8.3f} {self.gain[j]:>8.3f} "
                f"{self.standard_error[j]:>8.3f}{mark}"
            )
        if self.best_k is None:
            lines.append("No structure found: no K does better than the null.")
        return "\n".join(lines)


def scan_k(
    labels: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    consensus: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of a table of labels.

    The null keeps every partition as it is but gives its labels to the samples in random order,
    each partition in its own: cluster sizes stay, agreement goes.

    Parameters
    ----------
    labels : label matrix, data frame, list of vectors, or Ensemble
    k_range : iterable of int
        Numbers of clusters, at least 2.
    consensus : consensus method, optional
        `LWGP()` by default; its `n_clusters` is set.
    n_resamples : int
        Pairs of disjoint halves of the partitions.
    n_null : int
        Null ensembles.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    KScan
        Cost: (1 + 2 n_resamples + n_null) fits per K.

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.datasets import make_partitions
    >>> labels, truth = make_partitions(90, 20, 3, noise=0.2)
    >>> scan_k(labels, range(2, 6), n_resamples=5, n_null=5, random_state=0).best_k
    3
    """
    ensemble = _one_row_per_sample(labels)
    rng = random_generator(random_state)

    def null(child: np.random.Generator) -> EnsembleFor:
        permuted = _permuted(ensemble, child)
        return lambda k: permuted

    return _scan(lambda k: ensemble, null, k_range, consensus, n_resamples, n_null, rng)


def scan_k_features(
    X: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    generator: Any = None,
    consensus: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of features.

    For every K the generator makes partitions into K clusters. k-means cuts a cloud without
    clusters into the same slices every time: partitions of noise agree with each other, and
    shuffled labels are too weak a null. Here the null ensembles come from the same generator on
    reference data, uniform in the box of X's principal axes.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    k_range, consensus, n_resamples, n_null, random_state
        As in `scan_k`.
    generator : generator of partitions with parameters k_min and k_max, optional
        `RandomRows(n_partitions=40, ratio=0.8)` by default: k-means on samples of the rows.

    Returns
    -------
    KScan

    References
    ----------
    R. Tibshirani, G. Walther, T. Hastie. Estimating the number of clusters in a data set via the
    gap statistic. JRSS B 63(2), 2001. https://doi.org/10.1111/1467-9868.00293
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise ValueError(f"X must be a finite matrix of features, got shape {X.shape}.")
    rng = random_generator(random_state)
    generator = RandomRows(n_partitions=40, ratio=0.8) if generator is None else generator
    if not {"k_min", "k_max", "random_state"} <= set(generator.get_params()):
        raise ValueError(
            f"generator must have parameters k_min, k_max and random_state, got {generator!r}."
        )

    def partitions(data: NDArray[np.float64], child: np.random.Generator) -> EnsembleFor:
        seed = int(child.integers(2**31))

        def of(k: int) -> Ensemble:
            maker = clone(generator).set_params(k_min=k, k_max=k, random_state=seed)
            return Ensemble.from_partitions(maker.fit_transform(data), unlabeled="keep")

        return of

    def null(child: np.random.Generator) -> EnsembleFor:
        return partitions(_uniform_reference(X, child), child)

    return _scan(partitions(X, rng), null, k_range, consensus, n_resamples, n_null, rng)


# -- ensembles -------------------------------------------------------------------------------


def _one_row_per_sample(labels: Any) -> Ensemble:
    ensemble = as_ensemble(labels)
    if ensemble.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    return ensemble


def _permuted(ensemble: Ensemble, rng: np.random.Generator) -> Ensemble:
    """Every column shuffled on its own, among the samples that it labels."""
    columns = []
    for i in range(ensemble.n_partitions):
        column = ensemble.codes[:, i].astype(np.int64)
        known = ensemble.observed[:, i]
        column[known] = rng.permutation(column[known])
        column[~known] = -1
        columns.append(column)
    return Ensemble.from_partitions(columns, unlabeled="keep")


def _uniform_reference(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    center = X.mean(axis=0)
    _, _, axes = svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T
    return rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape) @ axes + center


# -- curves ----------------------------------------------------------------------------------


def _scan(
    ensemble_for: EnsembleFor,
    null: Callable[[np.random.Generator], EnsembleFor],
    k_range: Iterable[int],
    consensus: Any,
    n_resamples: int,
    n_null: int,
    rng: np.random.Generator,
) -> KScan:
    ks = sorted({int(k) for k in k_range})
    ensemble = ensemble_for(max(2, ks[0]) if ks else 2)
    if not ks or ks[0] < 2 or ks[-1] >= ensemble.n_samples:
        raise ValueError(
            f"k_range must hold numbers of clusters from 2 to {ensemble.n_samples - 1} (fewer than "
            f"the samples), got {ks}."
        )
    if n_resamples < 2 or n_null < 2 or ensemble.n_partitions < 4:
        raise ValueError(
            f"Expected at least 2 resamples, 2 null ensembles and 4 partitions, got {n_resamples}, "
            f"{n_null} and {ensemble.n_partitions}."
        )
    method = prepare("lwgp" if consensus is None else consensus)
    if "n_clusters" not in method.get_params(deep=False):
        raise ValueError(f"Expected a method with the parameter n_clusters, got {method!r}.")
    total = 1 + n_null
    report_progress("scan", 0, total)
    observed = _Curves(ensemble_for, ks, method, n_resamples, rng)
    report_progress("scan", 1, total)
    nulls = []
    for j, child in enumerate(rng.spawn(n_null)):
        nulls.append(_Curves(null(child), ks, method, 2, child))
        report_progress("scan", 2 + j, total)
    mean = {name: np.mean([c.values[name] for c in nulls], axis=0) for name in _CRITERIA}
    std = {name: np.std([c.values[name] for c in nulls], axis=0, ddof=1) for name in _CRITERIA}
    gain = observed.values["separation"] - mean["separation"]
    error = np.sqrt(observed.error**2 + std["separation"] ** 2 * (1 + 1 / n_null))
    return KScan(
        k=np.asarray(ks),
        best_k=_suggest(ks, gain, error, std["separation"], n_null),
        curves=observed.values | _shape_curves(ensemble_for, ks, observed.cdf),
        null_mean=mean,
        null_std=std,
        gain=gain,
        standard_error=error,
        pac_interval=observed.pac_interval,
        cdf=observed.cdf,
        labels=observed.labels,
    )


def _suggest(
    ks: Sequence[int],
    gain: NDArray[np.float64],
    error: NDArray[np.float64],
    null_std: NDArray[np.float64],
    n_null: int,
) -> int | None:
    """The smallest K within one standard error of the best gain, if that is a gain at all.

    Whether it is, the null decides: another null ensemble should exceed the bound in no more than
    one scan of a hundred (Student's t, shared among the K). The spread of few nulls at one K is
    itself uncertain; it is not taken to be smaller than the spread over all K.
    """
    best = int(np.argmax(gain))
    spread = max(float(null_std[best]), float(np.sqrt(np.mean(null_std**2))))
    freedom = (n_null - 1) * len(ks)
    bound = student_t.ppf(1.0 - _FALSE_ALARM / len(ks), freedom) * np.sqrt(1.0 + 1.0 / n_null)
    if gain[best] <= bound * spread:
        return None
    within = np.flatnonzero(gain >= gain[best] - error[best])
    return int(ks[within[0]])


class _Curves:
    """What one ensemble shows for every K."""

    def __init__(
        self,
        ensemble_for: EnsembleFor,
        ks: Sequence[int],
        method: Any,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self.values = {name: np.empty(len(ks)) for name in _CRITERIA}
        self.error = np.empty(len(ks))
        self.cdf = np.empty((len(ks), _BINS + 1))
        self.pac_interval = np.empty((len(ks), 2))
        self.labels: dict[int, NDArray[np.int64]] = {}
        first, second = _pairs(ensemble_for(ks[0]).n_samples, rng)
        seed = int(rng.integers(2**31))
        for j, k in enumerate(ks):
            ensemble = ensemble_for(k)
            halves = [_halves(ensemble, rng) for _ in range(n_resamples)]
            found = _fit(method, ensemble, k, seed)
            self.labels[k] = found
            separation, item = _separation(ensemble, found)
            results, stability, resampled = [], [], []
            for one, other in halves:
                pair = [_fit(method, half, k, seed) for half in (one, other)]
                results += pair
                stability.append(adjusted_rand(*pair))
                resampled += [
                    _separation(half, r)[0] for half, r in zip((one, other), pair, strict=True)
                ]
            joined = _joined(results, first, second)
            ambiguous = (joined > _AMBIGUOUS[0]) & (joined < _AMBIGUOUS[1])
            pac = float(ambiguous.mean())
            spread = 1.96 * np.sqrt(max(pac * (1 - pac), 1 / len(joined)) / len(joined))
            self.values["separation"][j] = separation
            self.values["stability"][j] = np.mean(stability)
            self.values["item_consensus"][j] = item
            self.values["pac"][j] = pac
            self.pac_interval[j] = max(0.0, pac - spread), min(1.0, pac + spread)
            self.error[j] = np.std(resampled, ddof=1) / np.sqrt(2)  # halves vary √2 times as much
            self.cdf[j] = np.searchsorted(np.sort(joined), np.linspace(0, 1, _BINS + 1), "right")
            self.cdf[j] /= len(joined)


def _joined(
    results: Sequence[NDArray[np.int64]], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Share of the results that join each pair, among those that label both; 0 where none does."""
    both = np.sum([(r[first] >= 0) & (r[second] >= 0) for r in results], axis=0)
    same = np.sum([(r[first] == r[second]) & (r[first] >= 0) for r in results], axis=0)
    return np.asarray(same / np.maximum(both, 1))


def _fit(method: Any, ensemble: Ensemble, k: int, seed: int) -> NDArray[np.int64]:
    return np.asarray(prepare(method, k, seed).fit_predict(ensemble))


def _halves(ensemble: Ensemble, rng: np.random.Generator) -> tuple[Ensemble, Ensemble]:
    order = rng.permutation(ensemble.n_partitions)
    middle = len(order) // 2
    return (
        ensemble.subset(partitions=order[:middle]),
        ensemble.subset(partitions=order[middle:]),
    )


def _pairs(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of different samples: all of them, or a random sample where there are many."""
    if n * (n - 1) // 2 <= _N_PAIRS:
        return np.triu_indices(n, 1)
    first = rng.integers(n, size=_N_PAIRS)
    second = (first + rng.integers(1, n, size=_N_PAIRS)) % n
    return first, second


def _separation(ensemble: Ensemble, labels: NDArray[np.int64]) -> tuple[float, float]:
    """Mean margin between the own and the next cluster, and mean item consensus.

    A sample that is a cluster by itself has neither; it counts as no gain at all.
    """
    confidence, margin = confidence_and_margin(ensemble, labels)
    labeled = labels >= 0
    margin = np.nan_to_num(margin[labeled])
    item = np.nan_to_num(confidence[labeled])
    weights = ensemble.weights[labeled]
    return float(np.average(margin, weights=weights)), float(np.average(item, weights=weights))


def _shape_curves(
    ensemble_for: EnsembleFor, ks: Sequence[int], cdf: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Curves without a null, for those who know them: delta area, eigengap, lifetime."""
    area = cdf[:, 1:].mean(axis=1)
    delta = np.concatenate([[area[0]], np.diff(area) / np.maximum(area[:-1], 1e-12)])
    cores = [ensemble_for(k).compress() for k in ks]
    return {
        "delta_area": delta,
        "eigengap": np.asarray([_eigengap(c, k) for c, k in zip(cores, ks, strict=True)]),
        "lifetime": np.asarray([_lifetime(c, k) for c, k in zip(cores, ks, strict=True)]),
    }


def _eigengap(core: Ensemble, k: int) -> float:
    """What the k-th eigenvalue of the graph of rows and clusters has over the next."""
    values = np.zeros(k + 1)
    wanted = min(k + 1, core.n_rows, core.n_base_clusters)
    graph = LabelGraph(core, cluster_certainty(core))
    values[:wanted] = transfer_cut_embedding(graph, core.weights, wanted)[0]
    return float(values[k - 1] - values[k])


def _lifetime(core: Ensemble, k: int) -> float:
    """Range of heights at which the tree of average linkage has k clusters; NaN if too large."""
    if core.n_rows > _LIFETIME_ROWS:
        return float("nan")
    heights = EAC(1).fit(core).tree_.height
    heights = np.concatenate([np.zeros(max(0, k - len(heights))), heights])
    return float(heights[-k + 1] - heights[-k])
