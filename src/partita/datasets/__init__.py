"""Data to try the library on."""

from partita.datasets.demo import Demo, Score, run_demo
from partita.datasets.loading import Dataset, list_names, load
from partita.datasets.planted import make_mixed_partitions, make_partitions

__all__ = [
    "Dataset",
    "Demo",
    "Score",
    "list_names",
    "load",
    "make_mixed_partitions",
    "make_partitions",
    "run_demo",
]
