"""One partition of a row segmentation: a unit of work that can be done anywhere, and done again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from partita.exceptions import InvalidEnsembleError
from partita.generators._base import MISSING
from partita.generators._estimators import as_labels, seeded
from partita.generators._feature_file import FeatureFile
from partita.io.store import LabelStore

__all__ = ["Segmentation", "sample_rows", "segment_partition"]

_BATCH = 4096


@dataclass(frozen=True)
class Segmentation:
    """What the partitions of one row segmentation have in common: small, and pickles.

    Attributes
    ----------
    features : FeatureFile
    store : Path
    n_rows : int
        Samples that a partition sees.
    k_min, k_max : int or None
        K_i is drawn between them; None leaves it to the estimator.
    estimator : clusterer or None
        None: MiniBatchKMeans.
    entropy : list of int
        Seed of all random numbers.
    """

    features: FeatureFile
    store: Path
    n_rows: int
    k_min: int | None
    k_max: int | None
    estimator: Any
    entropy: list[int]


def segment_partition(task: Segmentation, index: int) -> int:
    """Make partition `index` and write its column: one unit of work, for any scheduler.

    The column depends on the task and the number alone, so that doing it twice, at the same time
    or after a failure, changes nothing. Returns the number.
    """
    seed = np.random.SeedSequence(task.entropy, spawn_key=(index,))
    rng = np.random.default_rng(seed)
    rows = sample_rows(task.features.shape[0], task.n_rows, rng)
    estimator = _estimator(task, rng)
    with threadpool_limits(1):
        labels = as_labels(estimator.fit_predict(task.features.take(rows)), "the estimator")
    seen = labels != MISSING
    if not seen.any():
        raise InvalidEnsembleError(
            f"{estimator} labeled none of the {len(rows)} rows of partition {index}: all are "
            "noise to it. Change its parameters."
        )
    categories, codes = np.unique(labels[seen], return_inverse=True)
    LabelStore.resume(task.store).write_column(
        index,
        codes.reshape(-1),
        rows[seen],
        categories=categories,
        provenance={"estimator": str(estimator), "rows": len(rows), "spawn_key": index},
    )
    return index


def sample_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`size` of the numbers 0..n-1, ascending, every such set being equally likely.

    Memory for the numbers drawn, not for all. Distinct draws with as many more as it takes, and
    those too many dropped at random: no step prefers a number, so no set is preferred.
    """
    if 2 * size > n:
        left_out = sample_rows(n, n - size, rng)
        return np.delete(np.arange(n), left_out)
    chosen = np.empty(0, np.int64)
    while len(chosen) < size:
        more = rng.integers(n, size=(size - len(chosen)) * 5 // 4 + 8)
        chosen = np.unique(np.concatenate([chosen, more]))
    return np.delete(chosen, rng.choice(len(chosen), len(chosen) - size, replace=False))


def _estimator(task: Segmentation, rng: np.random.Generator) -> Any:
    from sklearn.cluster import MiniBatchKMeans  # a third of a second that only a run needs

    base = task.estimator
    if base is None:
        base = MiniBatchKMeans(batch_size=_BATCH, n_init=1)
    estimator = seeded(base, rng)
    if task.k_min is not None and task.k_max is not None:
        estimator.set_params(n_clusters=int(rng.integers(task.k_min, task.k_max + 1)))
    return estimator
