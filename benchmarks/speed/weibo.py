"""The size of the SEC paper's largest experiment, compared with the limits of the machine.

    python -m benchmarks.speed.weibo [--rows 61212950] [--iterations 30] [--folder /some/disk]

61,212,950 rows with planted clusters and 100 partitions, each of 10,000,000 sampled rows in 100
clusters (`--rows` makes it smaller and keeps the sampled share). The labels are written to a store
and fused from it. Two lower bounds of an iteration are measured in the same run: reading the labels
once, and looking up one vector of K numbers per label in the second-level cache.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.json_lines import read, write
from benchmarks.speed._measure import Record
from partita import SEC, LabelStore, config_context, get_config
from partita._kernels._compiled._jit import jit
from partita._kernels.quantization import whole_cache_lines
from partita._threads import run_blocks
from partita.exceptions import ConvergenceWarning

ROWS, SAMPLED, PARTITIONS, CLUSTERS = 61_212_950, 10_000_000, 100, 100
PIECES, NOISE = 2, 0.2
TABLE_PARTITIONS = 5  # their vectors take 224 kB: too much for first-level caches
RECORDS = Path(__file__).with_suffix(".jsonl")
TARGET = 2.0  # an iteration takes at most this many times the sum of the limits
SIZES = (1_000_000, 4_000_000)  # rows of the records in the table of all speed records


@jit
def _random(x):
    """Return a pseudorandom number in [0, 1) from a counter (SplitMix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.float64(x >> np.uint64(11)) * 2.0**-53


@jit
def _fill(labels, start, n_rows, missing, n_clusters, pieces, noise, n_left, truth, first, last):
    """Fill partitions first..last; `n_left[i]` of the remaining rows are still to be sampled."""
    for i in range(first, last):
        for x in range(len(labels)):
            row = start + x
            seed = np.uint64(row) * np.uint64(1_000_003) + np.uint64(i) * np.uint64(
                7_919_000_000_003
            )
            if _random(seed) * (n_rows - row) >= n_left[i]:
                labels[x, i] = missing
                continue
            n_left[i] -= 1
            u = _random(seed + np.uint64(1))
            if u < noise:
                labels[x, i] = np.int64(u / noise * n_clusters)
            else:
                piece = np.int64((u - noise) / (1.0 - noise) * pieces)
                name = np.uint64((np.int64(truth[x]) * pieces + piece) * 1_000 + i)
                labels[x, i] = np.int64(_random(name) * n_clusters)


@jit(overlaps=False)
def _look_up(codes, table, out):
    """Sum vectors of a table, eight at a time."""
    width = table.shape[1]
    for r in range(0, len(codes) - 7, 8):
        t0, t1 = table[codes[r]], table[codes[r + 1]]
        t2, t3 = table[codes[r + 2]], table[codes[r + 3]]
        t4, t5 = table[codes[r + 4]], table[codes[r + 5]]
        t6, t7 = table[codes[r + 6]], table[codes[r + 7]]
        for k in range(width):
            out[k] += ((t0[k] + t1[k]) + (t2[k] + t3[k])) + ((t4[k] + t5[k]) + (t6[k] + t7[k]))


@dataclass(frozen=True)
class Weibo:
    """Results of one run."""

    rows: int
    partitions: int
    clusters: int
    sampled: int
    seconds_to_make: float
    seconds_to_fit: float
    iterations: int
    converged: bool
    seconds_per_iteration: float
    first_iteration: float
    rows_per_second: float
    look_ups_per_second: float
    peak_gb: float
    ari: float
    read_seconds: float
    look_up_seconds: float
    ratio_to_limits: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.rows:,} rows x {self.partitions} partitions of {self.sampled:,} rows, "
                f"K_i = K = {self.clusters}",
                f"made in {self.seconds_to_make:.0f} s, fused in {self.seconds_to_fit:.0f} s",
                f"{self.iterations} iterations of {self.seconds_per_iteration:.2f} s in the mean "
                f"(first {self.first_iteration:.2f} s): {self.rows_per_second:.3g} rows/s, "
                f"{self.look_ups_per_second:.3g} labels/s",
                f"limits of the machine: reading {self.read_seconds:.2f} s, look-ups "
                f"{self.look_up_seconds:.2f} s; an iteration is {self.ratio_to_limits:.2f} times "
                f"their sum (target: at most {TARGET:g})",
                f"peak resident memory {self.peak_gb:.2f} GB, ARI to the planted clusters "
                f"{self.ari:.4f}",
            ]
        )


def make(folder: Path, n_rows: int, sampled: int) -> tuple[LabelStore, np.ndarray]:
    """Return a store of partitions and the planted clusters."""
    truth = np.random.default_rng(0).integers(0, CLUSTERS, n_rows).astype(np.uint8)
    writer = LabelStore.create(folder, n_rows, n_clusters=[CLUSTERS] * PARTITIONS)
    n_left = np.full(PARTITIONS, sampled)
    step = 1 << 18
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        labels = np.empty((stop - start, PARTITIONS), np.uint8)
        run_blocks(
            lambda first, last: _fill(
                labels, start, n_rows, 255, CLUSTERS, PIECES, NOISE, n_left, truth[start:stop],  # noqa: B023
                first, last,
            ),
            PARTITIONS,
            PARTITIONS // 4,
        )  # fmt: skip
        writer.write(start, labels)
    writer.finish()
    assert not n_left.any()
    return LabelStore.open(folder), truth


