"""The number of clusters of an estimator, chosen by a scan where none was passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from partita._warn import warn_user
from partita.exceptions import NoStructureError
from partita.registry import has_default_number
from partita.select_k._excess import excess_ratios
from partita.select_k._result import KScan
from partita.select_k._spectral_gap import eigenvalue_ratios, is_gap, spectral_gaps

__all__ = [
    "choose_number",
    "needs_number",
    "scan_numbers",
    "suggested_number",
]

_LARGEST = 10  # number of clusters that is tried first
_LARGEST_OF_MANY = 30  # and if there may be more
_LEAST_SIZE = 5  # mean samples per cluster, of more than 10 clusters
_GRAPH_ROWS = 20_000  # samples whose graph of neighbors shows that there may be more
_FAR = 5.0  # standard deviations above the null
_LARGER = "`scan_k`, `scan_k_features` and `scan_k_views` try larger numbers."


def scan_numbers(
    scan: Callable[[Iterable[int]], KScan],
    k_range: Iterable[int] | None,
    n_samples: int,
    n_rows: int | None = None,
    tables: Sequence[Any] = (),
) -> KScan:
    """Scan some numbers of clusters, by default 2 to 10, or 2 to 30 if there may be more.

    There may be more than 10 clusters if the scan suggests 10, or if a graph of neighbors of the
    features has the largest gap in its spectrum after more than 10 eigenvalues. In the second case
    fewer numbers are not scanned: the scan would join clusters, each time others. The same may
    have happened if sparse features have isolated clusters, but no number does better than the
    null. A warning says so if the suggestion is the largest number that was tried.

    Parameters
    ----------
    scan : callable
        Scans numbers of clusters.
    k_range : iterable of int or None
        The numbers. None for the default, fewer than the samples.
    n_samples : int
        Number of samples.
    n_rows : int, optional
        Number of samples that a partition clusters: the largest number. By default all samples.
    tables : sequence of arrays or CSR matrices, default=()
        Features of the samples, if the scan is one of features.
    """
    if k_range is not None:
        return scan(k_range)
    if n_samples < 3:
        raise ValueError(
            f"Expected at least 3 samples to choose the number of clusters, got {n_samples}. Pass "
            "n_clusters."
        )
    n_rows = n_samples if n_rows is None else n_rows
    numbers = range(2, max(2, min(_LARGEST, n_samples - 1, n_rows)) + 1)
    many = range(2, min(_LARGEST_OF_MANY, n_rows // _LEAST_SIZE) + 1)
    if len(many) > len(numbers) and any(_largest_gap(X, many) > numbers[-1] for X in tables):
        numbers = many
    result = scan(numbers)
    may_be_more = result.best_k == numbers[-1] or any(
        sp.issparse(X) and _has_isolated_clusters(result) for X in tables
    )
    if may_be_more and len(many) > len(numbers):
        numbers, result = many, scan(many)
    if result.best_k == numbers[-1] >= _LARGEST:
        warn_user(
            f"The scan suggests {result.best_k} clusters, the largest number that it tried: there "
            f"may be more. {_LARGER}"
        )
    return result


def _largest_gap(X: Any, numbers: range) -> int:
    """Return the number of clusters with the largest gap in the spectrum; 1 if none has a gap.

    The gap of sparse features is not tested, so that some number has the largest.
    """
    rows = X[:: 1 + X.shape[0] // _GRAPH_ROWS].astype(np.float64)
    if sp.issparse(X):
        return numbers[int(np.argmax(eigenvalue_ratios(rows, numbers)))]
    gaps = spectral_gaps(rows, numbers)
    best = int(np.argmax(gaps))
    return numbers[best] if is_gap(gaps[best]) else 1


def _has_isolated_clusters(result: KScan) -> bool:
    """Return whether a scan without a suggestion has clusters far more isolated than the null."""
    if result.best_k is not None or "isolation" not in result.nulls:
        return False
    return excess_ratios(result.curves["isolation"], result.nulls["isolation"]).max() > _FAR


def choose_number(
    n_clusters: int | None, method: Any, scan: Callable[[], KScan]
) -> tuple[int | None, KScan | None]:
    """Return the number of clusters of a consensus, and the scan that chose it, if one did.

    Parameters
    ----------
    n_clusters : int or None
        Number that was passed. It is returned as it is.
    method : estimator
        Consensus method. If it was given a number or needs none, the number is None: it stays.
    scan : callable
        Scans the data. If it finds no structure, the number is 1, with a warning.
    """
    if n_clusters is not None or not needs_number(method):
        return n_clusters, None
    result = scan()
    if result.best_k is not None:
        return result.best_k, result
    warn_user(
        f"No structure found: {_reason(result, 'data without clusters')}, so that all samples are "
        f"one cluster. Pass n_clusters to get clusters all the same. {_LARGER}"
    )
    return 1, result


def suggested_number(scan: KScan, null: str) -> int:
    """Return the suggestion of a scan; raise `NoStructureError` if it has none.

    Parameters
    ----------
    scan : KScan
        Result of a scan.
    null : str
        What the null of the scan is, for the message.
    """
    if scan.best_k is None:
        raise NoStructureError(
            f"No structure found: {_reason(scan, null)}. Pass a number to get clusters all the "
            "same."
        )
    return scan.best_k


def _reason(scan: KScan, null: str) -> str:
    """Return why a scan has no suggestion; the user has not seen its numbers."""
    if scan.rejected_k is not None:
        return scan.reason
    return f"no number of clusters from {scan.k[0]} to {scan.k[-1]} does better than {null}"


def needs_number(method: Any) -> bool:
    """Return whether a method has the parameter n_clusters, at its default, which is a number."""
    return has_default_number(method) and method.n_clusters is not None
