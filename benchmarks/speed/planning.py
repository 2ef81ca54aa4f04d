"""Compare the time that `partita.plan` predicts with the measured time: a factor of two."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.speed._measure import Record
from partita import Ensemble, LabelStore, config_context, plan
from partita.planning._workload import Workload
from partita.registry import prepare


def run() -> list[Record]:
    records = []
    for method, rows, m, k, k_i, missing, budget in (
        ("eac", 6_000, 20, 10, 30, 0.0, None),
        ("lwea", 6_000, 20, 10, 30, 0.0, None),
        ("lwgp", 60_000, 20, 10, 30, 0.0, None),
        ("hbgf", 30_000, 20, 10, 30, 0.0, None),
        ("sec", 40_000, 50, 20, 40, 0.2, None),
        ("kcc", 1_000_000, 50, 20, 40, 0.5, 300e6),
        ("lwgp", 1_000_000, 50, 20, 40, 0.5, 300e6),
    ):
        workload = Workload(rows, m, k, k_i, missing, rows, 1)
        ensemble = Ensemble.from_partitions(workload.synthetic_partitions(rows))
        with tempfile.TemporaryDirectory() as folder:
            model = prepare(method, k, 0)
            labels = ensemble
            if budget:
                labels = LabelStore.from_partitions(ensemble, Path(folder, "labels"))
                model.set_params(n_init=1)
            with config_context(memory_budget=budget):
                start = time.perf_counter()
                model.fit(labels)
                seconds = time.perf_counter() - start
                prediction = plan(
                    rows, m, k, method, n_base_clusters=k_i, missing_ratio=missing,
                    max_iter=model.n_iter_,
                )  # fmt: skip
        ratio = prediction.seconds / seconds
        records.append(
            Record(
                f"plan of {method}, {rows} x {m}, K = {k}, from {prediction.where}",
                seconds,
                "predicted by partita.plan",
                prediction.seconds,
                0.5,
                note=f"{'within' if 0.5 <= ratio <= 2 else 'OUTSIDE'} a factor of two",
            )
        )
    return records
