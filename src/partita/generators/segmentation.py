"""`segment`: row segmentation of features that do not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from partita._input.checks import random_generator
from partita._memory import require_memory
from partita._warn import warn_user
from partita.config import get_config
from partita.exceptions import InvalidStoreError
from partita.generators._segmentation_checks import check_k_range, check_metric, check_n_rows
from partita.generators._segmentation_task import SegmentationTask
from partita.generators._segmentation_workers import open_workers, run_task
from partita.io.feature_files import FeatureFiles
from partita.io.store import LabelStore, remove_columns

__all__ = ["segment"]

_COPIES = 3  # of the sampled rows that a clusterer may need


def segment(
    features: Any,
    store: str | Path,
    *,
    n_partitions: int = 100,
    ratio: float | None = None,
    n_rows: int | None = None,
    n_clusters: int | tuple[int, int] | None = None,
    estimator: Any = None,
    metric: str = "euclidean",
    replacement: bool = False,
    partition_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: Any = None,
) -> LabelStore:
    """Cluster random samples of rows of a feature file and write the labels to a store.

    Every partition draws its rows at random, reads only these, clusters them and writes its column
    of labels. The other samples have no label in it. Neither the features nor the labels
    are all in memory at any time. Partitions are made in several processes, with one core each.

    Every partition has its own seed. After an interruption, the same call makes the partitions
    that are missing and returns the same store as an uninterrupted call.

    Parameters
    ----------
    features : path of a .npy or .npz file, array mapped with np.load(path, mmap_mode="r"), or list
        Features of shape (n_samples, n_features). The rows of several files are concatenated. A
        .npz file has a sparse matrix that `scipy.sparse.save_npz(path, X.tocsr(),
        compressed=False)` wrote; single rows of it can be read.
    store : str or Path
        Folder for the labels: a new one, or that of an interrupted call with the same arguments.
    n_partitions : int, default=100
        Number of base partitions.
    ratio : float in (0, 1], optional
        Share of the samples that a partition clusters. Pass this or `n_rows`; by default 0.5.
    n_rows : int, optional
        Number of samples that a partition clusters, with `replacement` that it draws.
    n_clusters : int or (int, int), optional
        K_i, or the range from which it is drawn uniformly, both ends included. It is set on the
        estimator. By default the estimator keeps its own setting. Required without `estimator`.
    estimator : clusterer, optional
        Any estimator with `fit_predict`. It is cloned; negative labels are missing. By default
        scikit-learn's MiniBatchKMeans.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every row to length 1, so that k-means compares directions, as usual for
        texts. A row of zeros has no direction and gets no label.
    replacement : bool, default=False
        Whether rows are drawn with replacement, as in the experiments of the paper. A row that is
        drawn several times counts as often. With a ratio r, a partition then labels a share of
        1 - exp(-r) of the samples.
    partition_names : sequence of str, optional
        Names of the partitions. By default they have no names.
    n_jobs : int, optional
        Number of processes; each holds the rows of one partition. By default
        `partita.get_config().n_threads`. The labels do not depend on it.
    client : dask.distributed.Client or executor of concurrent.futures, optional
        Makes the partitions with its own workers, which need access to the files. `n_jobs` is then
        not used. By default `segment` starts its own processes.
    random_state : int, Generator, RandomState or None, default=None
        Seed. None draws one and saves it in the store.

    Returns
    -------
    LabelStore
        The complete store.

    Notes
    -----
    New processes import the main script again: call this under `if __name__ == "__main__":`, or
    with `n_jobs=1`.

    With `metric="cosine"`, centers are means of rows of length 1 and are shorter than 1. Spherical
    k-means also scales the centers to length 1; pass such an `estimator` if you need it.

    Memory: about three times the sampled rows per process. Disk: n_samples bytes per partition (two
    per label with more than 255 clusters), and twice that until the columns are combined.

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
    ...         n_clusters=3, n_jobs=1, random_state=0)
    LabelStore(150 samples, 20 partitions, 3 clusters each, 2.9 kB of uint8)
    """
    files = FeatureFiles.of(features)
    n_rows = check_n_rows(files.shape[0], ratio, n_rows)
    k_min, k_max = check_k_range(n_clusters, n_rows, estimator)
    check_metric(metric)
    if n_partitions < 1:
        raise ValueError(f"n_partitions={n_partitions} must be at least 1.")
    jobs = min(int(effective_n_jobs(n_jobs or get_config().n_threads)), n_partitions)
    require_memory(
        jobs * n_rows * files.row_bytes * _COPIES,
        f"Clustering {n_rows} rows of {files.shape[1]} features in {jobs} process(es)",
        lambda _: "Sample fewer rows or lower n_jobs.",
    )
    path = Path(store).absolute()
    settings = {
        **_settings(files, n_rows, k_min, k_max, estimator, n_partitions),
        "metric": metric,
        "replacement": replacement,
    }
    entropy = _open_store(
        path, settings, files.shape[0], n_partitions, partition_names, random_state
    )
    task = SegmentationTask(
        files, path, n_rows, k_min, k_max, estimator, entropy, metric, replacement
    )
    if not LabelStore.open(path).is_complete:
        with LabelStore.resume(path, shared=True) as writer:
            written = set(writer.written_columns)
            missing = [i for i in range(n_partitions) if i not in written]
            with open_workers(client, min(jobs, len(missing))) as workers:
                run_task(task, missing, n_partitions, workers)
            writer.finish()
    remove_columns(path)  # a call that was interrupted after `finish` leaves them behind
    label_store = LabelStore.open(path)
    _warn_unlabeled(label_store, n_rows)
    return label_store


def _settings(
    files: FeatureFiles,
    n_rows: int,
    k_min: int | None,
    k_max: int | None,
    estimator: Any,
    n_partitions: int,
) -> dict[str, Any]:
    """Return the settings that must be equal to continue an interrupted segmentation."""
    parameters = None
    if estimator is not None:
        parameters = {name: str(value) for name, value in estimator.get_params().items()}
    return {
        "made by": "segment",
        "features": {"shape": list(files.shape), "crc32 of some rows": files.fingerprint()},
        "n_partitions": n_partitions,
        "n_rows": n_rows,
        "n_clusters": [k_min, k_max],
        "estimator": "MiniBatchKMeans" if estimator is None else type(estimator).__qualname__,
        "parameters": parameters,
    }


def _open_store(
    path: Path,
    settings: Mapping[str, Any],
    n_samples: int,
    n_partitions: int,
    names: Sequence[str] | None,
    random_state: Any,
) -> list[int]:
    """Create the store, or check that the existing one has these settings; return the seed."""
    entropy = random_generator(random_state).integers(2**32, size=4).tolist()
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        LabelStore.create(
            path,
            n_samples,
            n_partitions=n_partitions,
            partition_names=names,
            provenance={**settings, "entropy": entropy},
        ).close()
        return list(entropy)
    # stores made before these options existed do not name them
    saved = {"metric": "euclidean", "replacement": False, **LabelStore.open(path).provenance}
    if random_state is None:
        entropy = saved.get("entropy")
    settings = {**settings, "entropy": entropy}
    different = [key for key in settings if saved.get(key) != settings[key]]
    if different or entropy is None:
        raise InvalidStoreError(
            f"{path} exists and was made with other arguments: {', '.join(different)}. Remove it, "
            "choose another folder, or repeat the original call."
        )
    return list(entropy)


def _warn_unlabeled(store: LabelStore, n_rows: int) -> None:
    n_unlabeled = 0
    rows = np.empty((store.rows_per_chunk, store.n_partitions), store.dtype)
    for start, stop in store.blocks():
        n_unlabeled += int((store.read(start, stop, rows) == store.missing_code).all(axis=1).sum())
    if n_unlabeled:
        warn_user(
            f"{n_unlabeled} of {store.n_samples} samples have no label in any of the "
            f"{store.n_partitions} partitions. Raise n_rows={n_rows} (or ratio) or n_partitions."
        )
