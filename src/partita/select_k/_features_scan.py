"""`scan_k_features`: the number of clusters of features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.checks import random_generator
from partita._sklearn_compat import refuse_anndata
from partita.generators import LandmarkSpectral, RandomRows
from partita.generators.generation import (
    cuts_a_graph,
    default_metric,
    rows_of_partition,
)
from partita.select_k._choice import scan_numbers
from partita.select_k._curves import Judged
from partita.select_k._engine import Scan, check_n_partitions
from partita.select_k._null import uniform_reference
from partita.select_k._request import Request, checked_range
from partita.select_k._result import KScan
from partita.select_k._scanned import ScannedFeatures, ScannedTable
from partita.select_k._sparse_table import SparseTable, rows_as_compared
from partita.select_k._spectral_gap import spectral_gaps
from partita.select_k._steps import Pilot
from partita.select_k._valleys import has_valley

__all__ = [
    "checked_table",
    "scan_generated",
    "scan_k_features",
    "scan_table",
]

_N_PARTITIONS = 40  # per number of clusters, by default


class _Table(ScannedTable):
    """A dense table of features."""

    def reference(self, rng: np.random.Generator) -> Self:
        return type(self)(uniform_reference(self._X, rng), self._generator)

    def spectral_gaps(self, numbers: Sequence[int]) -> NDArray[np.float64] | None:
        return spectral_gaps(self._X, numbers) if cuts_a_graph(self._generator) else None

    def has_valley(self, labels: NDArray[np.int64]) -> bool:
        return cuts_a_graph(self._generator) or has_valley(self._X, labels)


def scan_k_features(
    X: Any,
    k_range: Iterable[int] | None = None,
    *,
    generator: Any = None,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    early_stop: bool = True,
    max_samples: int | None = None,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of features.

    For every K the generator makes partitions into K clusters. k-means cuts data without clusters
    into the same pieces every time, so that partitions of noise agree with each other and shuffled
    labels are too weak a null. Here the null ensembles come from the same generator on reference
    data, uniform in the box of X's principal axes. A K beats the null if its clusters are tighter
    (less variance within clusters) and the partitions agree better with them. The suggestion also
    needs a valley of density between its clusters, which the pieces of a thin shape do not have;
    a number that lacks one is `KScan.rejected_k`. If the generator cuts a graph
    (`LandmarkSpectral`, `RandomMetrics`), clusters of any shape count: fewer of the nearest
    neighbors must be in another cluster, whatever the variance, and the graph of neighbors must
    have a gap in its spectrum that no shape without clusters has.

    Sparse features are taken for counts of terms. Their reference data have the same terms in other
    samples: entries are exchanged, so that every sample keeps its number of terms and every term
    its number of samples. A K beats this null if its clusters are more isolated (or tighter) and
    the partitions agree better with them, or if its clusters are far more isolated.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features, all finite. Of a sparse matrix, entries may have any sign. If more than half of
        them are not 0, it is scanned as an array.
    k_range : iterable of int, optional
        Numbers of clusters to try, each at least 2 and less than the number of samples. By default
        2 to 10, or 2 to 30 if there may be more than 10, no more than the samples allow.
    generator : str, class or generator, optional
        What makes the partitions: the key, class or object of a generator with the parameters
        k_min, k_max and random_state. `RandomRows(n_partitions=40, ratio=0.8)` by default: k-means
        on random samples of the rows. For sparse features `LandmarkSpectral(n_partitions=40)` by
        the cosine, or by the distance if a row is empty.
    method : str, class or estimator, optional
        Consensus method: its key, class or estimator; `n_clusters` is set. `CCGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    early_stop : bool, default=True
        Whether to compute fewer null ensembles (`KScan.n_null`, at least 4) if more would not
        change the answer. Noise is not taken for structure more often than without. False computes
        all, for smoother curves of the null.
    max_samples : int, optional
        Number of samples that are scanned, drawn at random if there are more. By default all.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the generator, of halves, reference data and sampled pairs, and of a method that
        has none.

    Returns
    -------
    KScan
        Cost: (1 + 2 n_resamples + 5 n_null) fits and 1 + n_null calls of the generator per K; a
        generator that cuts a graph computes its graphs and their eigenvectors once for all K.

    References
    ----------
    R. Tibshirani, G. Walther, T. Hastie. Estimating the number of clusters in a data set via the
    gap statistic. JRSS B 63(2), 2001. https://doi.org/10.1111/1467-9868.00293
    """
    if generator is None:
        generator = _default_generator(X)
    X = checked_table(X, generator)
    n_samples = X.shape[0]

    def scan(numbers: Iterable[int]) -> KScan:
        return scan_table(
            X,
            numbers,
            generator,
            method=method,
            n_resamples=n_resamples,
            n_null=n_null,
            early_stop=early_stop,
            max_samples=max_samples,
            random_state=random_state,
        ).decide()

    return scan_numbers(scan, k_range, n_samples, rows_of_partition(generator, n_samples), [X])


