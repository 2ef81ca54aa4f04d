"""`run_demo`: fuse many k-means clusterings of handwritten digits by several methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from partita.config import report_progress
from partita.ensemble import Ensemble
from partita.generators import RandomK
from partita.metrics import evaluate
from partita.registry import get_method, prepare

__all__ = ["DEFAULT_METHODS", "Demo", "Score", "run_demo"]

DEFAULT_METHODS = ("eac", "lwea", "ccgp", "sec")
_MEASURES = ("ARI", "NMI", "ACC")
_WARM_UP_ROWS = 60  # fitted before the timing, so that the kernels are compiled


@dataclass(frozen=True)
class Score:
    """Scores of one method.

    Attributes
    ----------
    name : str
        Name of the method.
    measures : dict of str to float
        Agreement with the true classes: ARI, NMI and ACC.
    seconds : float
        Run time.
    """

    name: str
    measures: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Demo:
    """Result of `run_demo`.

    Attributes
    ----------
    images : array of shape (n_samples, height, width)
        The digits.
    y : array of shape (n_samples,)
        True classes.
    partitions : array of shape (n_samples, n_partitions)
        Base partitions.
    labels : dict of str to array of shape (n_samples,)
        The consensus of each method.
    scores : tuple of Score
        One per method, in the order of `methods`.
    base_mean, base_best : Score
        Mean and best value of each measure over the base partitions. The time is that of one.
    base_measures : dict of str to array of shape (n_partitions,)
        Measures of each base partition.
    """

    images: NDArray[Any]
    y: NDArray[np.int64]
    partitions: NDArray[Any]
    labels: dict[str, NDArray[np.int64]]
    scores: tuple[Score, ...]
    base_mean: Score
    base_best: Score
    base_measures: dict[str, NDArray[np.float64]]


def run_demo(
    *,
    n_partitions: int = 100,
    methods: Sequence[str] = DEFAULT_METHODS,
    random_state: int = 0,
) -> Demo:
    """Cluster the digits of scikit-learn many times and fuse the partitions by several methods.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions by k-means, with 10 to 42 clusters each.
    methods : sequence of str, default=("eac", "lwea", "ccgp", "sec")
        Keys of consensus methods, see `partita.registry`.
    random_state : int, default=0
        Seed of the generator and of all randomized methods.

    Returns
    -------
    Demo

    Examples
    --------
    >>> from partita.datasets import run_demo
    >>> demo = run_demo(n_partitions=5, methods=["ccgp"])
    >>> [score.name for score in demo.scores]
    ['CCGP']
    """
    classes = [get_method(key) for key in methods]
    digits = load_digits()
    n_classes = len(digits.target_names)
    start = perf_counter()
    generator = RandomK(n_partitions, n_clusters=n_classes, random_state=random_state)
    partitions = generator.fit_transform(digits.data)
    seconds = (perf_counter() - start) / n_partitions
    base = [evaluate(digits.target, column) for column in partitions.T]
    base_measures = {name: np.asarray([scores[name] for scores in base]) for name in _MEASURES}

    ensemble = Ensemble.from_partitions(partitions)
    warm_up = ensemble.subset(samples=slice(_WARM_UP_ROWS))
    labels: dict[str, NDArray[np.int64]] = {}
    scores = []
    for done, method in enumerate(classes):
        report_progress("fuse", done, len(classes), method.__name__)
        prepare(method, n_classes, random_state).fit(warm_up)
        start = perf_counter()
        fitted = prepare(method, n_classes, random_state).fit(ensemble)
        elapsed = perf_counter() - start
        measures = evaluate(digits.target, fitted.labels_)
        labels[method.__name__] = fitted.labels_
        scores.append(Score(method.__name__, {name: measures[name] for name in _MEASURES}, elapsed))
    report_progress("fuse", len(classes), len(classes))

    means = {name: float(values.mean()) for name, values in base_measures.items()}
    bests = {name: float(values.max()) for name, values in base_measures.items()}
    return Demo(
        images=digits.images,
        y=digits.target,
        partitions=partitions,
        labels=labels,
        scores=tuple(scores),
        base_mean=Score("mean base partition", means, seconds),
        base_best=Score("best base partition", bests, seconds),
        base_measures=base_measures,
    )
