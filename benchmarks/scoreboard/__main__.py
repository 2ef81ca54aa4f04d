"""`python -m benchmarks.scoreboard DIR`: score methods and generators on a folder of sets.

Sets with features: every generator makes partitions, every method fuses them, and
`EnsembleClustering` clusters the features as it is. Sets with a table of labels by other
algorithms: every method fuses the table, and the algorithms are scored beside them. The number of
clusters is the true one (`--k-rules true`), the suggestion of `scan_k_features` or `scan_k`
("scan"), or first one and then the other (default). Several true labelings: the one that fits best
counts. Algorithms of scikit-learn cluster the same features into the true number.

Records are written as they come, and the same call continues a run that was stopped. A record
belongs to the content of a set, the number of partitions and the largest K of a scan: other data of
the same name and other settings are computed anew. Only sets, methods and settings of the call are
shown.

DIR is `PARTITA_DATA` or ../shared/data by default; the records of this folder are part of the
project. Those of other folders are written to scoreboard.jsonl. The layouts are described in
`_sets.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.data_folder import data_folder
from benchmarks.json_lines import Record, append, read
from benchmarks.scoreboard._picture import draw
from benchmarks.scoreboard._records import RECORDS, key_of
from benchmarks.scoreboard._sets import BenchmarkSet, find_sets
from benchmarks.scoreboard._sources import DEFAULT, SCIKIT, methods_of, sources, unused
from benchmarks.scoreboard._statistics import Board, boards
from benchmarks.scoreboard._work import Unit, run
from partita.generators import GENERATORS as GENERATOR_CLASSES
from partita.registry import all_methods

METHODS = ("ccgp", "lwgp", "lwea", "eac", "hbgf", "sec", "kcc", "mcla", "ecpcs", "voting", "lce")
GENERATORS = (DEFAULT, "landmark_spectral", "random_k", SCIKIT)
OTHER_RECORDS = Path("scoreboard.jsonl")


def chosen_sets(arguments: argparse.Namespace) -> list[BenchmarkSet]:
    """Return the sets of the call, small ones first; say which cannot be used, and why."""
    sets = find_sets(arguments.folder)
    chosen = []
    for each in sets:
        if arguments.sets and each.name not in arguments.sets:
            continue
        if problem := each.problem():
            print(f"{each.name} is left out: {problem}", file=sys.stderr)
        elif each.n_samples <= arguments.max_samples:
            chosen.append(each)
    for name in sorted({*arguments.sets} - {each.name for each in sets}):
        print(f"{name} is not in {arguments.folder}", file=sys.stderr)
    return sorted(chosen, key=lambda each: each.n_samples)


def units(arguments: argparse.Namespace) -> list[Unit]:
    """Return all work of the call, small sets first; say what a set has but cannot use."""
    work = []
    for dataset in chosen_sets(arguments):
        for k_rule in arguments.k_rules:
            left_out, reason = unused(dataset, k_rule)
            if left_out:
                what = f"{dataset.name}, K {k_rule}, {', '.join(left_out)}"
                print(f"{what}: left out, {reason}", file=sys.stderr)
        work += [
            Unit(
                arguments.folder,
                dataset.name,
                dataset.fingerprint,
                source,
                seed,
                k_rule,
                tuple(methods_of(source, arguments.methods)),
                arguments.partitions,
                arguments.largest_k,
            )
            for k_rule in arguments.k_rules
            for source in sources(dataset, arguments.generators, k_rule)
            for seed in range(arguments.seeds)
        ]
    return work


def not_done(work: list[Unit], records: list[Record]) -> list[Unit]:
    """Return the units with methods that have no records yet, with these methods only."""
    done = defaultdict(set)
    for record in records:
        done[key_of(record)].add(record["method"])
    left = [
        replace(unit, methods=tuple(m for m in unit.methods if m not in done[unit.key]))
        for unit in work
    ]
    return [unit for unit in left if unit.methods]


def of_call(work: list[Unit], records: list[Record]) -> list[Record]:
    """Return the records of the units, and of the algorithms in their tables."""
    methods = {unit.key: unit.methods for unit in work}
    return [
        record
        for record in records
        if (key := key_of(record)) in methods
        and (record["method"] in methods[key] or record["seconds"] is None)
    ]


def measure(work: list[Unit], file: Path, jobs: int) -> None:
    """Run all units in processes and append their records as they come."""
    messages = Console(stderr=True, highlight=False)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(run, unit): unit for unit in work}
        for j, future in enumerate(as_completed(futures)):
            append(file, future.result())
            unit = futures[future]
            about = unit.name, unit.source, unit.seed, unit.k_rule
            messages.print(f"{j + 1} of {len(work)}:", *about)


def show(board: Board, console: Console) -> None:
    """Print a board: means, ranks, wins and losses against the default, seconds."""
    reference = board.reference
    title = f"{board.title}: {len(board.sets)} sets"
    table = Table("contender", title=title)
    for heading in ("ARI", "difference", "s.e.", "rank", "wins", "losses", "failed", "seconds"):
        table.add_column(heading, justify="right")
    for j, name in enumerate(board.contenders):
        difference, error = board.difference(j, reference)
        wins, losses = board.wins_and_losses(j, reference)
        seconds = board.seconds[j]
        table.add_row(
            name,
            f"{board.means[j]:.3f}",
            f"{difference:.3f}",
            f"{error:.3f}",
            f"{board.ranks[j]:.2f}",
            str(wins),
            str(losses),
            str(board.n_failed[j]),
            "" if np.isnan(seconds) else f"{seconds:.2f}",
        )
    console.print(table)
    console.print(
        f"differences, wins and losses against {board.contenders[reference]}; "
        f"Friedman p = {board.friedman_p:.2g}; critical difference of ranks = "
        f"{board.critical_difference:.2f}"
    )


def parse(argv: list[str]) -> argparse.Namespace:
    summary = str(__doc__).partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard", description=summary)
    parser.add_argument("folder", type=Path, nargs="?", default=data_folder(), help="of sets")
    parser.add_argument("--sets", nargs="+", default=[], help="names of sets; default all")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=METHODS,
        help="keys of methods",
        choices=[method.info.key for method in all_methods()],
        metavar="METHOD",
    )
    parser.add_argument(
        "--generators",
        nargs="+",
        default=GENERATORS,
        help=f"keys of generators, {DEFAULT} and {SCIKIT}",
        choices=[DEFAULT, SCIKIT, *GENERATOR_CLASSES],
        metavar="GENERATOR",
    )
    parser.add_argument("--k-rules", nargs="+", default=("true", "scan"), choices=("true", "scan"))
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--partitions", type=int, default=20, help="partitions of a generator")
    parser.add_argument("--largest-k", type=int, default=20, help="largest K of a scan")
    parser.add_argument("--max-samples", type=int, default=10_000, help="skip larger sets")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("--records", type=Path, help="file to continue")
    parser.add_argument("--pictures", type=Path, help="folder for critical-difference pictures")
    parser.add_argument("--show", action="store_true", help="only show the records of the call")
    arguments = parser.parse_args(argv)
    if not arguments.show and (arguments.folder is None or not arguments.folder.is_dir()):
        parser.error(f"Expected a folder of benchmark sets, got {arguments.folder}.")
    if arguments.records is None:
        is_ours = arguments.folder is None or arguments.folder == data_folder()
        arguments.records = RECORDS if is_ours else OTHER_RECORDS
    return arguments


def main(argv: list[str]) -> None:
    arguments = parse(argv)
    work = units(arguments) if arguments.folder else None
    if work and not arguments.show:
        left = not_done(work, read(arguments.records))
        print(f"{len(left)} of {len(work)} units left, {arguments.records}", file=sys.stderr)
        measure(left, arguments.records, arguments.jobs)
    records = read(arguments.records)
    console = Console(width=120)
    for board in boards(records if work is None else of_call(work, records)):
        if not board.sets:
            continue
        show(board, console)
        if arguments.pictures and len(board.contenders) > 1:
            arguments.pictures.mkdir(parents=True, exist_ok=True)
            name = board.title.replace(", ", "-").replace(" ", "-").lower()
            draw(board, arguments.pictures / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
