"""Arrange divisions in two as a tree with levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.structure._splitting import Branch

__all__ = ["Node", "arrange"]

_NEW_LEVEL = 0.1  # increase of the similarity of parts from which a division is a level of its own


@dataclass
class Node:
    """A cluster of the tree; `Hierarchy.tree` documents the fields."""

    number: int
    parent: int
    level: int
    rows: NDArray[np.int64]
    n_samples: int
    n_parts: int = 0
    similarity: float = float("nan")
    p_value: float = float("nan")


def arrange(root: Branch) -> tuple[list[Node], list[NDArray[np.int64]]]:
    """Return the nodes, parents first, and for each level the number of the node of each row."""
    nodes: list[Node] = []
    waiting = [(root, -1, 0)]
    while waiting:
        branch, parent, level = waiting.pop(0)
        node = Node(len(nodes), parent, level, branch.rows, branch.n_samples)
        nodes.append(node)
        parts, node.similarity, node.p_value = _divide(branch)
        node.n_parts = len(parts)
        waiting += [(part, node.number, level + 1) for part in parts]
    levels = [np.zeros(len(root.rows), np.int64) for _ in range(nodes[-1].level + 1)]
    for node in nodes:
        for labels in levels[node.level :]:
            labels[node.rows] = node.number
    return nodes, levels


def _divide(branch: Branch) -> tuple[list[Branch], float, float]:
    """Return the parts of a cluster on its next level, their similarity and the p-value."""
    if not branch.parts:
        return [], float("nan"), branch.p_value
    limit = _similarity(branch) + _NEW_LEVEL
    parts: list[Branch] = []
    divided, waiting = [branch], list(branch.parts)
    while waiting:
        part = waiting.pop(0)
        if part.parts and _similarity(part) <= limit:
            divided.append(part)
            waiting = part.parts + waiting
        else:
            parts.append(part)
    pairs = [float(d.parts[0].n_samples) * d.parts[1].n_samples for d in divided]
    similarity = float(np.average([_similarity(d) for d in divided], weights=pairs))
    return parts, similarity, max(d.p_value for d in divided)


def _similarity(branch: Branch) -> float:
    """Return the mean co-association of the two parts of a cluster."""
    joined = branch.joined[np.isfinite(branch.joined)]
    return float(joined.mean()) if len(joined) else 0.0
