"""Write made-up clusters of many shapes as a folder of benchmark sets.

    python -m benchmarks.scoreboard.shapes DIR [--seeds 2]
    python -m benchmarks.scoreboard DIR --records FILE --k-rules true --methods ccgp --seeds 1 \\
        --generators ensemble_clustering landmark_spectral random_k

The first command writes 40 sets in the public layout (`_sets.py`), with the labels of four
algorithms of scikit-learn at the true number of clusters. Most sets are like public ones of the
same name, which are no part of this repository. The second command scores the default beside its
parts and these algorithms. The rule by which `EnsembleClustering` compares graph cuts with k-means
was chosen on other draws of these shapes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.scoreboard._sources import ALGORITHMS, labels_of

Points = NDArray[np.float64]
Rng = np.random.Generator
Clusters = list[Points]

RECORDS = Path(__file__).with_name("shapes.jsonl")
BATTERY = "shapes"


def circle(rng: Rng, n: int, start: float = 0.0, stop: float = 1.0) -> Points:
    """Return points on an arc of the unit circle, from and to these shares of a turn."""
    angle = 2 * np.pi * rng.uniform(start, stop, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def box(rng: Rng, n: int, x: tuple[float, float], y: tuple[float, float]) -> Points:
    return np.column_stack([rng.uniform(*x, n), rng.uniform(*y, n)])


def ball(rng: Rng, n: int, radius: float) -> Points:
    points = rng.normal(size=(n, 3))
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / lengths * radius * rng.uniform(size=(n, 1)) ** (1 / 3)


def normal(
    rng: Rng, centers: Sequence[Sequence[float]], sizes: Sequence[int], width: float | Points
) -> Clusters:
    """Return normal clusters, of one width or a width each."""
    widths = np.broadcast_to(width, len(centers))
    return [
        np.asarray(center) + w * rng.normal(size=(n, len(center)))
        for center, n, w in zip(centers, sizes, widths, strict=True)
    ]


def noisy(rng: Rng, points: Points, width: float) -> Points:
    return points + width * rng.normal(size=points.shape)


def distant_centers(n: int, side: float, distance: float) -> list[list[float]]:
    """Return the same random places in a square for every seed, at least so far apart."""
    rng, centers = np.random.default_rng(n), [np.full(2, np.inf)]
    while len(centers) <= n:
        candidate = rng.uniform(0, side, 2)
        if min(float(np.hypot(*(candidate - c))) for c in centers) > distance:
            centers.append(candidate)
    return [c.tolist() for c in centers[1:]]


def tilted(rng: Rng, width: float) -> Clusters:
    """Return 15 normal clusters of different sizes and directions."""
    fixed = np.random.default_rng(15)
    clusters = []
    for center in distant_centers(15, 100, 17):
        turn = np.linalg.qr(fixed.normal(size=(2, 2)))[0]
        stretched = rng.normal(size=(int(fixed.integers(80, 180)), 2)) * [1.4 * width, 0.8 * width]
        clusters.append(np.asarray(center) + stretched @ turn)
    return clusters


def rings_of_seven() -> list[list[float]]:
    turns = 2 * np.pi * np.arange(7) / 7
    inner = 2.6 * np.column_stack([np.cos(turns), np.sin(turns)])
    outer = 6.5 * np.column_stack([np.cos(turns + 0.3), np.sin(turns + 0.3)])
    return [[0.0, 0.0], *inner.tolist(), *outer.tolist()]


def chainlink(rng: Rng) -> Clusters:
    first, second = circle(rng, 500), circle(rng, 500)
    zeros = np.zeros((500, 1))
    links = [np.hstack([first, zeros]), np.hstack([second[:, :1] + 1, zeros, second[:, 1:]])]
    return [noisy(rng, link, 0.08) for link in links]


def atom(rng: Rng) -> Clusters:
    shell = rng.normal(size=(400, 3))
    shell *= 50 / np.linalg.norm(shell, axis=1, keepdims=True)
    return [ball(rng, 400, 10), noisy(rng, shell, 1)]


def target(rng: Rng) -> Clusters:
    corners = normal(rng, [[4, 4], [-4, 4], [4, -4], [-4, -4]], [3] * 4, 0.1)
    return [0.3 * rng.normal(size=(365, 2)), noisy(rng, 3 * circle(rng, 395), 0.15), *corners]


def two_diamonds(rng: Rng) -> Clusters:
    square = 2 * rng.uniform(size=(2, 400, 2)) - 1
    turned = square @ np.array([[0.5, 0.5], [-0.5, 0.5]])
    return [turned[0] - [1.03, 0], turned[1] + [1.03, 0]]


def wingnut(rng: Rng) -> Clusters:
    def wing() -> Points:
        points = rng.uniform(size=(5000, 2))
        return points[rng.uniform(size=5000) < 0.1 + 0.45 * points.sum(axis=1)][:508] * [2, 1]

    return [wing(), [2.0, 2.15] - wing()]


def jain(rng: Rng) -> Clusters:
    upper = circle(rng, 97, 0.05, 0.475) * 10 + [0, 4]
    lower = circle(rng, 276, 0.5, 1) * [10, 9] + [9, 6]
    return [noisy(rng, upper, 0.9), noisy(rng, lower, 0.8)]


def flame(rng: Rng) -> Clusters:
    bowl = circle(rng, 150, 0.5, 1) * 5.5 * rng.uniform(0.75, 1, (150, 1))
    return [bowl, box(rng, 90, (-1.8, 1.8), (-0.35, 2.35))]


def pathbased(rng: Rng) -> Clusters:
    arc = noisy(rng, 10 * circle(rng, 110, -0.075, 0.575), 0.7)
    return [arc, *normal(rng, [[-4, -1], [4, -1]], [97, 93], 1.7)]


def spirals(rng: Rng) -> Clusters:
    turn = np.linspace(0.6, 2.8, 104)
    angles = (2 * turn + 2 * np.pi * k / 3 for k in range(3))
    arms = (turn[:, None] * np.column_stack([np.cos(a), np.sin(a)]) for a in angles)
    return [noisy(rng, arm, 0.03) for arm in arms]


def compound(rng: Rng) -> Clusters:
    ring = noisy(rng, 2.6 * circle(rng, 92), 0.15)
    centers, sizes = [[0, 0], [9, 3], [9, 0], [2, 9], [2, 9]], [50, 38, 45, 16, 158]
    return [ring, *normal(rng, centers, sizes, np.array([0.49, 0.7, 0.7, 0.35, 2.3]))]


def fuzzy_x(rng: Rng) -> Clusters:
    arms = []
    for x in (-1, 1):
        for y in (-1, 1):
            along = rng.uniform(0.25, 2, (250, 1))
            arms.append(along * [x, y] + 0.1 * along * rng.normal(size=(250, 2)))
    return [*arms, 0.12 * rng.normal(size=(100, 2))]


def line(rng: Rng) -> Clusters:
    straight = np.column_stack([np.linspace(-4, 4, 130), np.full(130, 3.6)])
    return [rng.normal(size=(120, 2)), noisy(rng, straight, 0.05)]


def parabolas(rng: Rng) -> Clusters:
    x, y = rng.uniform(-2, 2, (2, 500))
    curves = np.column_stack([x, x**2]), np.column_stack([y + 2, 5 - y**2])
    return [noisy(rng, curve, 0.22) for curve in curves]


def rings(rng: Rng, radii: Sequence[float], sizes: Sequence[int], width: float) -> Clusters:
    return [noisy(rng, r * circle(rng, n), width) for r, n in zip(radii, sizes, strict=True)]


def zigzag(rng: Rng) -> Clusters:
    x = rng.uniform(0, 3, (3, 80))
    lines = (np.column_stack([x[k], np.abs(x[k] % 2 - 1) + 1.1 * k]) for k in range(3))
    return [noisy(rng, each, 0.06) for each in lines]


def smile(rng: Rng) -> Clusters:
    mouth = noisy(rng, 3 * circle(rng, 200, 0.575, 0.925), 0.1)
    eyes = normal(rng, [[-2, 2], [2, 2]], [150, 150], 0.35)
    return [noisy(rng, 5 * circle(rng, 500), 0.1), mouth, *eyes]


def crosses(rng: Rng) -> Clusters:
    centers, widths = [[0, 0], [2.6, 0], [1.3, 4.2]], [[0.4, 1.6], [0.4, 1.6], [1.5, 0.4]]
    return [c + rng.normal(size=(120, 2)) * w for c, w in zip(centers, widths, strict=True)]


def windows(rng: Rng) -> Clusters:
    def frame(n: int, inner: float) -> Points:
        points = 2 * rng.uniform(size=(20 * n, 2)) - 1
        return points[np.abs(points).max(axis=1) > inner][:n]

    panes = [1.4 * frame(200, 0.8) + [x, y] for x in (0, 4) for y in (0, 4)]
    return [*panes, 5 * frame(600, 0.93) + [2, 2]]


def lovers(rng: Rng) -> Clusters:
    x = rng.uniform(-3, 3, (2, 200))
    waves = (np.column_stack([x[k], 0.8 * np.sin(x[k] + 3) + 1.2 - 2.4 * k]) for k in range(2))
    return [noisy(rng, 5 * circle(rng, 600), 0.15), *(noisy(rng, wave, 0.1) for wave in waves)]


def around(rng: Rng) -> Clusters:
    points = rng.normal(size=(2, 400, 8))
    return [0.5 * points[0], 1.5 * points[1] + 2.4]


def stretched(rng: Rng) -> Clusters:
    turn = np.array([[0.6, -0.6], [-0.4, 0.8]])
    return [each @ turn for each in normal(rng, [[0, 0], [5, 0], [0, 6]], [200] * 3, 1)]


def unit_corners(scale: float) -> list[list[float]]:
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return (scale * corners).tolist()


HEPTA = [[0, 0, 0], [3, 0, 0], [-3, 0, 0], [0, 3, 0], [0, -3, 0], [0, 0, 3], [0, 0, -3]]
UNBALANCED = [[0, 0], [6, 4], [6, -4], *([45, y] for y in (-16, -8, 0, 8, 16))]

SHAPES: dict[str, Callable[[Rng], Clusters]] = {
    "a1": lambda rng: normal(rng, distant_centers(20, 100, 14), [100] * 20, 2.9),
    "around": around,
    "atom": atom,
    "chainlink": chainlink,
    "compound": compound,
    "crosses": crosses,
    "d31": lambda rng: normal(rng, distant_centers(31, 30, 3.1), [60] * 31, 0.7),
    "dense": lambda rng: normal(rng, [[0, 0], [3, 0]], [100, 100], np.array([0.25, 1])),
    "engytime": lambda rng: normal(rng, [[0, 0], [3, 3]], [1000, 1000], np.array([1, 1.2])),
    "flame": flame,
    "fuzzyx": fuzzy_x,
    "g2_16": lambda rng: normal(rng, [[0] * 16, [1] * 16], [500, 500], 1),
    "g2_64": lambda rng: normal(rng, [[0] * 64, [0.5] * 64], [400, 400], 1),
    "hepta": lambda rng: normal(rng, HEPTA, [32, *[30] * 6], 0.45),
    "isolation": lambda rng: rings(rng, (1.2, 3, 5), (700, 700, 700), 0.25),
    "jain": jain,
    "line": line,
    "lovers": lovers,
    "lsun": lambda rng: [
        box(rng, 100, (0, 0.7), (0, 4)),
        box(rng, 200, (1, 4), (0, 0.7)),
        0.4 * rng.normal(size=(100, 2)) + [3.2, 2.7],
    ],
    "overlap": lambda rng: normal(rng, [[0, 0], [2.8, 0], [1.4, 2.6]], [300] * 3, 1),
    "parabolas": parabolas,
    "pathbased": pathbased,
    "r15": lambda rng: normal(rng, rings_of_seven(), [40] * 15, 0.38),
    "rings": lambda rng: rings(rng, (1, 2.2, 3.4), (200, 350, 500), 0.12),
    "s1": lambda rng: tilted(rng, 2.2),
    "s3": lambda rng: tilted(rng, 4.2),
    "s4": lambda rng: tilted(rng, 5.4),
    "smile": smile,
    "spirals": spirals,
    "stretched": stretched,
    "stripes": lambda rng: [box(rng, 500, (0, 8), (1.3 * k, 1.3 * k + 0.8)) for k in range(3)],
    "target": target,
    "tetra": lambda rng: [ball(rng, 100, 1.38) + c for c in unit_corners(1.0)],
    "twodiamonds": two_diamonds,
    "unbalance": lambda rng: normal(
        rng, UNBALANCED, [*[800] * 3, *[60] * 5], np.array([*[1.2] * 3, *[2.0] * 5])
    ),
    "varied": lambda rng: normal(rng, [[0, 0], [6, 1], [3, 7]], [200] * 3, np.array([1, 2.2, 0.5])),
    "windows": windows,
    "wingnut": wingnut,
    "z3": lambda rng: normal(
        rng, [[0, 0], [4, 1], [2, 4], [6, 5]], [400, 200, 100, 300], np.array([1, 0.8, 0.4, 0.9])
    ),
    "zigzag": zigzag,
}


def make(name: str, seed: int) -> tuple[Points, NDArray[np.int64]]:
    """Return points and their clusters, 1, 2, ..., in random order."""
    rng = np.random.default_rng([9000 + list(SHAPES).index(name), seed])
    clusters = SHAPES[name](rng)
    y = np.repeat(np.arange(1, len(clusters) + 1), [len(each) for each in clusters])
    order = rng.permutation(len(y))
    return np.vstack(clusters)[order], y[order]


def other_labels(X: Points, k: int, seed: int) -> dict[str, NDArray[np.int64]]:
    """Return the labels of algorithms of scikit-learn, from 1."""
    return {name: labels_of(name, X, k, seed) + 1 for name in ALGORITHMS}


def write(folder: Path, name: str, seed: int) -> None:
    """Write one set in the public layout."""
    X, y = make(name, seed)
    start = folder / BATTERY / f"{name}-{seed}"
    np.savetxt(f"{start}.data.gz", X, fmt="%.6g")
    np.savetxt(f"{start}.labels0.gz", y, fmt="%d")
    columns = other_labels(X, int(y.max()), seed)
    with gzip.open(f"{start}.result{y.max()}.gz", "wt", encoding="utf-8", newline="") as text:
        rows = csv.writer(text)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard.shapes")
    parser.add_argument("folder", type=Path, help="where the sets are written")
    parser.add_argument("--seeds", type=int, default=2, help="draws of every shape")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    arguments = parser.parse_args(argv)
    (arguments.folder / BATTERY).mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.seeds):
        for name in arguments.shapes:
            write(arguments.folder, name, seed)


if __name__ == "__main__":
    main(sys.argv[1:])
