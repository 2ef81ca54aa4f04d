"""Row segmentation of features that do not fit in memory, into a label store."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from partita._input.checks import random_generator
from partita._memory import require_memory
from partita._warn import warn_user
from partita.config import get_config, report_progress
from partita.exceptions import InvalidStoreError
from partita.generators._estimators import check_clusterer
from partita.generators._feature_file import FeatureFile
from partita.generators._segment_partition import Segmentation, segment_partition
from partita.io.store import LabelStore, remove_columns

__all__ = ["segment"]

_COPIES = 3  # of the sampled rows that a clusterer may hold


def segment(
    features: Any,
    store: str | Path,
    *,
    n_partitions: int = 100,
    ratio: float | None = None,
    n_rows: int | None = None,
    n_clusters: int | tuple[int, int] | None = None,
    estimator: Any = None,
    partition_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: Any = None,
) -> LabelStore:
    """Cluster random samples of rows of a feature file, one partition each, into a store.

    Every partition draws its rows without replacement, reads them and no others, clusters them and
    writes its column; the other samples have no label in it. Neither the features nor the labels
    are ever all in memory. Partitions run in processes of their own, with one core each.

    A partition is a unit of work with a seed of its own. Called again with the same arguments
    after an interruption of any kind, this makes the partitions that are missing and returns the
    store it would have made undisturbed.

    Parameters
    ----------
    features : path of a .npy file, array mapped with np.load(path, mmap_mode="r"), or a list
        Shape (n_samples, n_features); the files of a list follow each other.
    store : folder
        New, or what an interrupted call with these arguments left.
    n_partitions : int, default=100
    ratio : float in (0, 1], optional
        Share of the samples a partition sees. Either this or `n_rows`; 0.5 without both.
    n_rows : int, optional
        Number of samples a partition sees.
    n_clusters : int or (int, int), optional
        K_i, or the smallest and the largest of which it is drawn uniformly. Set on the estimator;
        None leaves that as it is. Required without `estimator`.
    estimator : clusterer, optional
        Any with `fit_predict`, cloned; negative labels are missing. None: scikit-learn's
        MiniBatchKMeans.
    partition_names : sequence of str, optional
    n_jobs : int, optional
        Processes; each holds a partition's rows. None: `partita.get_config().n_threads`. The
        labels do not depend on it.
    client : dask.distributed.Client or executor of concurrent.futures, optional
        Its workers, who must see the files, make the partitions instead of processes of our own.
        `n_jobs` is then not used.
    random_state : int, Generator, RandomState or None
        None draws a seed and keeps it with the store.

    Returns
    -------
    store : LabelStore
        Complete.

    Notes
    -----
    Processes are started afresh: a script calls this under `if __name__ == "__main__":`, unless
    `n_jobs=1`.

    Memory: about three times the sampled rows per process. Disk: the labels twice until they are
    put together, n_samples bytes per partition (two of more than 255 clusters).

    References
    ----------
    Liu, Wu, Liu, Tao, Fu. Spectral Ensemble Clustering via Weighted K-Means: Theoretical and
    Practical Evidence. IEEE TKDE 29(5), 2017: section 6.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import segment
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/iris.npy", load_iris().data)
    >>> segment(folder + "/iris.npy", folder + "/labels", n_partitions=20, n_rows=60,
    ...              n_clusters=3, n_jobs=1, random_state=0)
    LabelStore(150 samples, 20 partitions, 3 clusters each, 2.9 kB of uint8)
    """
    file = FeatureFile.of(features)
    n_seen = _n_seen(file.shape[0], ratio, n_rows)
    k_min, k_max = _k_range(n_clusters, n_seen, estimator)
    if n_partitions < 1:
        raise ValueError(f"n_partitions={n_partitions} must be at least 1.")
    jobs = min(int(effective_n_jobs(n_jobs or get_config().n_threads)), n_partitions)
    require_memory(
        jobs * n_seen * file.shape[1] * file.dtype.itemsize * _COPIES,
        f"Clustering {n_seen} rows of {file.shape[1]} features in {jobs} process(es)",
        lambda _: "Sample fewer rows or lower n_jobs.",
    )
    path = Path(store).absolute()
    plan = _plan(file, n_seen, k_min, k_max, estimator, n_partitions)
    entropy = _start(path, plan, file.shape[0], n_partitions, partition_names, random_state)
    task = Segmentation(file, path, n_seen, k_min, k_max, estimator, entropy)
    if not LabelStore.open(path).is_complete:
        writer = LabelStore.resume(path)
        there = set(writer.written_columns)
        missing = [i for i in range(n_partitions) if i not in there]
        with _workers(client, min(jobs, len(missing))) as workers:
            _make(task, missing, n_partitions, workers)
        writer.finish()
    remove_columns(path)  # left by a call that was stopped between the last two steps
    made = LabelStore.open(path)
    _warn_unseen(made, n_seen)
    return made


def _n_seen(n_samples: int, ratio: float | None, n_rows: int | None) -> int:
    if ratio is not None and n_rows is not None:
        raise TypeError("Pass either ratio or n_rows, not both.")
    if n_rows is None:
        ratio = 0.5 if ratio is None else ratio
        if not 0 < ratio <= 1:
            raise ValueError(f"ratio={ratio} must be more than 0 and at most 1.")
        return min(n_samples, max(2, round(ratio * n_samples)))
    if not 1 <= n_rows <= n_samples:
        raise ValueError(f"n_rows={n_rows} must be between 1 and the {n_samples} samples.")
    return int(n_rows)


def _k_range(n_clusters: Any, n_seen: int, estimator: Any) -> tuple[int | None, int | None]:
    if estimator is not None:
        check_clusterer(estimator, "estimator")
        if n_clusters is not None and "n_clusters" not in estimator.get_params():
            raise ValueError(
                f"{estimator} has no n_clusters to set; leave n_clusters={n_clusters!r} out."
            )
    if n_clusters is None:
        if estimator is None:
            raise ValueError("Pass n_clusters, or an estimator that knows it.")
        return None, None
    low, high = n_clusters if isinstance(n_clusters, Sequence) else (n_clusters, n_clusters)
    if not 1 <= low <= high <= n_seen:
        raise ValueError(
            f"n_clusters={n_clusters!r} must be between 1 and the {n_seen} rows that a partition "
            "sees, the smallest first."
        )
    return int(low), int(high)


def _plan(
    file: FeatureFile,
    n_seen: int,
    k_min: int | None,
    k_max: int | None,
    estimator: Any,
    n_partitions: int,
) -> dict[str, Any]:
    """What must be the same for an interrupted segmentation to be continued."""
    known = None if estimator is None else {k: str(v) for k, v in estimator.get_params().items()}
    return {
        "made by": "segment",
        "features": {"shape": list(file.shape), "crc32 of some rows": file.fingerprint()},
        "n_partitions": n_partitions,
        "n_rows": n_seen,
        "n_clusters": [k_min, k_max],
        "estimator": "MiniBatchKMeans" if estimator is None else type(estimator).__qualname__,
        "parameters": known,
    }


def _start(
    path: Path,
    plan: Mapping[str, Any],
    n_samples: int,
    n_partitions: int,
    names: Sequence[str] | None,
    random_state: Any,
) -> list[int]:
    """Make the store, or check that the one that is there is ours; returns the seed."""
    entropy = random_generator(random_state).integers(2**32, size=4).tolist()
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        LabelStore.create(
            path,
            n_samples,
            n_partitions=n_partitions,
            partition_names=names,
            provenance={**plan, "entropy": entropy},
        )
        return list(entropy)
    found = LabelStore.open(path).provenance
    if random_state is None:
        entropy = found.get("entropy")
    wanted = {**plan, "entropy": entropy}
    different = [key for key in wanted if found.get(key) != wanted[key]]
    if different or entropy is None:
        raise InvalidStoreError(
            f"{path} is there already and was made with other arguments: {', '.join(different)}. "
            "Remove it, choose another folder, or repeat the call that began it."
        )
    return list(entropy)


@contextmanager
def _workers(client: Any, jobs: int) -> Iterator[Any]:
    """The caller's client, processes of our own, or None for the calling process."""
    if client is not None or jobs <= 1:
        yield client
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _end_with_parent) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A process died while it made a partition; those that are done are kept and the "
                "same call goes on from there. If memory ran out, lower n_jobs or the rows of a "
                'partition; in a script, call segment under `if __name__ == "__main__":` or '
                "with n_jobs=1."
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _make(task: Segmentation, missing: list[int], n_partitions: int, workers: Any) -> None:
    """Make the partitions that are missing and report how many are there."""
    done = n_partitions - len(missing)
    report_progress("segment", done, n_partitions)
    if workers is None:
        results: Iterator[Any] = (segment_partition(task, i) for i in missing)
    else:
        # Dask would answer a second call from the first one's results, though the store is gone
        of_dask = type(workers).__module__.startswith("distributed")
        options = {"pure": False} if of_dask else {}
        submitted = [workers.submit(segment_partition, task, i, **options) for i in missing]
        results = (future.result() for future in submitted)
    for _ in results:
        done += 1
        report_progress("segment", done, n_partitions)


def _end_with_parent() -> None:
    """Let a worker go when the process that started it is gone, however that ended."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _warn_unseen(store: LabelStore, n_seen: int) -> None:
    unseen = 0
    rows = np.empty((store.rows_per_chunk, store.n_partitions), store.dtype)
    for start, stop in store.blocks():
        unseen += int((store.read(start, stop, rows) == store.missing_code).all(axis=1).sum())
    if unseen:
        warn_user(
            f"{unseen} of {store.n_samples} samples have no label in any of the "
            f"{store.n_partitions} partitions. Raise the rows of a partition (n_rows={n_seen}) or "
            "n_partitions."
        )
