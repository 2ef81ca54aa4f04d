"""What one consensus does not show: levels of detail and groups of partitions that disagree."""

from partita.structure._hierarchy import Hierarchy, hierarchical_consensus

__all__ = ["Hierarchy", "hierarchical_consensus"]
