"""Shapes on which rules for the number of clusters are designed.

`python -m benchmarks.scoreboard.design_of_k` scans them by `LandmarkSpectral` and prints how often
the number is right, and how often noise passes for structure. None of them is a set of
`choosing_k`, whose sets judge the rules: kinds, widths and seeds differ.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.json_lines import append, read
from benchmarks.scoreboard._tables import by_kind, false_alarms
from partita import scan_k_features
from partita.generators import LandmarkSpectral

__all__ = ["CLUSTERS", "NOISE", "THIN", "clusters", "main", "noise"]

CLUSTERS = (
    "moons",
    "circles",
    "spirals",
    "ring around a blob",
    "three rings",
    "waves",
    "crescent and blobs",
    "linked rings",
    "bars",
)
THIN = ("ring", "arc", "one spiral", "sine")  # noise along a line
NOISE = (
    "uniform",
    "ball",
    "normal",
    "lognormal",
    "t, 3 degrees of freedom",
    "correlated",
    "elongated",
    "gamma",
    *THIN,
    "annulus",
    "sphere",
    "normal, 1000 samples",
    "uniform, 1000 samples",
    "triangle",
    "mixed scales",
)

Points = NDArray[np.float64]


def clusters(kind: str, seed: int) -> tuple[Points, int]:
    """Return 150 to 450 points of two to four clusters that are not round, and their number."""
    rng = np.random.default_rng([7000 + CLUSTERS.index(kind), seed])
    n, width = int(rng.choice([150, 250, 350, 450])), float(rng.uniform(0.03, 0.09))
    if kind == "linked rings":
        is_first = (rng.random(n) < 0.5)[:, None]
        circle, zeros = _circle(rng.uniform(0, 2 * np.pi, n)), np.zeros((n, 1))
        upright = np.hstack([circle[:, :1] + 1, zeros, circle[:, 1:]])
        points = np.where(is_first, np.hstack([circle, zeros]), upright)
        return points + width * rng.normal(size=(n, 3)), 2
    if kind == "moons":
        angle, shift = rng.uniform(0, np.pi, n), rng.uniform(-0.1, 0.1)
        is_first = (np.arange(n) % 2 == 0)[:, None]
        points, k = np.where(is_first, _circle(angle), [1, 0.5 + shift] - _circle(angle)), 2
    elif kind == "circles":
        factor, is_outer = rng.uniform(0.25, 0.6), rng.random(n) < 0.5
        points = _circle(rng.uniform(0, 2 * np.pi, n)) * np.where(is_outer, 1, factor)[:, None]
        k = 2
    elif kind == "spirals":
        k = int(rng.integers(2, 4))
        turn = rng.uniform(0.4, 2.8, n)
        points = turn[:, None] * _circle(2.1 * turn + 2 * np.pi * rng.integers(0, k, n) / k)
    elif kind == "ring around a blob":
        is_ring = (rng.random(n) < rng.uniform(0.5, 0.7))[:, None]
        ring = _circle(rng.uniform(0, 2 * np.pi, n)) + width * rng.normal(size=(n, 2))
        return np.where(is_ring, ring, rng.uniform(0.12, 0.2) * rng.normal(size=(n, 2))), 2
    elif kind == "three rings":
        radius = 0.6 * (1 + rng.choice(3, n, p=[0.2, 0.35, 0.45]))
        points, k = _circle(rng.uniform(0, 2 * np.pi, n)) * radius[:, None], 3
    elif kind == "waves":
        k = int(rng.integers(2, 5))
        wave, x = rng.integers(0, k, n), rng.uniform(0, 2 * np.pi, n)
        points = np.column_stack([x, np.sin(x) + wave * rng.uniform(0.9, 1.3)])
        width *= 1.6
    elif kind == "crescent and blobs":
        cluster = rng.choice(3, n, p=[0.5, 0.25, 0.25])
        centers = np.array([[0, 0], [0, 0], [2.2, 0.3]])
        points = centers[cluster] + 0.15 * rng.normal(size=(n, 2))
        rows = np.flatnonzero(cluster == 0)
        points[rows] = _circle(rng.uniform(0.2 * np.pi, 1.8 * np.pi, len(rows)))
        points[rows] += width * rng.normal(size=(len(rows), 2))
        return points, 3
    else:
        k = int(rng.integers(2, 5))
        bar = rng.integers(0, k, n)
        points = np.column_stack([rng.uniform(0, 4, n), bar * rng.uniform(0.5, 0.8)])
        width *= 1.3
    return points + width * rng.normal(size=(n, 2)), k


def noise(kind: str, seed: int) -> Points:
    """Return 100 to 1000 points without clusters in 2 to 30 dimensions."""
    rng = np.random.default_rng([8000 + NOISE.index(kind), seed])
    n, d = int(rng.choice([100, 150, 250, 450])), int(rng.choice([2, 3, 4, 8, 30]))
    if kind.endswith("1000 samples"):
        n = 1000
    width = float(rng.uniform(0.02, 0.1))
    if kind in THIN:
        return _line(kind, n, rng) + width * rng.normal(size=(n, 2))
    if kind.startswith("uniform"):
        return rng.uniform(size=(n, d))
    if kind == "lognormal":
        return np.exp(rng.normal(size=(n, d)))
    if kind == "t, 3 degrees of freedom":
        return rng.standard_t(3, size=(n, d))
    if kind == "gamma":
        return rng.gamma(1.5, size=(n, d))
    if kind == "annulus":
        radius = np.sqrt(rng.uniform(0.3, 1, n))
        return _circle(rng.uniform(0, 2 * np.pi, n)) * radius[:, None]
    if kind == "triangle":
        return rng.dirichlet([1, 1, 1], n)[:, :2]
    points = rng.normal(size=(n, 3 if kind == "sphere" else d))
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "sphere":
        return points / lengths + width * rng.normal(size=(n, 3))
    if kind == "ball":
        points *= rng.uniform(size=(n, 1)) ** (1 / d) / lengths
    if kind == "correlated":
        points = points @ rng.normal(size=(d, d))
    if kind == "elongated":
        points[:, 0] *= rng.uniform(5, 20)
    if kind == "mixed scales":
        points *= 10.0 ** rng.uniform(-1.5, 1.5, size=d)
    return points


def _line(kind: str, n: int, rng: np.random.Generator) -> Points:
    """Return points on a curve without width."""
    if kind == "sine":
        x = rng.uniform(0, 7, n)
        return np.column_stack([x, np.sin(x)])
    if kind == "one spiral":
        turn = rng.uniform(0.5, 3.0, n)
        return turn[:, None] * _circle(2.0 * turn)
    end = 2 * np.pi if kind == "ring" else rng.uniform(1, 1.8) * np.pi
    return _circle(rng.uniform(0, end, n))


def _circle(angle: Points) -> Points:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard.design_of_k")
    parser.add_argument("--seeds", type=int, default=6, help="sets of every kind")
    parser.add_argument("--kinds", nargs="+", default=(*CLUSTERS, *NOISE))
    parser.add_argument("--records", type=Path, required=True, help="file to continue")
    arguments = parser.parse_args(argv)
    done = {(r["kind"], r["seed"]) for r in read(arguments.records)}
    for seed in range(arguments.seeds):
        for kind in arguments.kinds:
            X, k = clusters(kind, seed) if kind in CLUSTERS else (noise(kind, seed), None)
            name = f"{'noise' if k is None else 'planted'}: {kind}"
            if (name, seed) in done:
                continue
            generator = LandmarkSpectral(n_partitions=20, n_jobs=1)
            scan = scan_k_features(
                X, range(2, 7), generator=generator, n_resamples=2, random_state=seed
            )
            record = {"part": "design", "kind": name, "seed": seed}
            append(arguments.records, [record | {"true_k": k, "scan": scan.best_k}])
    records = read(arguments.records)
    if any(r["true_k"] is not None for r in records):
        print(by_kind(records, "design"), end="\n\n")
    print(false_alarms(records, "design"))


if __name__ == "__main__":
    main(sys.argv[1:])