def read_limit(store: LabelStore) -> float:
    """Return the seconds to read all labels once, with the configured number of threads."""
    blocks = store.blocks()

    def read(first: int, last: int) -> None:
        buffer = np.empty((store.rows_per_chunk, store.n_partitions), store.dtype)
        for start, stop in blocks[first:last]:
            store.read(start, stop, buffer)

    def everything() -> None:
        run_blocks(read, len(blocks), max(1, len(blocks) // 8))

    everything()  # checksums are compared the first time
    start = time.perf_counter()
    everything()
    return time.perf_counter() - start


def look_up_limit(n_labels: int) -> float:
    """Return the seconds to look up one vector per label in a table in the second-level cache.

    A table of one partition would fit the first-level cache of many processors, which that of all
    partitions never does. Vectors fill cache lines, and each thread adds to lines of its own.
    """
    rng = np.random.default_rng(1)
    width = -(-CLUSTERS // 16) * 16
    table = whole_cache_lines((TABLE_PARTITIONS * CLUSTERS, width), np.float32)
    table[:] = rng.random(table.shape)
    threads = get_config().n_threads
    codes = rng.integers(0, len(table), (threads, 4_000_000)).astype(np.uint16)
    sums = [whole_cache_lines((width,), np.float32) for _ in range(threads)]

    def call() -> None:
        run_blocks(lambda a, _: _look_up(codes[a], table, sums[a]), threads, 1)

    call()
    # the median, not the best: iterations also run at the usual speed
    usual = float(np.median([_seconds(call) for _ in range(30)]))
    return usual / codes.size * n_labels


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def agreement(labels: np.ndarray, truth: np.ndarray) -> float:
    """Return the ARI, counted a block of rows at a time."""
    table = np.zeros((CLUSTERS, int(labels.max()) + 1))
    for start in range(0, len(truth), 1 << 22):
        part = slice(start, start + (1 << 22))
        there = labels[part] >= 0
        np.add.at(table, (truth[part][there], labels[part][there]), 1)
    pairs = lambda counts: float((counts * (counts - 1)).sum()) / 2  # noqa: E731
    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = rows * columns / pairs(table.sum())
    return (both - chance) / ((rows + columns) / 2 - chance)


def fuse(store: LabelStore, iterations: int) -> tuple[SEC, float, list[float]]:
    """Return the fitted method, the total seconds, and the seconds of every iteration.

    The first iteration, which searches all rows, and the last, in which no row moves, count like
    the others.
    """
    begins: list[float] = []
    ends: list[float] = []

    def note(step: Any) -> None:
        if step.task == "rows" and step.done in (0, step.total):
            (ends if step.done else begins).append(time.perf_counter())

    method = SEC(CLUSTERS, n_init=1, max_iter=iterations, random_state=0)
    began = time.perf_counter()
    with config_context(progress=note), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        method.fit(store)
    total = time.perf_counter() - began
    passes = np.subtract(ends, begins)
    n_passes = method.n_iter_ + int(method.converged_)
    return method, total, passes[-n_passes - 1 : -1].tolist()  # the last pass writes the labels


def measure(n_rows: int, iterations: int, folder: Path) -> Weibo:
    sampled = round(SAMPLED * n_rows / ROWS)
    warm_up(folder / "small")
    start = time.perf_counter()
    store, truth = make(folder / "labels", n_rows, sampled)
    made = time.perf_counter() - start
    limits = [(read_limit(store), look_up_limit(sampled * PARTITIONS))]
    method, total, passes = fuse(store, iterations)
    # measured twice; the faster one counts
    limits += [(read_limit(store), look_up_limit(sampled * PARTITIONS))]
    read, look_up = np.min(limits, axis=0).tolist()
    per_iteration = float(np.mean(passes))
    return Weibo(
        rows=n_rows,
        partitions=PARTITIONS,
        clusters=CLUSTERS,
        sampled=sampled,
        seconds_to_make=made,
        seconds_to_fit=total,
        iterations=len(passes),
        converged=method.converged_,
        seconds_per_iteration=per_iteration,
        first_iteration=passes[0],
        rows_per_second=n_rows / per_iteration,
        look_ups_per_second=sampled * PARTITIONS / per_iteration,
        peak_gb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        ari=agreement(method.labels_, truth),
        read_seconds=read,
        look_up_seconds=look_up,
        ratio_to_limits=per_iteration / (read + look_up),
    )


def warm_up(folder: Path) -> None:
    """Compile all kernels on a small store."""
    store, _ = make(folder, 20_000, 3_000)
    fuse(store, 2)


def run() -> list[Record]:
    """Measure some million rows, for the table of all speed records."""
    records = []
    for n_rows in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(n_rows, 10, Path(folder))
        records.append(
            Record(
                f"SEC from a store, one iteration, n = {n_rows}, m = 100, 84 % missing, K = 100",
                result.seconds_per_iteration,
                "reading the labels + look-ups at the speed of the second-level cache",
                result.read_seconds + result.look_up_seconds,
                1.0 / TARGET,
                note=f"{result.look_ups_per_second:.3g} labels/s",
            )
        )
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=ROWS)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--folder", type=Path, help="where to make the store; it is removed")
    parser.add_argument("--dry", action="store_true", help="write no record")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure(options.rows, options.iterations, Path(folder))
    print(result)
    if options.dry:
        return
    kept = [record for record in read(RECORDS) if record["rows"] != result.rows]
    write(RECORDS, sorted([*kept, asdict(result)], key=lambda r: r["rows"]))


if __name__ == "__main__":
    main()
