"""The names that a consensus gives its clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode
from partita._input.containers import label_columns

__all__ = ["cluster_names", "named_clusters"]


def named_clusters(labels: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Number of every sample's cluster as `diagnose` counts, -1 for none, and their names."""
    columns, _ = label_columns([getattr(labels, "labels_", labels)])
    table, names = encode(columns, ["labels"], "missing")
    missing = table[:, 0] == np.iinfo(table.dtype).max
    return np.where(missing, -1, table[:, 0].astype(np.int64)), names[0].tolist()


def cluster_names(labels: Any) -> list[Any]:
    """Distinct labels in the order in which `diagnose` numbers them; missing ones have none."""
    return named_clusters(labels)[1]
