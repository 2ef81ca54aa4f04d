"""Label tables with planted clusters, in memory and in stores, for tests of fits beyond memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from partita import LabelStore


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
    """Labels of k planted clusters seen through m partitions of different fineness.

    `noise` is the share of labels that say nothing, `missing` that of labels that are not there.
    `n_names` asks for partitions of so many clusters instead of k to k + 3.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    columns = []
    for i in range(m):
        size = k + i % 4 if n_names is None else n_names
        names = rng.permutation(size)
        parts = -(-size // k)
        fine = np.minimum(truth * parts + rng.integers(parts, size=n), size - 1)
        columns.append(names[np.where(rng.random(n) < noise, rng.integers(size, size=n), fine)])
    labels = np.stack(columns, axis=1)
    labels[rng.random((n, m)) < missing] = -1
    without = np.flatnonzero((labels < 0).all(axis=1))
    labels[without, 0] = 0
    return labels


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
