"""`python -m benchmarks.compare`: compare every method with the other libraries that offer it.

All contenders get the same partitions. Each runs in its own process with a limit on time and
memory. Only the call is measured, after imports and compilation. A library that is not installed is
skipped, and the record says why. A contender that exceeds a limit is not run with more samples or
partitions. Every record is written at once. A run replaces the records that it measures again;
`--resume` skips those that exist; `python docs/write_pages.py` writes the records into
docs/other-libraries.md. Time is measured by the clock and as CPU time of all threads. The limit
applies to CPU time, which is also the one to compare on a busy machine; every record holds the load
average at its start. The other libraries may be installed in another environment:

    python -m venv peers
    peers/bin/pip install "numpy<2" "scipy<1.11" "scikit-learn<1.5" kahypar pymetis joblib \
        consensusclustering
    peers/bin/pip install --no-deps ensembleclustering
    python -m benchmarks.compare --peer-python peers/bin/python

`ensembleclustering` 1.0.2 pins versions that no longer build, and uses an interface of sparse
matrices that SciPy removed in 1.11; hence `--no-deps` and the older SciPy. `ClusterEnsembles`, of
which it is a copy, is no longer on PyPI.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.compare._contenders import PEERS, Contender, ours
from benchmarks.compare._measure import Limits, Outcome, run
from benchmarks.compare._records import RECORDS, Records
from benchmarks.json_lines import Record
from partita.datasets import make_mixed_partitions
from partita.metrics import adjusted_rand
from partita.registry import all_methods

N_CLUSTERS = 10
SAMPLES, PARTITIONS = (1_000, 5_000, 20_000), (20, 100)
SHOWN = {"seconds": "{:.3g}", "cpu_seconds": "{:.3g}", "peak_mb": "{:.0f}", "ari": "{:.3f}"}
QUICK_SAMPLES, QUICK_PARTITIONS = (1_000, 5_000), (20,)


def planted(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return partitions of 10 to 40 clusters that split and mix classes, and the classes.

    Nearly all rows are distinct, so that compression gains nothing: the worst case for partita.
    """
    return make_mixed_partitions(
        n, m, N_CLUSTERS, n_pieces=4, noise=0.3, k_min=N_CLUSTERS, k_max=40
    )


def contenders(keys: list[str]) -> list[Contender]:
    """Return the methods of partita with these keys, each followed by its counterparts."""
    classes = {c.info.key: c for c in all_methods()}
    chosen = [classes[key] for key in keys or classes]
    ordered = []
    for method in chosen:
        ordered.append(ours(method.info.key, method.__name__))
        ordered += [peer for peer in PEERS if peer.beside == method.info.key]
    return ordered + [peer for peer in PEERS if not keys and peer.beside not in classes]


def measure(arguments: argparse.Namespace, records: Records) -> Iterator[Record]:
    """Yield a record for every contender and size; with `--resume`, only for missing ones."""
    limits = Limits(arguments.seconds, arguments.gigabytes)
    messages = Console(stderr=True, highlight=False)
    for m, n in product(sorted(arguments.m), sorted(arguments.n)):
        labels, y = planted(n, m)
        for contender in contenders(arguments.methods):
            cell = n, m, contender.library, contender.what
            if arguments.resume and cell in records.by_cell:
                continue
            messages.print(f"n = {n}, m = {m}: {contender.key}")
            load = os.getloadavg()[0]
            passed = records.passed_a_limit(*cell)
            if passed:
                why = "not run: passed a limit at n = {}, m = {}".format(*passed)
                outcome = Outcome(reason=why)
            else:
                outcome = _run(contender, labels, arguments.peer_python, limits)
            yield _record(contender, n, m, y, outcome, load)


def _run(contender: Contender, labels: np.ndarray, peer_python: str, limits: Limits) -> Outcome:
    """Run a contender in a temporary folder, in this interpreter if it must have the library."""
    is_ours = contender.library == "partita"
    is_here = is_ours or contender.library == "scikit-learn"
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "labels.npy", labels)
        return run(
            sys.executable if is_here else peer_python,
            contender.beside if is_ours else contender.key,
            Path(folder),
            N_CLUSTERS,
            limits,
        )


def _record(
    contender: Contender, n: int, m: int, y: np.ndarray, outcome: Outcome, load: float
) -> Record:
    return {
        "n": n,
        "m": m,
        "method": contender.beside,
        "library": contender.library,
        "what": contender.what,
        "seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "peak_mb": outcome.peak_mb,
        "ari": None if outcome.labels is None else adjusted_rand(y, outcome.labels),
        "load": round(load, 1),
        "passed_limit": outcome.beyond,
        "skipped" if outcome.missing else "did_not_finish_because": outcome.reason or None,
    }


def show(records: list[Record]) -> None:
    console = Console(width=150)
    for n, m in dict.fromkeys((r["n"], r["m"]) for r in records):
        table = Table("method", "library", "what", title=f"n = {n}, m = {m}, K = {N_CLUSTERS}")
        for heading in ("seconds", "CPU seconds", "peak MB", "ARI"):
            table.add_column(heading, justify="right")
        table.add_column("did not finish, because")
        for r in (r for r in records if (r["n"], r["m"]) == (n, m)):
            why = r.get("did_not_finish_because") or ""
            if "skipped" in r:
                why = f"skipped: {r['skipped']}"
            cells = ["" if r[key] is None else form.format(r[key]) for key, form in SHOWN.items()]
            table.add_row(r["method"], r["library"], r["what"], *cells, why)
        console.print(table)


def parse(argv: list[str]) -> argparse.Namespace:
    summary = str(__doc__).partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=summary)
    parser.add_argument("--quick", action="store_true", help="n = 1000, 5000 and m = 20 only")
    parser.add_argument("--n", type=int, nargs="+", help="numbers of samples")
    parser.add_argument("--m", type=int, nargs="+", help="numbers of partitions")
    parser.add_argument("--methods", nargs="+", default=[], help="keys of methods; default all")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter of the peers")
    parser.add_argument(
        "--seconds", type=float, default=Limits.seconds, help="limit of CPU time per call"
    )
    parser.add_argument(
        "--gigabytes", type=float, default=Limits.gigabytes, help="limit of memory per call"
    )
    parser.add_argument("--resume", action="store_true", help="skip records that exist")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file to write")
    arguments = parser.parse_args(argv)
    arguments.n = arguments.n or (QUICK_SAMPLES if arguments.quick else SAMPLES)
    arguments.m = arguments.m or (QUICK_PARTITIONS if arguments.quick else PARTITIONS)
    return arguments


def main(argv: list[str]) -> None:
    arguments = parse(argv)
    records = Records(arguments.records, Limits(arguments.seconds, arguments.gigabytes))
    for record in measure(arguments, records):
        records.add(record)  # written at once: a long run may be stopped
    show(list(records.by_cell.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
