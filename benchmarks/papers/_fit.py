"""Fit one method to one ensemble and score it. Only the fit is timed."""

from __future__ import annotations

import inspect
import json
import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.papers._ensembles import Drawn, draw_ensemble, only_data
from benchmarks.papers._tables import Task
from partita import multiview
from partita.config import config_context
from partita.exceptions import PartitaWarning
from partita.metrics import evaluate
from partita.registry import get_method

WARM_UP_ROWS = 60  # fitted before the timing, so that kernels are compiled


def fit_task(task: Task) -> dict[str, Any]:
    """Return scores, counts and seconds of a fit."""
    reads_features = task.key.startswith(("features.", "views."))
    drawn = (
        only_data(task.data, task.recipe)
        if reads_features
        else draw_ensemble(task.data, task.recipe, task.draw)
    )
    if task.key in ("base mean", "base best"):
        return {"ensemble": drawn.content, **base_scores(drawn, task.key)}
    parameters = json.loads(task.parameters)
    n_clusters = drawn.data.n_classes
    with warnings.catch_warnings(), config_context(n_threads=1):
        # the numbers of clusters and of iterations are in the record
        warnings.simplefilter("ignore", PartitaWarning)
        if not reads_features:
            warm_up(task.key, task.parameters)
        method = make(task.key, n_clusters, parameters, task.seed, task.draw)
        source = samples(task.key, drawn)
        clock, cpu = time.perf_counter(), time.process_time()
        method.fit(source)
        seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    result: dict[str, Any] = {"ensemble": drawn.content, **scores(drawn.y, method.labels_)}
    result["n_clusters"] = len(np.unique(method.labels_))
    for name in ("n_iter_", "converged_", "objective_"):
        if (value := getattr(method, name, None)) is not None:
            result[name.rstrip("_")] = float(f"{value:.8g}") if name == "objective_" else int(value)
    return {**result, "seconds": round(seconds, 4), "cpu_seconds": round(cpu_seconds, 4)}


def make(key: str, n_clusters: int, parameters: dict[str, Any], seed: int, draw: int) -> Any:
    """Return an estimator. The draw is the seed of what reads features: nothing else differs."""
    if key == "features.kmeans":
        return KMeans(n_clusters, n_init=1, random_state=draw, **parameters)
    if key.startswith("views."):
        return getattr(multiview, key.removeprefix("views."))(
            n_clusters, random_state=draw, **parameters
        )
    method = get_method(key)
    if "random_state" in inspect.signature(method).parameters:
        parameters = {"random_state": seed, **parameters}
    return method(n_clusters=n_clusters, **parameters)


def samples(key: str, drawn: Drawn) -> Any:
    """Return what a method reads: views, features or partitions."""
    if key.startswith("views."):
        return list(drawn.data.views)
    return drawn.data.X if key.startswith("features.") else drawn.partitions


@lru_cache(maxsize=1000)
def warm_up(key: str, parameters: str) -> None:
    """Fit a small ensemble, once per process and method."""
    labels = np.random.default_rng(0).integers(0, 3, (WARM_UP_ROWS, 4))
    make(key, 3, json.loads(parameters), 0, 0).fit(labels)


def scores(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return every measure that a paper prints; "NMI_max" is that of the SPCE authors' program."""
    measures = evaluate(y, labels)
    measures["NMI_max"] = normalized_mutual_info_score(y, labels, average_method="max")
    return {name: round(float(value), 6) for name, value in measures.items()}


def base_scores(drawn: Drawn, key: str) -> dict[str, float]:
    """Return the mean or the best score of the base partitions."""
    all_scores = [scores(drawn.y, labels) for labels in drawn.partitions.T]
    choose = np.mean if key == "base mean" else np.max
    return {name: round(float(choose([s[name] for s in all_scores])), 6) for name in all_scores[0]}
