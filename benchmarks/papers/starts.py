"""Compare the "merge" and "k-means++" initializations of label k-means on the papers' ensembles.

    python -m benchmarks.papers.starts [--data pendigits usps9298] [--report]

The ensembles are those of the RSEC paper, 100 k-means with K to sqrt(n) clusters, and the candidate
pools of the EC-CMS authors, all 100 partitions. Five fits of ten restarts each: mean objective (the
smaller the better), mean accuracy and its deviation, and the seconds of the fastest fit. The
records are in `starts.json`; `--report` prints them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from partita import KC, KCC, SEC
from partita.exceptions import ConvergenceWarning
from partita.generators import RandomK
from partita.metrics import accuracy

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RECORDS = Path(__file__).with_suffix(".json")
SETS = (
    "wine", "ecoli", "glass", "coil20", "mnist4k", "usps9298", "pendigits",
    "pool_lung", "pool_umist", "pool_texture", "pool_ls",
)  # fmt: skip
METHODS = {
    "SEC": SEC(),
    "KCC c": KCC(),
    "KCC h": KCC(utility="h", normalized=True),
    "KCC cos": KCC(utility="cos"),
    "KC": KC(),
}
N_FITS = 5


def load(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the partitions and the true classes."""
    with np.load(DATA / f"{name}.npz") as file:
        y = file["y"]
        if "members" in file:
            return file["members"], y
        X = file["X"].astype(np.float32)
    return RandomK(100, k_min=len(np.unique(y)), random_state=0).fit_transform(X), y


def measure(method: Any, init: str, labels: NDArray[Any], y: NDArray[Any]) -> dict[str, float]:
    fits = []
    for seed in range(N_FITS):
        method.set_params(n_clusters=len(np.unique(y)), init=init, random_state=seed)
        start = time.perf_counter()
        consensus = method.fit_predict(labels)
        fits.append((method.objective_, accuracy(y, consensus), time.perf_counter() - start))
    objectives, accuracies, seconds = np.asarray(fits).T
    return {
        "objective": float(f"{objectives.mean():.6g}"),
        "ACC": round(float(accuracies.mean()), 4),
        "deviation": round(float(accuracies.std(ddof=1)), 4),
        "seconds": round(float(seconds.min()), 3),
    }


def run(names: list[str]) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in names:
        labels, y = load(name)
        measured = {
            title: {init: measure(method, init, labels, y) for init in ("k-means++", "merge")}
            for title, method in METHODS.items()
        }
        records = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
        RECORDS.write_text(json.dumps(records | {name: measured}, indent=1) + "\n")


def report() -> None:
    columns = ("data", "method", "k-means++", "merge", "ACC", "ACC", "s", "s")
    table, better, cases = Table(*columns), 0, 0
    for data, methods in json.loads(RECORDS.read_text()).items():
        for method, starts in methods.items():
            drawn, merged = starts["k-means++"], starts["merge"]
            better += merged["objective"] <= drawn["objective"]
            cases += 1
            table.add_row(
                data,
                method,
                *(f"{start['objective']:.5g}" for start in (drawn, merged)),
                *(f"{start['ACC']:.3f} ± {start['deviation']:.3f}" for start in (drawn, merged)),
                *(f"{start['seconds']:.2f}" for start in (drawn, merged)),
            )
    Console(width=120).print(table)
    print(f"merge ends at the same or a smaller objective in {better} of {cases} cases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--report", action="store_true", help="only print the records")
    options = parser.parse_args()
    if not options.report:
        run(options.data)
    report()


if __name__ == "__main__":
    main()
