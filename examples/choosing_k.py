"""How many clusters, if any: the same curves on data without clusters and on three planted ones.

The tables of docs/choosing-k.md are this program's output.
"""

from __future__ import annotations

import numpy as np

from partita import EAC, KScan, scan_k_features
from partita.generators import RandomRows

CURVES = ("delta_area", "pac", "null_pac", "separation", "null_separation", "gain")


def show(scan: KScan) -> None:
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
    show(scan)