def _default_generator(X: Any) -> Any:
    if sp.issparse(X):
        return LandmarkSpectral(_N_PARTITIONS, metric=default_metric(X))
    return RandomRows(_N_PARTITIONS, ratio=0.8)


def scan_table(X: Any, k_range: Iterable[int], generator: Any, **options: Any) -> Scan:
    """Begin the scan of one table of features; `options` as in `scan_generated`."""
    X = checked_table(X, generator)
    table = SparseTable if sp.issparse(X) else _Table
    return scan_generated(table(X, generator), k_range, **options)


def checked_table(X: Any, generator: Any) -> Any:
    """Return features as they are scanned; raise an error if they are no finite matrix.

    Sparse features have rows of unit length if the generator compares them by the cosine, and are a
    canonical CSR matrix, or an array if more than half of the entries are not 0.
    """
    refuse_anndata(X)
    X = sp.csr_matrix(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X.data if sp.issparse(X) else X)):
        raise ValueError(f"X must be a finite matrix of features, got shape {X.shape}.")
    if sp.issparse(X):
        X = rows_as_compared(X, generator)
        return X if 2 * X.nnz <= X.shape[0] * X.shape[1] else X.toarray()
    return X


def scan_generated(
    features: ScannedFeatures,
    k_range: Iterable[int],
    *,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    null_resamples: int = 2,
    early_stop: bool = True,
    max_samples: int | None = None,
    random_state: Any = None,
) -> Scan:
    """Begin the scan of features that make their own partitions.

    The parameters are those of `scan_k_features`.

    `null_resamples` is the number of pairs of halves of every null ensemble. With 0, stability and
    PAC have no null; the suggestion does not need it.
    """
    rng = random_generator(random_state)
    if max_samples is not None and features.n_samples > max_samples:
        rows = rng.choice(features.n_samples, max_samples, replace=False)
        features = features.subset(np.sort(rows))
    ks = checked_range(k_range, features.n_samples)
    request = Request.checked(method, n_resamples, n_null, early_stop, null_resamples)

    def ensembles(
        data: ScannedFeatures, seed: int, numbers: Sequence[int] = ks
    ) -> Iterator[Judged]:
        evidence = data.evidence()
        for k, ensemble in zip(numbers, data.partitions(numbers, seed), strict=True):
            check_n_partitions(ensemble)
            yield ensemble, [k], evidence

    seed = int(rng.integers(2**31))
    kept: dict[int, Judged] = {}  # none if all numbers are asked for at once

    def observed(numbers: Sequence[int]) -> Iterator[Judged]:
        if len(numbers) == len(ks) and not kept:
            return ensembles(features, seed)
        made = ks if features.is_made_at_once else numbers
        if missing := [k for k in made if k not in kept]:
            kept.update(zip(missing, ensembles(features, seed, missing), strict=True))
        return iter([kept[k] for k in numbers])

    def null(child: np.random.Generator) -> Iterator[Judged]:
        return ensembles(features.reference(child), int(child.integers(2**31)))

    few = sorted({ks[0], ks[len(ks) // 2], ks[-1]})

    def pilot(
        rows: NDArray[np.int64], child: np.random.Generator
    ) -> tuple[Iterator[Judged], Iterator[Judged]]:
        part = features.subset(rows)
        return ensembles(part, 0, few), ensembles(part.reference(child), 0, few)

    time = Pilot(features.n_samples, pilot, len(ks) / len(few))
    return Scan(
        observed,
        null,
        ks,
        request,
        rng,
        time,
        features.spectral_gaps(ks),
        gap_is_tested=features.gap_is_tested,
        has_valley=features.has_valley,
    )
