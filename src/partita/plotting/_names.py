"""The names that a consensus gives its clusters."""

from __future__ import annotations

from typing import Any

from partita._validation import encode, label_columns

__all__ = ["cluster_names"]


def cluster_names(labels: Any) -> list[Any]:
    """Distinct labels in the order in which `diagnose` numbers them; missing ones have none."""
    columns, _ = label_columns([getattr(labels, "labels_", labels)])
    names: list[Any] = encode(columns, ["labels"], "missing")[1][0].tolist()
    return names
