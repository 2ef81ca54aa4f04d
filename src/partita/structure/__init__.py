"""What one consensus does not show: levels of detail and groups of partitions that disagree."""

from partita.structure._hierarchy import Hierarchy, hierarchical_consensus
from partita.structure._modes import Modes, modes

__all__ = ["Hierarchy", "Modes", "hierarchical_consensus", "modes"]
