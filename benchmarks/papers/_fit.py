"""Fit one method to one ensemble and score it. Only the fit is timed."""

from __future__ import annotations

import inspect
import json
import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

from benchmarks.papers._baselines import BASELINES
from benchmarks.papers._ensembles import Drawn, draw_ensemble, only_data
from benchmarks.papers._rules import RULES, Rule
from benchmarks.papers._tables import Task
from partita import multiview
from partita.config import config_context
from partita.exceptions import PartitaWarning
from partita.matrices import coassociation, locally_weighted_coassociation
from partita.metrics import evaluate
from partita.registry import get_method
from partita.solvers.components import connected_components

# fitted before the timing, so that kernels are compiled; large enough for 60 neighbors
WARM_UP_SHAPE = (100, 6)
MATRICES = {  # of the base partitions themselves: nothing is fitted
    "matrix.coassociation": coassociation,
    "matrix.lwca": locally_weighted_coassociation,
}


def fit_task(task: Task) -> dict[str, Any]:
    """Return scores, counts and seconds of a fit.

    A key such as "sec" is a method, "history.sec" the course of its iteration too, "matrix.sec"
    how well its learned matrix tells classes apart, "components.spce" the components of its learned
    matrix in place of its labels. The keys of `RULES` choose parameters without the truth.
    """
    reads_features = task.key.startswith(("features.", "views."))
    drawn = (
        only_data(task.data, task.recipe, task.draw)
        if reads_features
        else draw_ensemble(task.data, task.recipe, task.draw)
    )
    if task.key in ("base mean", "base best"):
        return {"ensemble": drawn.content, **base_scores(drawn, task.key)}
    if task.key == "coassociation values":
        return {"ensemble": drawn.content, **value_scores(drawn)}
    if task.key in MATRICES:
        matrix = MATRICES[task.key](drawn.partitions)
        return {"ensemble": drawn.content, **matrix_scores(drawn.y, matrix)}
    result, method = fit(task, drawn)
    if task.key.startswith("history."):
        result["iteration"] = list(range(1, len(method.history_) + 1))
        result["history"] = [float(f"{value:.4g}") for value in method.history_]
    if task.key.startswith("matrix."):
        result |= matrix_scores(drawn.y, method.consensus_matrix())
    if task.key.startswith("components."):
        n_components, component = connected_components(method.core_matrix_ > 0)
        result |= scores(drawn.y, component[method.core_index_]) | {"n_clusters": n_components}
    return result


def fit(task: Task, drawn: Drawn) -> tuple[dict[str, Any], Any]:
    """Return scores, counts and seconds of a fit, and the fitted method."""
    reads_features = task.key.startswith(("features.", "views."))
    whole = reads_features or task.key in RULES or task.key in BASELINES
    key = task.key if whole else task.key.rpartition(".")[2]
    parameters = parameters_of(task.parameters, drawn.y)
    n_clusters = drawn.data.n_classes
    with warnings.catch_warnings(), config_context(n_threads=1):
        # the numbers of clusters and of iterations are in the record
        warnings.simplefilter("ignore", PartitaWarning)
        if not reads_features:
            warm_up(key, task.parameters)
        method = make(key, n_clusters, parameters, task.seed, task.draw)
        source = samples(key, drawn)
        clock, cpu = time.perf_counter(), time.process_time()
        if drawn.present is None:
            method.fit(source)
        else:
            method.fit(source, present=drawn.present)
        seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    result: dict[str, Any] = {"ensemble": drawn.content, **scores(drawn.y, method.labels_)}
    result["n_clusters"] = len(np.unique(method.labels_))
    for name in ("n_iter_", "converged_", "objective_"):
        if (value := getattr(method, name, None)) is not None:
            result[name.rstrip("_")] = float(f"{value:.8g}") if name == "objective_" else int(value)
    result |= {"seconds": round(seconds, 4), "cpu_seconds": round(cpu_seconds, 4)}
    return result, method


def parameters_of(text: str, y: NDArray[np.int64]) -> dict[str, Any]:
    """Return the parameters of a fit; `init = "classes"` starts it at the true classes.

    Such a fit shows whether a partition near the classes is a minimum of the objective.
    """
    parameters = json.loads(text)
    if parameters.get("init") == "classes":
        parameters["init"] = y
    return parameters


def make(key: str, n_clusters: int, parameters: dict[str, Any], seed: int, draw: int) -> Any:
    """Return an estimator. The draw is the seed of what reads features: nothing else differs."""
    if key in BASELINES:
        return BASELINES[key](n_clusters, random_state=draw, **parameters)
    if key.startswith("views."):
        return getattr(multiview, key.removeprefix("views."))(
            n_clusters, random_state=draw, **parameters
        )
    if key in RULES:
        return Rule(RULES[key], n_clusters, parameters)
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
    labels = np.random.default_rng(0).integers(0, 3, WARM_UP_SHAPE)
    y = np.arange(len(labels)) % 3
    make(key, 3, parameters_of(parameters, y), 0, 0).fit(labels)


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


def value_scores(drawn: Drawn) -> dict[str, list[float]]:
    """Return precision and recall of every value of the co-association matrix.

    The precision of a value is the share of the pairs with that value that are in one class; its
    recall is the share of all pairs of one class that have it.
    """
    m = drawn.partitions.shape[1]
    pairs = np.triu_indices(len(drawn.y), 1)
    counts = np.rint(m * coassociation(drawn.partitions)[pairs]).astype(np.int64)
    same = (drawn.y[:, None] == drawn.y)[pairs]
    total, inside = np.bincount(counts, minlength=m + 1), np.bincount(counts[same], minlength=m + 1)
    present = np.flatnonzero(total)
    columns = {
        "coassociation": present / m,
        "share": total[present] / len(counts),
        "precision": inside[present] / total[present],
        "recall": inside[present] / same.sum(),
    }
    return {name: [round(float(value), 5) for value in col] for name, col in columns.items()}


def matrix_scores(y: np.ndarray, matrix: NDArray[np.float64]) -> dict[str, float]:
    """Return how well a matrix tells pairs of one class from other pairs.

    "contrast" is the mean inside classes minus the mean between them, divided by the larger of
    the two; "AUC" the share of pairs of pairs that are in the right order.
    """
    pairs = np.triu_indices(len(y), 1)
    values, same = np.asarray(matrix)[pairs], (y[:, None] == y)[pairs]
    inside, between = float(values[same].mean()), float(values[~same].mean())
    contrast = (inside - between) / max(abs(inside), abs(between))
    return {"contrast": round(contrast, 6), "AUC": round(float(roc_auc_score(same, values)), 6)}
