"""Data to try the library on."""

from partita.datasets.demo import Demo, Score, run_demo
from partita.datasets.planted import make_mixed_partitions, make_partitions

__all__ = ["Demo", "Score", "make_mixed_partitions", "make_partitions", "run_demo"]
