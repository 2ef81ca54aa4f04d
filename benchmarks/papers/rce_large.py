"""RCE on pendigits and USPS, for which Tables 2 and 3 of the RSEC paper print N/A.

    python -m benchmarks.papers.rce_large [--data pendigits usps9298] [--methods SEC RCE] [--report]

The paper's ensembles, 100 k-means with K to sqrt(n) clusters, need 100 n² numbers in the authors'
program: 97 GB for pendigits. Here memory does not depend on the number of partitions. SEC runs on
the same ensemble: the paper prints its values, which show how similar the partitions are to the
paper's.

Every finished fit is written to `rce_large.json`; `--report` prints the records.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from partita import RCE, SEC
from partita._memory import PeakMemory
from partita.config import config_context
from partita.generators import RandomK
from partita.metrics import evaluate

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RECORDS = Path(__file__).with_suffix(".json")
METHODS = {"SEC": SEC, "RCE": RCE}
# ACC and NMI as printed, in per cent
PRINTED = {
    ("pendigits", "SEC"): ("74.61 ± 4.20", "73.87 ± 1.67"),
    ("pendigits", "RCE"): ("N/A", "N/A"),
    ("usps9298", "SEC"): ("68.61 ± 3.75", "65.87 ± 1.44"),
    ("usps9298", "RCE"): ("N/A", "N/A"),
}


def run(name: str, methods: list[str]) -> None:
    with np.load(DATA / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float32), file["y"]
    k = len(np.unique(y))
    labels = RandomK(100, k_min=k, random_state=0).fit_transform(X)
    for method in (METHODS[title](k, random_state=0) for title in methods):
        with Progress(transient=True) as progress:
            bar = progress.add_task(f"{type(method).__name__}, {name}")

            def show(step: Any) -> None:
                progress.update(bar, completed=step.done, total=step.total)  # noqa: B023

            start = time.perf_counter()
            with PeakMemory() as memory, config_context(progress=show):
                consensus = method.fit_predict(labels)
            seconds = time.perf_counter() - start
        scores = evaluate(y, consensus)
        record = {
            "n": len(y),
            "partitions": labels.shape[1],
            "ACC": round(100 * scores["ACC"], 2),
            "NMI": round(100 * scores["NMI"], 2),
            "iterations": int(method.n_iter_),
            "converged": bool(method.converged_),
            "minutes": round(seconds / 60, 2),
            "peak_gb": round(memory.gained / 2**30, 2),
        }
        if isinstance(method, RCE):
            record["distinct"] = len(method.core_matrix_)
        keep(name, type(method).__name__, record)


def keep(data: str, method: str, record: dict[str, Any]) -> None:
    records = load()
    records.setdefault(data, {})[method] = record
    RECORDS.write_text(json.dumps(records, indent=1) + "\n")


def load() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the records by data set and method."""
    return json.loads(RECORDS.read_text()) if RECORDS.exists() else {}


def report() -> None:
    """Print our values and the published ones."""
    columns = ("data", "method", "ACC", "printed", "NMI", "printed", "iterations", "min", "GB")
    table = Table(*columns)
    for data, methods in load().items():
        for method, r in methods.items():
            accuracy, nmi = PRINTED[data, method]
            size = f"{data}, n = {r['n']}" + (f", n' = {r['distinct']}" if "distinct" in r else "")
            cells = (r["ACC"], accuracy, r["NMI"], nmi, r["iterations"], r["minutes"], r["peak_gb"])
            table.add_row(size, method, *(str(cell) for cell in cells))
    Console(width=120).print(table)


def main() -> None:
    names = list(dict.fromkeys(data for data, _ in PRINTED))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=names, default=names)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--report", action="store_true", help="only print the records")
    options = parser.parse_args()
    for name in () if options.report else options.data:
        run(name, options.methods)
    report()


if __name__ == "__main__":
    main()
