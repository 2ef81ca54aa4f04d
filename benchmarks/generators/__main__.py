"""Write the records: `python -m benchmarks.generators [SET ...]`.

Every set is clustered by every generator, raw and standardized, for two seeds, and the partitions
are fused by every method, with the true number of clusters. Records that exist are kept, so that
an interrupted run continues. "mixture" has half of the partitions of RandomK and half of those of
LandmarkSpectral; RandomLeiden needs the extra `leiden`. `is_automatic` says whether scale="auto"
chooses this scale. Texts are clustered by the cosine, as counts and as tf-idf, and not by
RandomMetrics, which takes no sparse features. Sets outside the halves are clustered by RandomK,
LandmarkSpectral and the mixture. "EnsembleClustering" is the estimator as it is called with the
number of clusters alone: its own scale, partitions, rivals and method. `PARTITA_DATA` names the
folder of the data; by default ../shared/data.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.generators._sets import OUTSIDE, SETS, TEXTS, load, scaled
from benchmarks.json_lines import Record, append, read
from partita import CCGP, HBGF, LWGP, EnsembleClustering
from partita.generators import (
    LandmarkSpectral,
    RandomK,
    RandomLeiden,
    RandomMetrics,
    make_scaler,
)

RECORDS = Path(__file__).with_name("records.jsonl")
GENERATORS = (RandomK, LandmarkSpectral, RandomMetrics, RandomLeiden)
MIXTURE, MIXED = "mixture", ("RandomK", "LandmarkSpectral")
DEFAULT = EnsembleClustering.__name__
METHODS = (CCGP, LWGP, HBGF)
N_PARTITIONS, SEEDS = 20, (0, 1)


def make_records(name: str, scale: str, seed: int, wanted: set[str]) -> list[Record]:
    """Return one record per method and wanted generator."""
    X, y = load(name)
    is_text = name in TEXTS
    is_automatic = not is_text and (make_scaler(X) is None) == (scale == "none")
    n_clusters = len(np.unique(y))
    common = {
        "set": name,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "n_clusters": n_clusters,
        "scale": scale,
        "is_automatic": is_automatic,
        "seed": seed,
    }
    raw, X = X, scaled(X, scale)
    partitions, seconds = {}, {}
    options = {"metric": "cosine"} if is_text else {}
    needed = wanted | (set(MIXED) if MIXTURE in wanted else set())
    for generator in [g for g in GENERATORS if g.__name__ in needed]:
        start = time.perf_counter()
        unfitted = generator(N_PARTITIONS, random_state=seed, **options)
        if "n_clusters" in unfitted.get_params():  # Leiden has a resolution instead
            unfitted.set_params(n_clusters=n_clusters)
        fitted = unfitted.fit(X)
        seconds[generator.__name__] = time.perf_counter() - start
        partitions[generator.__name__] = fitted.labels_
    if MIXTURE in wanted:
        half = N_PARTITIONS // 2
        partitions[MIXTURE] = np.hstack([partitions[key][:, :half] for key in MIXED])
        seconds[MIXTURE] = sum(seconds[key] for key in MIXED) / 2
    records = []
    for key in [key for key in partitions if key in wanted]:
        for method in METHODS:
            consensus = method(n_clusters, random_state=seed).fit_predict(partitions[key])
            records.append(
                common
                | {"generator": key, "method": method.__name__, "ARI": _agreement(y, consensus)}
                | {"generator_seconds": round(seconds[key], 3)}
            )
    if DEFAULT in wanted and (is_text or is_automatic):
        start = time.perf_counter()
        model = EnsembleClustering(n_clusters, random_state=seed).fit(X if is_text else raw)
        cost = {"fit_seconds": round(time.perf_counter() - start, 3)}
        made = {"generator": DEFAULT, "method": type(model.method_).__name__}
        records.append(common | made | {"ARI": _agreement(y, model.labels_)} | cost)
    return records


def _agreement(y: Any, labels: Any) -> float:
    return round(float(adjusted_rand_score(y, labels)), 4)


def main(names: list[str]) -> None:
    """Add the records that are missing; `python docs/write_pages.py` makes the tables."""
    have = {(r["set"], r["scale"], r["seed"], r["generator"]) for r in read(RECORDS)}
    for name in names or (*SETS, *OUTSIDE, *TEXTS):
        for scale in ("counts", "tf-idf") if name in TEXTS else ("none", "standard"):
            for seed in SEEDS:
                wanted = {MIXTURE, *MIXED, DEFAULT}
                if name not in OUTSIDE:
                    wanted |= {g.__name__ for g in GENERATORS}
                wanted -= {"RandomMetrics"} if name in TEXTS else set()
                wanted -= {key for key in wanted if (name, scale, seed, key) in have}
                if not wanted:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    append(RECORDS, make_records(name, scale, seed, wanted))
                print(f"{name}, {scale}, seed {seed}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
