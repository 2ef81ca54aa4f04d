"""Cluster features by generating base partitions and fusing them."""

from __future__ import annotations

from partita.clustering._estimator import EnsembleClustering

__all__ = ["EnsembleClustering"]
