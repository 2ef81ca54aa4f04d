"""What one consensus does not show: levels of detail, groups of partitions, and graphs."""

from partita.structure._graph import GraphConsensus, graph_consensus
from partita.structure._hidden import hidden_groups
from partita.structure._hierarchy import Hierarchy, hierarchical_consensus
from partita.structure._modes import Modes, modes

__all__ = [
    "GraphConsensus",
    "Hierarchy",
    "Modes",
    "graph_consensus",
    "hidden_groups",
    "hierarchical_consensus",
    "modes",
]
