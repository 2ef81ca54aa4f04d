"""The table of what distinguishes each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.reporting._content import Content
from partita.reporting._table import ReportTable, make_table
from partita.reporting._values import shorten

__all__ = ["profile_table"]

_MOST_CLUSTERS = 300
_LONGEST_NAME = 40
_LARGEST_EFFECT = 99.0


def profile_table(content: Content) -> ReportTable | None:
    """Return one row per cluster, largest first, with its features; None without features."""
    profiles = content.profiles
    if profiles is None:
        return None
    d = content.diagnosis
    order = np.argsort(-d.sizes, kind="stable")
    texts: dict[int, list[str]] = {}
    for record in profiles.records:
        texts.setdefault(int(record["cluster"]), []).append(_text(record))
    rows = [
        {
            "cluster": content.clusters[k],
            "size": int(np.count_nonzero(d.labels == k)),
            "confidence": d.mean_confidences[k],
            "nearest": None
            if d.nearest_clusters[k] < 0
            else content.clusters[d.nearest_clusters[k]],
            "features": "; ".join(texts.get(k, [])),
        }
        for k in order[:_MOST_CLUSTERS].tolist()
    ]
    names = [shorten(name, _LONGEST_NAME) for name in profiles.left_out]
    ids = f" Left out as identifiers: {', '.join(names[:10])}." if names else ""
    return make_table(
        {
            "cluster": "Cluster",
            "features": "Distinguished by",
            "size": "Samples",
            "confidence": "Confidence",
            "nearest": "Nearest",
        },
        rows,
        len(order) - len(rows),
        "smaller clusters are left out.",
        "The features in which a cluster differs most from all other samples, by effect size: the "
        "standardized mean difference d of a number, Cohen's h of the share of a category (0.2 is "
        "small, 0.8 is large), or the words with more weight than elsewhere. There are no "
        "p-values: the clusters were made such that they differ, and a test on the same data "
        f"would find differences even without clusters (double dipping).{ids}",
    )


def _text(record: dict[str, Any]) -> str:
    name = shorten(record["feature"], _LONGEST_NAME)
    if name.isdigit():  # a column of an array without names
        name = f"feature {name}"
    if record["kind"] == "word":
        return name
    effect = record["effect"]
    size = f"{effect:+.1f}" if abs(effect) <= _LARGEST_EFFECT else f"{np.sign(effect) * 99:+.0f} +"
    if record["kind"] == "category":
        category = shorten(record["category"], _LONGEST_NAME)
        shares = f"{record['inside']:.0%} (others {record['outside']:.0%}; h {size})"
        return f"{name} = {category}: {shares}"
    return f"{name}: {record['inside']:.3g} (others {record['outside']:.3g}; d {size})"
