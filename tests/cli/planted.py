"""Labels and points with three clusters that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from partita.datasets import make_partitions

LABELS, TRUTH = make_partitions(60, 10, 3, noise=0.1)
IDS = [f"sample {i}" for i in range(60)]
CLOUDS = np.repeat([0, 1, 2], 20)
POINTS = np.asarray([[0, 0], [8, 0], [0, 8]])[CLOUDS] + np.random.default_rng(0).normal(
    size=(60, 2)
).round(4)


def write_csv(path: Path, columns: dict[str, list[object]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
