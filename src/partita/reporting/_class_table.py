"""The table of clusters by true classes."""

from __future__ import annotations

import numpy as np

from partita._input.label_vector import code_labels
from partita.reporting._content import Content
from partita.reporting._table import ReportTable, make_table
from partita.reporting._values import shorten

__all__ = ["class_table"]

_MOST_CLASSES = 30
_MOST_CLUSTERS = 300
_LONGEST_NAME = 24


def class_table(content: Content) -> ReportTable | None:
    """Return the number of samples of each class in each cluster, largest cluster first.

    Of many classes the largest have a column each, the others share one. None without classes.
    """
    if content.y is None:
        return None
    d = content.diagnosis
    classes, names = code_labels(content.y, len(d.labels), name="y", noise="cluster")
    both = (d.labels >= 0) & (classes >= 0)
    counts = np.zeros((d.n_clusters, len(names)), np.int64)
    np.add.at(counts, (d.labels[both], classes[both]), 1)
    shown = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:_MOST_CLASSES])
    others = counts.sum(axis=1) - counts[:, shown].sum(axis=1)
    columns = {"cluster": "Cluster"}
    columns |= {f"class_{c}": shorten(names[c], _LONGEST_NAME) for c in shown.tolist()}
    if len(shown) < len(names):
        columns["other_classes"] = f"{len(names) - len(shown)} other classes"
    columns |= {"main_class": "Main class", "main_share": "Its share"}
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    rows = []
    for k in order[:_MOST_CLUSTERS].tolist():
        main, total = int(np.argmax(counts[k])), int(counts[k].sum())
        rows.append(
            {
                "cluster": content.clusters[k],
                **{f"class_{c}": int(counts[k, c]) for c in shown.tolist()},
                "other_classes": int(others[k]),
                "main_class": shorten(names[main], _LONGEST_NAME) if total else None,
                "main_share": counts[k, main] / total if total else None,
            }
        )
    return make_table(
        columns,
        rows,
        len(order) - len(rows),
        "smaller clusters are left out.",
        "Number of samples of each class in each cluster. Main class: the class with most samples "
        "of the cluster; a low share means that the cluster mixes classes. A class that is the "
        "main one of several clusters is divided.",
    )
