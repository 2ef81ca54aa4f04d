"""Compare the peak memory of public calls with the bytes they require from the memory budget.

Every call runs in a process of its own, at a size at which it requires 128 MB or more, so that
buffers of libraries do not matter. `python -m benchmarks.speed.memory [name ...]` prints the table
of some calls only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import partita
from benchmarks.speed._measure import Record, peak_mb
from partita import Ensemble, LabelStore
from partita.consensus import Size
from partita.datasets import make_partitions
from partita.registry import all_methods, prepare

LARGEST_RATIO = 1.3
REQUIRED = 128 << 20
N_PARTITIONS, N_BASE_CLUSTERS, N_CLUSTERS, N_WARM = 20, 30, 10, 300
SHORT = {"n_init": 1, "max_iter": 2}  # more restarts and iterations need no more memory


@dataclass(frozen=True)
class Case:
    """A call, the arguments for it, and smaller ones that load and compile what it needs.

    `required` is the promise of a method; by default it is the largest amount that a step requires.
    """

    call: Callable[[Any], Any]
    full: Any
    small: Any
    required: int | None = None


@dataclass(frozen=True)
class MemoryRecord(Record):
    """A peak of memory compared with the bytes that the call requires; the times are equal."""

    @property
    def ratio(self) -> float:
        assert self.peak_mb is not None
        assert self.reference_peak_mb is not None
        return self.reference_peak_mb / self.peak_mb


def ensemble(
    n_rows: int,
    n_partitions: int = N_PARTITIONS,
    k: int = N_BASE_CLUSTERS,
    *,
    compressed: bool = True,
) -> Ensemble:
    """Return distinct rows of labels, most of them with a common structure."""
    partitions, _ = make_partitions(
        n_rows, n_partitions, N_CLUSTERS, noise=0.3, k_min=k, k_max=k, random_state=0
    )
    rows = Ensemble.from_partitions(partitions)
    return rows.compress() if compressed else rows


def method_case(key: str) -> Case:
    method = prepare(key, N_CLUSTERS, 0)
    method.set_params(**{name: SHORT[name] for name in SHORT if name in method.get_params()})

    def required(n_rows: int) -> int:
        length = N_PARTITIONS * N_BASE_CLUSTERS
        return int(method.bytes_needed(Size(n_rows, N_PARTITIONS, length, N_CLUSTERS)))

    low, high = 1, 1 << 22
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if required(middle) < REQUIRED else (low, middle)
    rows = ensemble(low)
    promise = method.bytes_needed(Size.of(rows, N_CLUSTERS))
    return Case(method.fit, rows, ensemble(N_WARM), promise)


def on_rows(function: Callable[..., Any], n_rows: int = 4200, **options: Any) -> Callable[[], Case]:
    return lambda: Case(
        lambda partitions: function(partitions, **options), ensemble(n_rows), ensemble(N_WARM)
    )


def on_clusters(function: Callable[..., Any], *arguments: Any) -> Callable[[], Case]:
    """Call the function for 4200 base clusters."""
    return lambda: Case(
        lambda partitions: function(partitions, *arguments),
        ensemble(2000, 42, 100),
        ensemble(N_WARM, 42, 5),
    )


def diagnosis_case() -> Case:
    def labeled(n: int, k: int) -> tuple[Ensemble, np.ndarray]:
        return ensemble(n, compressed=False), np.random.default_rng(0).integers(k, size=n)

    return Case(lambda pair: partita.diagnose(*pair), labeled(50_000, 40), labeled(N_WARM, 40))


def store_case() -> Case:
    folder = Path(tempfile.mkdtemp())

    def store(n: int) -> LabelStore:
        rng = np.random.default_rng(0)
        codes = rng.integers(100, size=(n, 50), dtype=np.uint8)
        return LabelStore.from_partitions(Ensemble.from_partitions(codes), folder / str(n))

    return Case(lambda source: source.to_ensemble(), store(2_500_000), store(N_WARM))


def accuracy_case() -> Case:
    def pair(k: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        return rng.permutation(3 * k) % k, rng.permutation(3 * k) % k

    return Case(lambda labels: partita.metrics.accuracy(*labels), pair(4200), pair(20))


def spectral_case(n_jobs: int) -> Case:
    generator = partita.SpectralBandwidths(
        N_CLUSTERS, multipliers=(0.1, 0.5), n_init=1, n_jobs=n_jobs, random_state=0
    )
    X = np.random.default_rng(0).standard_normal((2400, 5))
    return Case(generator.fit, X, X[:N_WARM])


def segment_case() -> Case:
    folder = Path(tempfile.mkdtemp())

    def features(n: int) -> str:
        path = folder / f"{n}.npy"
        np.save(path, np.random.default_rng(0).standard_normal((n, 50), dtype=np.float32))
        return str(path)

    def call(path: str) -> Any:
        store = tempfile.mkdtemp(dir=folder) + "/labels"
        return partita.segment(
            path, store, n_partitions=1, ratio=0.5, n_clusters=10, n_jobs=1, random_state=0
        )

    return Case(call, features(500_000), features(N_WARM))


CASES: dict[str, Callable[[], Case]] = {
    **{c.info.key: lambda key=c.info.key: method_case(key) for c in all_methods()},
    "agreement_counts": on_rows(partita.matrices.agreement_counts, 8400),
    "coassociation": on_rows(partita.coassociation),
    "crowd_weighted_coassociation": on_rows(partita.matrices.crowd_weighted_coassociation),
    "enhanced_coassociation": on_rows(partita.enhanced_coassociation),
    "incomplete_coassociation": on_rows(partita.matrices.incomplete_coassociation),
    "locally_weighted_coassociation": on_rows(partita.locally_weighted_coassociation),
    "trajectory_similarity": on_rows(partita.matrices.trajectory_similarity, 2000),
    "cluster_jaccard": on_clusters(partita.matrices.cluster_jaccard),
    "cluster_similarity": on_clusters(partita.matrices.cluster_similarity),
    "connected_triples": on_clusters(partita.matrices.connected_triples, np.ones(42)),
    "accuracy": accuracy_case,
    "diagnose": diagnosis_case,
    "LabelStore.to_ensemble": store_case,
    "SpectralBandwidths, n_jobs=1": lambda: spectral_case(1),
    "SpectralBandwidths, n_jobs=2": lambda: spectral_case(2),
    "segment": segment_case,
}


def run(names: list[str] | None = None) -> list[Record]:
    return [_measured(name) for name in names or CASES]


def _measured(name: str) -> MemoryRecord:
    # A fixed threshold, so that freed arrays go back to the system and are not used again unseen.
    environment = os.environ | {
        "MALLOC_MMAP_THRESHOLD_": "65536",
        "MALLOC_TRIM_THRESHOLD_": "65536",
    }
    command = [sys.executable, "-m", "benchmarks.speed.memory", "--measure", name]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return MemoryRecord(**json.loads(output.stdout))


def measure(name: str) -> MemoryRecord:
    """Run the call in this process, and collect the bytes that it requires."""
    warnings.simplefilter("ignore")
    case = CASES[name]()
    statements = [0]
    elapsed = []

    def record(needed: int, *_: Any) -> None:
        statements.append(int(needed))

    def warm() -> None:
        case.call(case.small)
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith("partita.") and hasattr(module, "require_memory"):
                module.require_memory = record

    def timed() -> None:
        start = time.perf_counter()
        case.call(case.full)
        elapsed.append(time.perf_counter() - start)

    peak = peak_mb(timed, warm)
    required_mb = (case.required or max(statements)) / 2**20
    return MemoryRecord(
        name=f"memory of {name}",
        seconds=elapsed[0],
        reference="bytes required from the memory budget",
        reference_seconds=elapsed[0],
        target=1 / LARGEST_RATIO,
        peak_mb=peak,
        reference_peak_mb=required_mb,
        note=f"peak / required = {peak / required_mb:.2f}",
    )


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--measure"]:
        print(json.dumps(vars(measure(arguments[1]))))
        return
    for name in arguments or CASES:
        r = _measured(name)
        print(
            f"{r.name}: peak {r.peak_mb:.0f} MB, required {r.reference_peak_mb:.0f} MB, {r.note}; "
            f"{r.seconds:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
