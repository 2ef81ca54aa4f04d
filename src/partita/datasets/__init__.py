"""Data to try the library on."""

from partita.datasets.demo import Demo, Score, run_demo

__all__ = ["Demo", "Score", "run_demo"]
