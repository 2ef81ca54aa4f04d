"""Row segmentation into a store: each partition a unit of work that can be done again."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from partita import LabelStore, config_context
from partita._memory import PeakMemory
from partita.exceptions import (
    InvalidEnsembleError,
    InvalidStoreError,
    MemoryBudgetError,
    PartitaWarning,
)
from partita.generators import RandomRows, segment
from partita.generators._segmentation_task import SegmentationTask, make_partition, sample_rows
from partita.io.feature_files import FeatureFiles
from partita.io.store._chunks import LabelChunks
from partita.io.store._metadata import StoreMetadata

N, K = 600, 4
OPTIONS = {"n_partitions": 12, "n_rows": 400, "n_clusters": K, "random_state": 7}


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(N, 3, centers=K, cluster_std=0.3, random_state=0)
    return X.astype(np.float32), y


@pytest.fixture
def file(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> Path:
    np.save(tmp_path / "X.npy", blobs[0])
    return tmp_path / "X.npy"


@pytest.fixture
def expected(tmp_path: Path, file: Path) -> dict[str, bytes]:
    """What an undisturbed run leaves, file by file."""
    segment(file, tmp_path / "undisturbed", n_jobs=1, **OPTIONS)
    return content(tmp_path / "undisturbed")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# -- what comes out --------------------------------------------------------------------------


def test_every_partition_labels_the_rows_it_drew(
    file: Path, tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    store = segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    labels = store.read(0, N)
    seen = labels != store.missing_code
    assert store.is_complete
    assert seen.sum(axis=0).tolist() == [400] * 12
    assert len({column.tobytes() for column in seen.T}) == 12
    assert store.n_clusters.tolist() == [K] * 12
    for i in range(12):
        assert adjusted_rand_score(blobs[1][seen[:, i]], labels[seen[:, i], i]) == 1
    assert store.provenance["n_rows"] == 400
    assert store.partition_provenance[3]["spawn_key"] == 3


def test_labels_do_not_depend_on_who_makes_them(
    file: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        segment(file, tmp_path / "s", client=pool, **OPTIONS)
    assert content(tmp_path / "s") == expected


def test_a_unit_of_work_pickles_and_can_be_redone(file: Path, tmp_path: Path) -> None:
    task = SegmentationTask(FeatureFiles.of(file), tmp_path / "s", 200, 2, 9, None, [1, 2, 3, 4])
    LabelStore.create(tmp_path / "s", N, n_partitions=3)
    again = pickle.loads(pickle.dumps(task))
    column = tmp_path / "s" / "columns" / "000001.column"
    assert make_partition(task, 1) == 1
    first = column.read_bytes()
    column.unlink()
    make_partition(again, 1)
    assert column.read_bytes() == first
    make_partition(again, 2)
    store = LabelStore.open(tmp_path / "s")
    assert not np.array_equal(store.read(0, N)[:, 1], store.read(0, N)[:, 2])
    assert store.n_clusters[1:].tolist() != [2, 2]


@pytest.mark.parametrize("how", ["mapped", "chunked", "fortran", "double"])
def test_features_lie_in_files_of_any_kind(
    how: str,
    file: Path,
    tmp_path: Path,
    blobs: tuple[np.ndarray, np.ndarray],
    expected: dict[str, bytes],
) -> None:
    X = blobs[0]
    if how == "mapped":
        features = np.load(file, mmap_mode="r")
    elif how == "chunked":
        features = []
        for start in range(0, N, 170):
            np.save(tmp_path / f"part{start}.npy", X[start : start + 170])
            features.append(str(tmp_path / f"part{start}.npy"))
    else:
        other = np.asfortranarray(X) if how == "fortran" else X.astype(float)
        np.save(tmp_path / "other.npy", other)
        features = tmp_path / "other.npy"
    store = segment(features, tmp_path / "s", n_jobs=1, **OPTIONS)
    reference = LabelStore.open(tmp_path / "undisturbed")
    if how == "double":  # other roundings, the same groups
        for one, other in zip(store.read(0, N).T, reference.read(0, N).T, strict=True):
            assert adjusted_rand_score(one, other) == 1
    else:
        assert content(tmp_path / "s") == expected


def test_any_clusterer_and_its_noise(
    file: Path, tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    common = {"n_partitions": 3, "ratio": 0.9, "n_jobs": 1, "random_state": 0}
    with pytest.warns(PartitaWarning, match="no label"):
        store = segment(file, tmp_path / "d", estimator=DBSCAN(0.25), **common)
    labels = store.read(0, N)
    assert 0 < (labels[:, 0] != store.missing_code).sum() < 540
    assert "DBSCAN" in store.partition_provenance[0]["estimator"]
    estimator = KMeans(3, n_init=1)
    store = segment(file, tmp_path / "k", estimator=estimator, n_clusters=(5, 9), **common)
    assert ((store.n_clusters >= 5) & (store.n_clusters <= 9)).all()
    assert estimator.n_clusters == 3
    with pytest.raises(InvalidEnsembleError, match=r"DBSCAN.*all 540 rows"):
        segment(file, tmp_path / "n", estimator=DBSCAN(1e-9), **common)


def test_samples_nobody_drew_are_reported(file: Path, tmp_path: Path) -> None:
    with pytest.warns(PartitaWarning, match=r"of 600 samples have no label in any of the 2"):
        segment(file, tmp_path / "s", n_partitions=2, ratio=0.1, n_clusters=2, n_jobs=1)


def test_progress_counts_partitions(file: Path, tmp_path: Path) -> None:
    steps = []
    with config_context(progress=steps.append):
        segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    done = [step.done for step in steps if step.task == "segment"]
    assert done == list(range(13))
    assert {step.total for step in steps if step.task == "segment"} == {12}


@pytest.mark.parametrize(("n", "size"), [(5, 2), (5, 4), (5, 5), (100, 1)])
def test_every_set_of_rows_is_equally_likely(n: int, size: int) -> None:
    rng = np.random.default_rng(0)
    draws = [sample_rows(n, size, rng) for _ in range(1000)]
    assert all((np.diff(rows) > 0).all() and len(rows) == size for rows in draws)
    counts = np.bincount(np.concatenate(draws), minlength=n)
    # each number appears binomially, 1000 draws of probability size / n: five deviations
    share = size / n
    assert np.abs(counts - 1000 * share).max() <= 5 * np.sqrt(1000 * share * (1 - share))


def test_memory_is_that_of_the_rows_a_partition_sees(tmp_path: Path) -> None:
    n, d = 400_000, 50  # 80 MB
    features = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, d))
    rng = np.random.default_rng(0)
    for start in range(0, n, 50_000):
        features[start : start + 50_000] = rng.normal(size=(50_000, d))
    features.flush()
    del features
    options = {"n_rows": 5000, "n_clusters": 3, "n_jobs": 1, "random_state": 0}
    with pytest.warns(PartitaWarning, match="no label"):  # and what a first run loads
        segment(tmp_path / "X.npy", tmp_path / "warm", n_partitions=1, **options)
    with PeakMemory() as peak, pytest.warns(PartitaWarning, match="no label"):
        segment(tmp_path / "X.npy", tmp_path / "s", n_partitions=4, **options)
    assert peak.gained < 30e6


# -- interruptions ---------------------------------------------------------------------------


def killed_after(n_columns: int, delay: float, file: Path, store: Path, n_jobs: int) -> list[Any]:
    """Start a segmentation, kill it when so many columns are there; the processes it had."""
    process = multiprocessing.get_context("fork").Process(
        target=segment, args=(file, store), kwargs={"n_jobs": n_jobs, **OPTIONS}
    )
    process.start()
    while count(store) < n_columns:
        assert process.is_alive(), "it ended before it could be killed"
        time.sleep(0.0005)
    time.sleep(delay)
    workers = psutil.Process(process.pid).children()
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return workers


def test_killed_and_started_again_it_gives_the_same_store(
    file: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    store = tmp_path / "s"
    rng = np.random.default_rng(0)
    for _ in range(4):
        killed_after(count(store) + 1, float(rng.uniform(0, 0.01)), file, store, n_jobs=1)
        opened = LabelStore.open(store)
        assert not opened.is_complete
        assert (opened.read(0, N) != opened.missing_code).any()
    assert 4 <= count(store) < 12
    segment(file, store, n_jobs=1, **OPTIONS)
    assert content(store) == expected


def test_the_same_with_processes_which_do_not_outlive_their_parent(
    file: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    store = tmp_path / "s"
    workers = killed_after(2, 0, file, store, n_jobs=2)
    assert len(workers) >= 2
    _, alive = psutil.wait_procs(workers, timeout=600)
    assert alive == []
    assert count(store) >= 2
    segment(file, store, n_jobs=2, **OPTIONS)
    assert content(store) == expected


def count(store: Path) -> int:
    return len(list(store.glob("columns/*.column")))


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (LabelChunks, "allocate"),
        (LabelChunks, "write_chunk"),
        (LabelChunks, "flush"),
        (StoreMetadata, "save"),
    ],
)
def test_an_end_that_was_interrupted_is_done_again(
    owner: type,
    step: str,
    file: Path,
    tmp_path: Path,
    expected: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stopped(BaseException):
        pass

    whole = getattr(owner, step)
    arrived = []

    def stopped_half_way(*arguments: object) -> None:
        if step == "save" and not arrived:  # the first is that of the new store
            arrived.append(True)
            return whole(*arguments)
        if step in ("allocate", "write_chunk"):
            whole(*arguments)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, stopped_half_way)
        with pytest.raises(Stopped):
            segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    assert not LabelStore.open(tmp_path / "s").is_complete
    assert count(tmp_path / "s") == 12
    segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    assert content(tmp_path / "s") == expected


def test_columns_left_behind_by_a_kill_are_cleared_away(
    file: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.io.store._label_writer.remove_columns", lambda folder: None)
    monkeypatch.setattr("partita.generators.segmentation.remove_columns", lambda folder: None)
    segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    assert count(tmp_path / "s") == 12
    monkeypatch.undo()
    segment(file, tmp_path / "s", n_jobs=1, **OPTIONS)
    assert content(tmp_path / "s") == expected


def test_a_finished_store_is_returned_and_another_refused(
    file: Path, tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    call = {**OPTIONS, "n_jobs": 1}
    segment(file, tmp_path / "s", **call)
    before = content(tmp_path / "s")
    segment(file, tmp_path / "s", **call)
    segment(file, tmp_path / "s", **{**call, "random_state": None})
    assert content(tmp_path / "s") == before
    for change, named in (
        ({"n_rows": 100}, "n_rows"),
        ({"n_clusters": 3}, "n_clusters"),
        ({"random_state": 8}, "entropy"),
        ({"n_partitions": 13}, "n_partitions"),
        ({"estimator": KMeans()}, "estimator"),
    ):
        with pytest.raises(InvalidStoreError, match=f"other arguments: .*{named}"):
            segment(file, tmp_path / "s", **{**call, **change})
    np.save(file, blobs[0][::-1])
    with pytest.raises(InvalidStoreError, match="other arguments: features"):
        segment(file, tmp_path / "s", **call)
    assert content(tmp_path / "s") == before


def test_a_worker_that_dies_is_explained(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(ThreadPoolExecutor):
        def __init__(self, jobs: int, context: Any, initializer: Any) -> None:
            super().__init__(jobs)

        def submit(self, *work: Any) -> Any:
            if work[-1] == 3:
                raise BrokenProcessPool
            return super().submit(*work)

    monkeypatch.setattr("partita.generators._segmentation_workers.ProcessPoolExecutor", Dying)
    with pytest.raises(
        ChildProcessError, match=r"A process died .* continues from there.*__main__"
    ):
        segment(file, tmp_path / "s", n_jobs=2, **OPTIONS)


# -- mistakes --------------------------------------------------------------------------------


def test_mistakes_are_told_before_anything_is_made(file: Path, tmp_path: Path) -> None:
    for options, message in (
        ({"ratio": 0.0, "n_clusters": 2}, "ratio=0.0"),
        ({"n_rows": 601, "n_clusters": 2}, "n_rows=601"),
        ({"n_rows": 10, "n_clusters": 11}, "n_clusters=11"),
        ({"n_clusters": (4, 2)}, "smallest number first"),
        ({}, "Pass n_clusters"),
        ({"n_clusters": 2, "n_partitions": 0}, "n_partitions=0"),
        ({"n_clusters": 2, "estimator": DBSCAN()}, "has no parameter n_clusters"),
    ):
        with pytest.raises(ValueError, match=message):
            segment(file, tmp_path / "s", **options)
    with pytest.raises(TypeError, match="not both"):
        segment(file, tmp_path / "s", ratio=0.5, n_rows=5, n_clusters=2)
    with pytest.raises(TypeError, match="with fit_predict"):
        segment(file, tmp_path / "s", estimator=KMeans, n_clusters=2)
    with pytest.raises(TypeError, match=r"RandomRows.*np\.save"):
        segment(np.zeros((5, 2)), tmp_path / "s", n_clusters=2)
    with config_context(memory_budget=1000), pytest.raises(MemoryBudgetError, match="n_jobs"):
        segment(file, tmp_path / "s", n_clusters=2)
    assert not (tmp_path / "s").exists()


def test_files_that_hold_no_features_are_refused(tmp_path: Path, file: Path) -> None:
    np.save(tmp_path / "text.npy", np.asarray([["a"]]))
    np.save(tmp_path / "line.npy", np.arange(5.0))
    np.save(tmp_path / "narrow.npy", np.zeros((5, 2)))
    np.save(tmp_path / "objects.npy", np.asarray([[None]], object), allow_pickle=True)
    (tmp_path / "cut.npy").write_bytes(file.read_bytes()[:-1])
    (tmp_path / "none.npy").write_bytes(b"hello")
    for name, message in (
        ("text", "expected numbers"),
        ("line", "two-dimensional"),
        ("objects", "Python objects"),
        ("cut", "truncated"),
        ("none", "not a .npy file"),
    ):
        with pytest.raises(ValueError, match=message):
            FeatureFiles.of(tmp_path / f"{name}.npy")
    with pytest.raises(ValueError, match="same number of columns"):
        FeatureFiles.of([file, tmp_path / "narrow.npy"])
    with pytest.raises(ValueError, match="part of one"):
        FeatureFiles.of(np.load(file, mmap_mode="r")[10:])
    with pytest.raises(FileNotFoundError):
        FeatureFiles.of(tmp_path / "nowhere.npy")


# -- RandomRows ------------------------------------------------------------------------------


def test_random_rows_over_a_mapped_file_copies_only_what_it_sees(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300_000, 40)).astype(np.float32)  # 48 MB
    np.save(tmp_path / "X.npy", X)
    options = {"n_partitions": 2, "ratio": 0.01, "n_clusters": 3, "k_max": 3, "n_jobs": 1}
    with pytest.warns(PartitaWarning, match="no label"):
        in_memory = RandomRows(random_state=0, **options).fit_transform(X)
    del X
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    float(mapped.sum())  # its pages count as resident from here on
    with PeakMemory() as peak, pytest.warns(PartitaWarning, match="no label"):
        from_file = RandomRows(random_state=0, **options).fit_transform(mapped)
    np.testing.assert_array_equal(from_file, in_memory)
    assert peak.gained < 25e6
