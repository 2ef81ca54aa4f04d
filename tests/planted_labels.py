"""Label tables with planted clusters, in memory and in stores, for tests of fits beyond memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from partita import LabelStore
from partita.datasets import make_partitions


def planted(
    n: int = 2000,
    m: int = 10,
    k: int = 4,
    *,
    noise: float = 0.3,
    missing: float = 0.0,
    n_names: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return partitions of k to k + 3 (or `n_names`) clusters, samples in random order."""
    partitions, _ = make_partitions(
        n,
        m,
        k,
        noise=noise,
        missing_ratio=missing,
        k_min=n_names or k,
        k_max=n_names or k + 3,
        balanced=True,
        shuffle=True,
        random_state=seed,
    )
    return partitions


def stored(
    labels: np.ndarray, path: Path, *, rows_per_chunk: int = 128, spare: int = 0, **options: Any
) -> LabelStore:
    """A store of codes, -1 being missing, with `spare` declared clusters that hold no sample."""
    n_clusters = (labels.max(axis=0) + 1 + spare).tolist()
    writer = LabelStore.create(
        path, len(labels), n_clusters=n_clusters, rows_per_chunk=rows_per_chunk, **options
    )
    writer.write(0, labels)
    writer.finish()
    return LabelStore.open(path)
