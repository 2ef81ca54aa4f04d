"""Tables of modes and of the hierarchy."""

from __future__ import annotations

import numpy as np

from partita.reporting._content import Content
from partita.reporting._table import ReportTable, make_table
from partita.reporting._values import join_names

__all__ = ["hierarchy_table", "mode_table"]

_MOST_NODES = 300


def mode_table(content: Content) -> ReportTable | None:
    """Return one row per mode; None if the partitions do not disagree in groups."""
    if content.ensemble.n_partitions < 2 or content.diagnosis.modes.n_modes == 1:
        return None
    modes = content.diagnosis.modes
    from_first = {r["other"]: r for r in modes.differences if r["mode"] == 0}
    rows = []
    for mode in range(modes.n_modes):
        own = np.flatnonzero(modes.mode_of == mode)
        difference = from_first.get(mode)
        rows.append(
            {
                "mode": str(mode),
                "n_partitions": len(own),
                "n_clusters": int(modes.labels[mode].max()) + 1,
                "n_moved": None if difference is None else difference["n_moved"],
                "adjusted_rand": None if difference is None else difference["adjusted_rand"],
                "partitions": join_names([content.partitions[i] for i in own]),
            }
        )
    n_alone = int(np.count_nonzero(modes.mode_of < 0))
    alone = f" {n_alone:,} partitions agree with no group." if n_alone else ""
    return make_table(
        {
            "mode": "Mode",
            "n_partitions": "Partitions",
            "n_clusters": "Clusters",
            "n_moved": "Moved",
            "adjusted_rand": "ARI",
            "partitions": "Which partitions",
        },
        rows,
        0,
        "modes are left out.",
        "A mode is a group of partitions that agree with each other and not with the others. Moved "
        "and ARI: samples in another cluster, and agreement, of its consensus and that of the "
        f"first mode.{alone}",
    )


def hierarchy_table(content: Content) -> ReportTable | None:
    """Return one row per cluster of the hierarchy, parents first; None without one."""
    if content.hierarchy is None:
        return None
    tree = content.hierarchy.tree
    rows = [
        node
        | {
            "node": str(node["node"]),
            "parent": "" if node["parent"] < 0 else str(node["parent"]),
        }
        for node in tree[:_MOST_NODES]
    ]
    return make_table(
        {
            "node": "Node",
            "parent": "Part of",
            "level": "Level",
            "n_samples": "Samples",
            "n_parts": "Parts",
            "similarity": "Similarity",
            "p_value": "p-value",
        },
        rows,
        len(tree) - len(rows),
        "finer clusters are left out.",
        "Clusters of the tree, each divided if the division explains more of the disagreement of "
        f"the partitions than permuted labels do (alpha {content.hierarchy.alpha:g}). Similarity: "
        "share of the partitions that put samples of different parts together. Partitions that cut "
        "data without clusters at the same places, as k-means does, agree more than by chance: a "
        "small p-value does not exclude that.",
    )
