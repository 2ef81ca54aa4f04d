"""The parts of a report that a command computes on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from partita.cli._messages import check_methods
from partita.cli._options import k_range_or_none

if TYPE_CHECKING:
    from partita.cli._tables import InputPartitions
    from partita.io import Table

__all__ = ["report_parts"]


def report_parts(
    data: InputPartitions,
    labels: Any,
    *,
    methods: Sequence[str] | None,
    features: Callable[[], Table] | None,
    scan: str | None,
    hierarchy: bool,
    seed: int,
) -> dict[str, Any]:
    """Return the options of `report` for the parts that were requested.

    Parameters
    ----------
    data : InputPartitions
        The partitions, with the true classes if there are any.
    labels : array of shape (n_samples,)
        The consensus; methods are compared at its number of clusters.
    methods : sequence of str or None
        Keys of the methods to compare; "all" means all.
    features : callable or None
        Reads the table of features and annotations.
    scan : str or None
        Numbers of clusters to scan, LOW:HIGH or "auto".
    hierarchy : bool
        Whether to compute the hierarchy.
    seed : int
        Seed of all of them.
    """
    from partita._input.label_vector import code_labels
    from partita.cli._tables import in_order_of
    from partita.comparison import compare
    from partita.select_k import scan_k
    from partita.structure import hierarchical_consensus

    ensemble, parts = data.ensemble, dict[str, Any]()
    if features is not None:
        table = features()
        parts["features"] = {
            name: in_order_of(ensemble.sample_ids, ensemble.n_samples, table, _filled(column))
            for name, column in table.columns.items()
        }
    if methods:
        n_clusters = len(code_labels(labels, ensemble.n_samples)[1])
        keys: Any = "all" if "all" in methods else list(methods)
        check_methods([] if keys == "all" else keys)
        parts["comparison"] = compare(ensemble, keys, n_clusters, y=data.truth, random_state=seed)
    if scan is not None:
        parts["scan"] = scan_k(ensemble, k_range_or_none(scan), random_state=seed)
    if hierarchy:
        parts["hierarchy"] = hierarchical_consensus(ensemble, random_state=seed)
    return parts


def _filled(column: Any) -> Any:
    """Return numbers with NaN, or text with None, for missing values."""
    import numpy as np

    if column.dtype.kind in "fiub":
        return np.ma.filled(np.ma.asarray(column, np.float64), np.nan)
    return np.ma.filled(np.ma.asarray(column, object), None)
