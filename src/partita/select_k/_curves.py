"""The curves of one ensemble over the number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.consensus import EAC
from partita.diagnostics import confidence_and_margin
from partita.ensemble import Ensemble
from partita.matrices import cluster_certainty
from partita.matrices.label_graph import LabelGraph
from partita.metrics import adjusted_rand
from partita.registry import prepare
from partita.select_k._result import CDF_POINTS
from partita.solvers.transfer_cuts import transfer_cut_embedding

__all__ = ["CRITERIA", "Curves", "EnsembleForK", "shape_curves"]

CRITERIA = ("separation", "stability", "item_consensus", "pac")  # curves that have a null
_AMBIGUOUS = (0.1, 0.9)  # consensus values between these are neither "apart" nor "together"
_N_PAIRS = 20_000
_MAX_TREE_ROWS = 5_000  # the tree needs a matrix of distinct rows by distinct rows

# Returns the partitions by which K clusters are judged.
EnsembleForK = Callable[[int], Ensemble]


class Curves:
    """Curves that have a null, for every K in `ks`.

    Attributes
    ----------
    values : dict of str to array of shape (n_k,)
        The curves in `CRITERIA`.
    error : array of shape (n_k,)
        Standard error of the separation.
    cdf, pac_interval, labels
        As in `KScan`.
    """

    def __init__(
        self,
        ensemble_for_k: EnsembleForK,
        ks: Sequence[int],
        method: Any,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self.values = {name: np.empty(len(ks)) for name in CRITERIA}
        self.error = np.empty(len(ks))
        self.cdf = np.empty((len(ks), len(CDF_POINTS)))
        self.pac_interval = np.empty((len(ks), 2))
        self.labels: dict[int, NDArray[np.int64]] = {}
        first, second = _pairs(ensemble_for_k(ks[0]).n_samples, rng)
        seed = int(rng.integers(2**31))
        for j, k in enumerate(ks):
            ensemble = ensemble_for_k(k)
            halves = [_halves(ensemble, rng) for _ in range(n_resamples)]
            self.labels[k] = _fit(method, ensemble, k, seed)
            separation, item_consensus = _separation(ensemble, self.labels[k])
            results, stability, separations = [], [], []
            for pair in halves:
                labels = [_fit(method, half, k, seed) for half in pair]
                results += labels
                stability.append(adjusted_rand(*labels))
                separations += [_separation(*half)[0] for half in zip(pair, labels, strict=True)]
            consensus = _consensus_values(results, first, second)
            ambiguous = (consensus > _AMBIGUOUS[0]) & (consensus < _AMBIGUOUS[1])
            pac, n_pairs = float(ambiguous.mean()), len(consensus)
            spread = 1.96 * np.sqrt(max(pac * (1 - pac), 1 / n_pairs) / n_pairs)
            self.values["separation"][j] = separation
            self.values["stability"][j] = np.mean(stability)
            self.values["item_consensus"][j] = item_consensus
            self.values["pac"][j] = pac
            self.pac_interval[j] = max(0.0, pac - spread), min(1.0, pac + spread)
            # half of the partitions vary sqrt(2) times as much as all of them
            self.error[j] = np.std(separations, ddof=1) / np.sqrt(2)
            self.cdf[j] = np.searchsorted(np.sort(consensus), CDF_POINTS, "right")
            self.cdf[j] /= n_pairs


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
    """Return all pairs of different samples, or a random sample of pairs where there are many."""
    if n * (n - 1) // 2 <= _N_PAIRS:
        return np.triu_indices(n, 1)
    first = rng.integers(n, size=_N_PAIRS)
    second = (first + rng.integers(1, n, size=_N_PAIRS)) % n
    return first, second


def _separation(ensemble: Ensemble, labels: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean margin and the mean confidence of the labeled samples.

    A sample that is a cluster by itself has neither and counts as 0.
    """
    confidence, margin = confidence_and_margin(ensemble, labels)
    labeled = labels >= 0
    margin = np.nan_to_num(margin[labeled])
    confidence = np.nan_to_num(confidence[labeled])
    weights = ensemble.weights[labeled]
    return float(np.average(margin, weights=weights)), float(
        np.average(confidence, weights=weights)
    )


def _consensus_values(
    results: Sequence[NDArray[np.int64]], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return, per pair, the share of the results that label both samples and join them.

    A pair that no result labels has the value 0.
    """
    both = np.sum([(r[first] >= 0) & (r[second] >= 0) for r in results], axis=0)
    same = np.sum([(r[first] == r[second]) & (r[first] >= 0) for r in results], axis=0)
    return np.asarray(same / np.maximum(both, 1))


# -- curves without a null -------------------------------------------------------------------


def shape_curves(
    ensemble_for_k: EnsembleForK, ks: Sequence[int], cdf: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the delta area, the eigengap and the lifetime for every K."""
    area = cdf[:, 1:].mean(axis=1)
    delta = np.concatenate([[area[0]], np.diff(area) / np.maximum(area[:-1], 1e-12)])
    eigengap, lifetime = np.empty(len(ks)), np.empty(len(ks))
    shape: _Shape | None = None
    for j, k in enumerate(ks):
        ensemble = ensemble_for_k(k)
        if shape is None or shape.ensemble is not ensemble:
            shape = _Shape(ensemble)
        eigengap[j], lifetime[j] = shape.eigengap(k), shape.lifetime(k)
    return {"delta_area": delta, "eigengap": eigengap, "lifetime": lifetime}


class _Shape:
    """The graph and the tree of an ensemble, computed once for all K."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.rows = ensemble.compress()

    @cached_property
    def _graph(self) -> LabelGraph:
        return LabelGraph(self.rows, cluster_certainty(self.rows))

    @cached_property
    def _heights(self) -> NDArray[np.float64]:
        heights: NDArray[np.float64] = EAC(1).fit(self.rows).tree_.height
        return heights

    def eigengap(self, k: int) -> float:
        """Return the K-th minus the next eigenvalue of the graph of rows and base clusters.

        Each K asks for its own k + 1 eigenvalues: LAPACK and ARPACK return other last digits if
        they compute more of them, and a value must not depend on the other numbers in the scan.
        """
        values = np.zeros(k + 1)
        n_values = min(k + 1, self.rows.n_rows, self.rows.n_base_clusters)
        values[:n_values] = transfer_cut_embedding(self._graph, self.rows.weights, n_values)[0]
        return float(values[k - 1] - values[k])

    def lifetime(self, k: int) -> float:
        """Return the range of heights at which the average linkage tree has K clusters."""
        if self.rows.n_rows > _MAX_TREE_ROWS:
            return float("nan")
        heights = np.concatenate([np.zeros(max(0, k - len(self._heights))), self._heights])
        return float(heights[-k + 1] - heights[-k])
