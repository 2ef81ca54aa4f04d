"""Choosing K: noise and three clusters
====================================

Scan the number of clusters of data without clusters and of data with three clusters.

docs/choosing-k.md shows the output and explains it.
"""

from __future__ import annotations

import numpy as np

from partita import EAC, KScan, RandomRows, scan_k_features
from partita.plotting import ScanDisplay

CURVES = ("delta_area", "pac", "null_pac", "separation", "null_separation", "gain")


def print_table(scan: KScan) -> None:
    """Print one row per K and the suggested K."""
    print("| K | delta area | PAC | PAC, null | separation | separation, null | gain | s.e. |")
    print("|---|---|---|---|---|---|---|---|")
    for row in scan.records():
        cells = [f"{row[name]:.2f}" for name in (*CURVES, "standard_error")]
        print(f"| {row['k']} | {' | '.join(cells)} |")
    answer = "no structure found" if scan.best_k is None else f"suggested: K = {scan.best_k}"
    print(f"\n{answer}\n")


rng = np.random.default_rng(0)
noise = rng.uniform(size=(120, 2))
centers = np.asarray([[0, 0], [6, 0], [0, 6]])
planted = centers[np.arange(120) % 3] + rng.normal(size=(120, 2))

displays = {}
for name, X in (("Uniform noise", noise), ("Three planted clusters", planted)):
    scan = scan_k_features(
        X,
        range(2, 6),
        generator=RandomRows(20, ratio=0.8),
        method=EAC(),
        n_resamples=4,
        n_null=6,
        random_state=0,
    )
    print(f"{name}\n")
    print_table(scan)
    displays[name] = ScanDisplay.from_scan(scan).plot()
