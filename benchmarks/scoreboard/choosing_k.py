"""How often each rule finds the number of clusters: `python -m benchmarks.scoreboard.choosing_k`.

Tables with planted clusters, 2 to 8 of them, with 10 to 50 % of the labels random; and tables
without structure, with clusters of equal or very different sizes, few or many, and with missing
labels. Rules: `scan_k`, and from its own curves the largest eigengap, the least ambiguous pairs
(PAC), the last K with a delta area above 0.1, the longest lifetime of the tree, and the largest
silhouette by the distance 1 - co-association. Only `scan_k` can say that there is no structure. The
records are JSON lines; the same call continues.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_score

from benchmarks.scoreboard._records import Record, append, read
from partita import KScan, scan_k
from partita.datasets import make_partitions
from partita.matrices import coassociation

RECORDS = Path(__file__).with_name("choosing_k.jsonl")
KS = range(2, 11)
N_SAMPLES, N_PARTITIONS = 120, 20
_FLAT = 0.1  # relative growth of the area that still counts
NOISES = ("equal sizes", "one large cluster", "many clusters", "missing labels")


def planted(seed: int) -> tuple[NDArray[Any], int]:
    rng = np.random.default_rng(seed)
    k, noise = int(rng.integers(2, 9)), float(rng.uniform(0.1, 0.5))
    return make_partitions(N_SAMPLES, N_PARTITIONS, k, noise=noise, random_state=seed)[0], k


def noise(kind: str, seed: int) -> NDArray[Any]:
    """Return independent random partitions; -1 is a missing label."""
    rng = np.random.default_rng(seed)
    shape = N_SAMPLES, N_PARTITIONS
    if kind == "one large cluster":
        return rng.choice(4, size=shape, p=[0.7, 0.1, 0.1, 0.1])
    labels = rng.integers(0, 20 if kind == "many clusters" else 4, shape)
    if kind == "missing labels":
        labels[rng.random(shape) < 0.3] = -1
    return labels


def suggestions(scan: KScan, labels: NDArray[Any]) -> dict[str, int | None]:
    """Return the number of clusters that each rule suggests."""
    curves = scan.curves
    distance = 1.0 - coassociation(labels)
    np.fill_diagonal(distance, 0.0)
    widths = [silhouette_score(distance, scan.labels[k], metric="precomputed") for k in KS]
    grows = np.flatnonzero(curves["delta_area"][1:] > _FLAT)
    return {
        "scan_k": scan.best_k,
        "eigengap": int(KS[int(np.argmax(curves["eigengap"]))]),
        "lifetime": int(KS[int(np.argmax(curves["lifetime"]))]),
        "PAC": int(KS[int(np.argmin(curves["pac"]))]),
        "delta area": int(KS[int(grows[-1]) + 1]) if len(grows) else KS[0],
        "silhouette": int(KS[int(np.argmax(widths))]),
    }


def make_record(kind: str, seed: int) -> Record:
    labels, k = planted(seed) if kind == "planted" else (noise(kind, seed), None)
    scan = scan_k(labels, KS, random_state=seed)
    return {"kind": kind, "seed": seed, "true_k": k, **suggestions(scan, labels)}


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard.choosing_k")
    parser.add_argument("--seeds", type=int, default=50, help="tables of every kind")
    parser.add_argument("--seconds", type=float, default=np.inf, help="start none after these")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file to continue")
    arguments = parser.parse_args(argv)
    records, start = read(arguments.records), time.monotonic()
    done = {(r["kind"], r["seed"]) for r in records}
    for seed in range(arguments.seeds):
        for kind in ("planted", *NOISES):
            if (kind, seed) not in done and time.monotonic() - start < arguments.seconds:
                append(arguments.records, [make_record(kind, seed)])
    print(table(read(arguments.records)))


def table(records: list[Record]) -> str:
    """Return how often each rule is right on planted tables, and finds structure in noise."""
    true = [r for r in records if r["kind"] == "planted"]
    false = [r for r in records if r["kind"] != "planted"]
    lines = [
        f"| rule | right K, {len(true)} planted tables | structure in {len(false)} noise tables |",
        "|---|---|---|",
    ]
    for rule in ("scan_k", "eigengap", "lifetime", "PAC", "delta area", "silhouette"):
        right = np.mean([r[rule] == r["true_k"] for r in true])
        alarms = np.mean([r[rule] is not None for r in false])
        lines.append(f"| {rule} | {right:.0%} | {alarms:.1%} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
