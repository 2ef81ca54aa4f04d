"""`hidden_groups`: groups inside clusters that most partitions split off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.label_vector import code_labels
from partita.ensemble import as_ensemble
from partita.structure._bisection import LabelTable, bisect

__all__ = ["hidden_groups"]

_LEAST_SAMPLES = 5  # of a group
_LEAST_SHARE = 0.05  # of its cluster
_SPLIT = 0.8  # purity from which a partition splits a group off


def hidden_groups(partitions: Any, labels: Any) -> list[dict[str, Any]]:
    """Find clusters of a consensus that hide a group which most partitions split off.

    Each cluster is divided in two such that the parts explain as much as possible of the
    disagreement of its labels, as in `hierarchical_consensus`. A partition splits the smaller part
    off if its base clusters, on the samples of the cluster, hardly mix the two parts: with a and b
    samples of the parts in a base cluster, and A and B in all,

        purity = 1 - [Σ 2 a b / Σ (a + b)²] / [2 A B / (A + B)²] ≥ 0.8,

    which is 1 if no base cluster mixes them and 0 if they are mixed as by chance.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus. -1, None and NaN are samples without a label.

    Returns
    -------
    list of dict
        One dictionary per cluster that hides a group, most partitions first:

        - ``cluster``: name of the cluster;
        - ``n_samples``, ``share``: size of the group, at least 5, and its share of the cluster, at
          least 5 %;
        - ``n_partitions``, ``support``: number and share of the partitions that split it off, more
          than half of those that label the cluster;
        - ``samples``: the samples of the group.

    Notes
    -----
    Cost O(n m), no n x n matrix. A missing label takes no part. Fine partitions of data without
    clusters split groups off too if they cut at the same places: the answer describes the
    partitions and is no test; `scan_k_features` is one.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.structure import hidden_groups
    >>> fine = np.repeat([0, 1, 2], 10)
    >>> (group,) = hidden_groups([fine, fine, fine, fine > 0], fine > 0)
    >>> group["cluster"], group["n_samples"], group["support"]
    (True, 10, 0.75)
    """
    ensemble = as_ensemble(partitions)
    codes, names = code_labels(labels, ensemble.n_samples, sample_ids=ensemble.sample_ids)
    partition = np.repeat(np.arange(ensemble.n_partitions), ensemble.n_clusters)
    clusters = np.where(
        ensemble.observed, ensemble.codes.astype(np.int64) + ensemble.offsets[:-1], -1
    )
    groups = []
    for k, name in enumerate(names.tolist()):
        members = np.flatnonzero((codes == k) & ensemble.observed.any(axis=1))
        least = max(_LEAST_SAMPLES, _LEAST_SHARE * len(members))
        if len(members) < 2 * least:
            continue
        table = LabelTable.of(clusters[members], partition, np.ones(len(members)))
        side = bisect(table).side
        if 2 * np.count_nonzero(side) > len(side):
            side = ~side
        purity = _purity(table, side)
        n_labeling = int(np.count_nonzero(np.isfinite(purity)))
        n_split = int(np.count_nonzero(purity >= _SPLIT))
        if np.count_nonzero(side) >= least and 2 * n_split > n_labeling:
            groups.append(
                {
                    "cluster": name,
                    "n_samples": int(side.sum()),
                    "share": float(side.mean()),
                    "n_partitions": n_split,
                    "support": n_split / n_labeling,
                    "samples": members[side],
                }
            )
    return sorted(groups, key=lambda group: -float(group["support"]))


def _purity(table: LabelTable, side: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the purity of each partition; NaN if it labels only one of the two parts."""
    total = table.incidence.T @ table.weights
    inside = table.incidence.T @ np.where(side, table.weights, 0.0)
    outside = total - inside
    mixed = table.by_partition(inside * outside) / np.maximum(table.by_partition(total**2), 1.0)
    a, b = table.by_partition(inside), table.by_partition(outside)
    chance = a * b / np.maximum((a + b) ** 2, 1.0)
    return 1.0 - np.divide(mixed, chance, out=np.full(len(mixed), np.nan), where=chance > 0)
