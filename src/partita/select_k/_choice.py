"""The number of clusters of an estimator, chosen by a scan where none was passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partita._warn import warn_user
from partita.exceptions import NoStructureError
from partita.registry import has_default_number
from partita.select_k._result import KScan

__all__ = [
    "choose_number",
    "default_range",
    "needs_number",
    "suggested_number",
]

_LARGEST = 10  # number of clusters that is tried by default
_LARGER = "`scan_k_features` and `scan_k_views` try larger numbers."


def default_range(n_samples: int, n_rows: int | None = None) -> range:
    """Return the numbers of clusters to choose from: 2 to 10, fewer than the samples.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_rows : int, optional
        Number of samples that a partition clusters: the largest number. By default all samples.
    """
    if n_samples < 3:
        raise ValueError(
            f"Expected at least 3 samples to choose the number of clusters, got {n_samples}. Pass "
            "n_clusters."
        )
    largest = n_samples - 1 if n_rows is None else min(n_samples - 1, n_rows)
    return range(2, max(2, min(_LARGEST, largest)) + 1)


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
        if result.best_k == _LARGEST:
            warn_user(
                f"The scan suggests {_LARGEST} clusters, the largest number that it tried: there "
                f"may be more. {_LARGER}"
            )
        return result.best_k, result
    warn_user(
        f"No structure found: no number of clusters from {result.k[0]} to {result.k[-1]} does "
        "better than data without clusters, so that all samples are one cluster. Pass n_clusters "
        f"to get clusters all the same. {_LARGER}"
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
            f"No structure found: no number of clusters from {scan.k[0]} to {scan.k[-1]} does "
            f"better than {null}. Pass a number to get clusters all the same."
        )
    return scan.best_k


def needs_number(method: Any) -> bool:
    """Return whether a method has the parameter n_clusters, at its default, which is a number."""
    return has_default_number(method) and method.n_clusters is not None
