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
from sklearn.base import clone

import partita
from benchmarks.speed._measure import Record, peak_mb
from partita import Ensemble, LabelStore
from partita.consensus import Size
from partita.datasets import make_partitions
from partita.registry import all_methods, prepare

LARGEST_RATIO = 1.3
REQUIRED = 128 << 20
N_PARTITIONS, N_BASE_CLUSTERS, N_CLUSTERS = 20, 30, 10
SHORT = {"n_init": 1, "max_iter": 2}  # more restarts and iterations need no more memory


@dataclass(frozen=True)
class Case:
    """A call and its argument.

    `required` is the promise of a method; by default it is the largest amount that a step requires.
    """

    call: Callable[[Any], Any]
    argument: Any
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
    return Case(lambda partitions: clone(method).fit(partitions), rows, promise)


def on_rows(function: Callable[..., Any], n_rows: int = 4200, **options: Any) -> Callable[[], Case]:
    return lambda: Case(lambda partitions: function(partitions, **options), ensemble(n_rows))


def on_clusters(function: Callable[..., Any], *arguments: Any) -> Callable[[], Case]:
    """Call the function for 4200 base clusters."""
    return lambda: Case(
        lambda partitions: function(partitions, *arguments), ensemble(2000, 42, 100)
    )


def diagnosis_case() -> Case:
    labels = np.random.default_rng(0).integers(80, size=50_000)
    pair = ensemble(len(labels), compressed=False), labels
    return Case(lambda pair: partita.diagnose(*pair), pair)


def store_case() -> Case:
    codes = np.random.default_rng(0).integers(100, size=(2_500_000, 50), dtype=np.uint8)
    path = Path(tempfile.mkdtemp(), "labels")
    store = LabelStore.from_partitions(Ensemble.from_partitions(codes), path)
    return Case(lambda store: store.to_ensemble(), store)


def accuracy_case() -> Case:
    rng = np.random.default_rng(0)
    pair = [rng.permutation(12_600) % 4200 for _ in range(2)]
    return Case(lambda pair: partita.metrics.accuracy(*pair), pair)


def spectral_case(n_jobs: int) -> Case:
    generator = partita.SpectralBandwidths(
        N_CLUSTERS, multipliers=(0.1, 0.5), n_init=1, n_jobs=n_jobs, random_state=0
    )
    X = np.random.default_rng(0).standard_normal((2400, 5))
    return Case(lambda X: clone(generator).fit(X), X)


def segment_case() -> Case:
    folder = Path(tempfile.mkdtemp())

    features = np.random.default_rng(0).standard_normal((500_000, 50), dtype=np.float32)
    np.save(folder / "features.npy", features)

    def call(path: str) -> Any:
        store = tempfile.mkdtemp(dir=folder) + "/labels"
        return partita.segment(
            path, store, n_partitions=1, ratio=0.5, n_clusters=10, n_jobs=1, random_state=0
        )

    return Case(call, str(folder / "features.npy"))


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
        case.call(case.argument)  # loads and compiles what the size of the work requires
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith("partita.") and hasattr(module, "require_memory"):
                module.require_memory = record

    def timed() -> None:
        start = time.perf_counter()
        case.call(case.argument)
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
