"""Make one partition of a row segmentation, on any machine and repeatably."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from partita.exceptions import InvalidEnsembleError
from partita.generators._base import MISSING
from partita.generators._estimators import check_labels, clone_with_seed
from partita.generators._features import check_range, has_direction, unit_rows
from partita.io.feature_files import FeatureFiles
from partita.io.store import LabelStore

__all__ = ["SegmentationTask", "make_partition", "sample_rows"]

_BATCH = 4096


@dataclass(frozen=True)
class SegmentationTask:
    """The settings that all partitions of a row segmentation share; small and picklable.

    Attributes
    ----------
    features : FeatureFiles
        Features of all samples.
    store : Path
        Folder of the store that the labels are written to.
    n_rows : int
        Number of samples that a partition clusters.
    k_min, k_max : int or None
        Range from which K_i is drawn. None: the estimator keeps its own setting.
    estimator : clusterer or None
        None: MiniBatchKMeans.
    entropy : list of int
        Seed of all random numbers.
    metric : str, default="euclidean"
        "cosine" scales rows to unit length; a row of zeros then gets no label.
    replacement : bool, default=False
        Whether rows are drawn with replacement.
    """

    features: FeatureFiles
    store: Path
    n_rows: int
    k_min: int | None
    k_max: int | None
    estimator: Any
    entropy: list[int]
    metric: str = "euclidean"
    replacement: bool = False


def make_partition(task: SegmentationTask, index: int) -> int:
    """Make partition `index`, write its column to the store and return the index.

    The column depends only on the task and the index. It does no harm if two processes make it at
    the same time, or if it is made again after a failure.
    """
    seed = np.random.SeedSequence(task.entropy, spawn_key=(index,))
    rng = np.random.default_rng(seed)
    draw = sample_rows_again if task.replacement else sample_rows
    drawn = draw(task.features.shape[0], task.n_rows, rng)
    rows, copies = np.unique(drawn, return_counts=True)
    estimator = _estimator(task, rng)
    X = check_range(task.features.take(rows))
    usable = np.ones(len(rows), bool)
    if task.metric == "cosine":
        usable = has_direction(X)
        X = unit_rows(X)
    labels = np.full(len(rows), MISSING, np.int32)
    if usable.any():
        # a row that was drawn several times counts as often
        places = np.repeat(np.flatnonzero(usable), copies[usable])
        is_whole = usable.all() and len(rows) == len(drawn)
        with threadpool_limits(1):
            clustered = estimator.fit_predict(X if is_whole else X[places])
        labels[places] = check_labels(clustered, "the estimator")
    is_labeled = labels != MISSING
    if not is_labeled.any():
        raise InvalidEnsembleError(
            f"{estimator} labels all {len(rows)} rows of partition {index} as noise, or all are "
            "zero. Change its parameters."
        )
    categories, codes = np.unique(labels[is_labeled], return_inverse=True)
    with LabelStore.resume(task.store, shared=True) as writer:
        writer.write_column(
            index,
            codes.reshape(-1),
            rows[is_labeled],
            categories=categories,
            provenance={"estimator": str(estimator), "rows": len(drawn), "spawn_key": index},
        )
    return index


def sample_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` of the numbers 0..n-1 without replacement, ascending, all sets equally likely.

    Memory O(size) for size <= n / 2. Numbers are drawn until enough are distinct; then the surplus
    is dropped at random. No step prefers any number, so that all sets have the same probability.
    """
    if 2 * size > n:
        complement = sample_rows(n, n - size, rng)
        return np.delete(np.arange(n), complement)
    chosen = np.empty(0, np.int64)
    while len(chosen) < size:
        more = rng.integers(n, size=(size - len(chosen)) * 5 // 4 + 8)
        chosen = np.unique(np.concatenate([chosen, more]))
    return np.delete(chosen, rng.choice(len(chosen), len(chosen) - size, replace=False))


def sample_rows_again(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` of the numbers 0..n-1 with replacement, in ascending order."""
    return np.sort(rng.integers(n, size=size))


def _estimator(task: SegmentationTask, rng: np.random.Generator) -> Any:
    from sklearn.cluster import MiniBatchKMeans  # takes 0.3 s, so only when needed

    base = task.estimator
    if base is None:
        base = MiniBatchKMeans(batch_size=_BATCH, n_init=1)
    estimator = clone_with_seed(base, rng)
    if task.k_min is not None and task.k_max is not None:
        estimator.set_params(n_clusters=int(rng.integers(task.k_min, task.k_max + 1)))
    return estimator
