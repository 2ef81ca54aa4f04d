"""Fits and segmentation on a real cluster: two worker processes, one of which may be killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita import EAC, KCC, LWGP, SEC, Checkpoint, Ensemble, config_context
from partita.config import Progress
from partita.exceptions import (
    InvalidEnsembleError,
    InvalidStoreError,
    MemoryBudgetError,
    NotSupportedError,
)
from partita.generators import segment
from partita.scale import DaskRows
from planted_labels import planted, stored

da = pytest.importorskip(
    "dask.array", reason="DASK IS NOT INSTALLED, nothing on a cluster is tested: partita[dask]"
)
dask = pytest.importorskip("dask")
distributed = pytest.importorskip(
    "distributed", reason="DASK IS NOT INSTALLED, nothing on a cluster is tested: partita[dask]"
)

N, M, K = 3000, 8, 4


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> Iterator[None]:
    """Fork workers from a process that has imported Dask and `partita`: seconds less for each."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        server = distributed.utils.get_mp_context()  # which imports what Dask itself needs
        server.set_forkserver_preload(["distributed", "pandas", "partita.consensus"])
        yield


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    # not the default: what is tested must use the client it was given
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    found = planted(N, M, K, missing=0.2)
    found[:, 0] = np.maximum(found[:, 0], 0)
    return found


@pytest.fixture
def array(labels: np.ndarray) -> Any:
    return da.from_array(np.where(labels < 0, np.nan, labels), chunks=(700, 3))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.scale._dask_rows._BLOCK_BYTES", 640 * M)


METHODS: dict[str, Callable[[], Any]] = {
    "SEC": lambda: SEC(K, n_init=2, random_state=0),
    "SEC, given": lambda: SEC(K, init=[3, 200, 1000, 2500]),
    "KCC, c": lambda: KCC(K, n_init=2, random_state=0),
    "KCC, h": lambda: KCC(K, utility="h", normalized=True, n_init=1, random_state=0),
    "LWGP": lambda: LWGP(K, random_state=0),
}


# -- the same labels -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_cluster_gives_the_labels_of_memory(
    method: str, labels: np.ndarray, array: Any, client: Any, tmp_path: Path, small_blocks: None
) -> None:
    expected = METHODS[method]().fit(labels)
    store = stored(labels, tmp_path / "s")
    for found in (
        METHODS[method]().fit(array, client=client),
        METHODS[method]().fit(store, client=client),
    ):
        assert found.labels_.tolist() == expected.labels_.tolist()
        assert found.n_iter_ == expected.n_iter_
        if method != "LWGP":  # whose k-means in memory reports its own rounding
            assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
            assert found.predict(labels).tolist() == expected.predict(labels).tolist()


def test_emptied_clusters_on_a_cluster(client: Any, tmp_path: Path) -> None:
    labels = planted(300, 3, 4, noise=0.5, missing=0.5, seed=1)
    array = da.from_array(labels, chunks=(64, -1))
    options = {"init": "random", "n_init": 2, "random_state": 1}
    expected = KCC(30, **options).fit(labels)
    assert (
        KCC(30, **options).fit(array, client=client).labels_.tolist() == expected.labels_.tolist()
    )


@pytest.mark.parametrize("scheduler", ["default", "client"])
def test_without_a_client(scheduler: str, labels: np.ndarray, array: Any, client: Any) -> None:
    """The current client if there is one, otherwise Dask's default scheduler."""
    expected = SEC(K, n_init=1, random_state=0).fit(labels).labels_.tolist()
    before = _tasks_done(client)
    if scheduler == "default":
        found = SEC(K, n_init=1, random_state=0).fit(array)
    else:
        with client.as_current():
            found = SEC(K, n_init=1, random_state=0).fit(array)
    assert found.labels_.tolist() == expected
    assert (_tasks_done(client) > before) == (scheduler == "client")


def _tasks_done(client: Any) -> int:
    return int(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter))


def test_methods_that_need_all_rows_bring_them_into_memory(labels: np.ndarray, client: Any) -> None:
    few = labels[:400]
    array = da.from_array(few, chunks=(150, 4))
    expected = EAC(K).fit(few).labels_.tolist()
    assert EAC(K).fit(array, client=client).labels_.tolist() == expected
    with (
        config_context(memory_budget=1000),
        pytest.raises(MemoryBudgetError, match="Reading 400 samples of 8 partitions"),
    ):
        EAC(K).fit(array, client=client)


def test_samples_without_any_label(labels: np.ndarray, client: Any) -> None:
    gaps = labels.copy()
    gaps[[0, 1500]] = -1
    array = da.from_array(gaps, chunks=(1000, -1))
    expected = SEC(K, n_init=1, random_state=0).fit(
        Ensemble.from_partitions(gaps, unlabeled="keep")
    )
    found = SEC(K, n_init=1, random_state=0).fit(array, client=client)
    assert np.flatnonzero(found.labels_ < 0).tolist() == [0, 1500]
    assert found.labels_.tolist() == expected.labels_.tolist()
    with pytest.raises(InvalidEnsembleError, match=r"2 sample\(s\) have no label"):
        EAC(K).fit(array, client=client)


# -- labels of a Dask array ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*numbers with decimals")
@pytest.mark.parametrize("noise", ["missing", "cluster"])
@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "float64", "uint16", "bool"])
def test_labels_are_coded_as_in_memory(noise: str, dtype: str) -> None:
    labels = planted(200, 5, 3, missing=0.0 if dtype in ("uint16", "bool") else 0.2)
    table = (labels % 2 == 0) if dtype == "bool" else labels.astype(dtype)
    if dtype == "float64":
        table[3, 2] = 0.5
        table[4, 1] = np.nan
        table[5, 0] = 2.0**60
    ensemble = Ensemble.from_partitions(table, noise=noise)
    rows = DaskRows.of_array(da.from_array(table, chunks=(37, 2)), noise)
    assert rows.dtype == ensemble.codes.dtype
    assert [c.tolist() for c in rows.layout.categories] == [c.tolist() for c in ensemble.categories]
    assert rows.take(np.arange(200)).tolist() == ensemble.codes.tolist()
    assert rows.take(np.asarray([199, 0, 77, 0])).tolist() == (
        ensemble.codes[[199, 0, 77, 0]].tolist()
    )
    assert rows.complete == (ensemble.n_missing == 0)
    assert rows.to_ensemble().codes.tolist() == ensemble.codes.tolist()


def test_wide_codes() -> None:
    labels = planted(2000, 3, 4, n_names=300, missing=0.1)
    rows = DaskRows.of_array(da.from_array(labels, chunks=(301, -1)), "missing")
    assert rows.dtype == np.uint16
    assert rows.take(np.arange(2000)).tolist() == Ensemble.from_partitions(labels).codes.tolist()


def test_blocks_of_unknown_length(labels: np.ndarray) -> None:
    """A filter or a data frame makes such blocks; some may be empty."""
    array = da.from_array(labels, chunks=(500, -1))
    kept = array[array[:, 0] == 0]
    assert np.isnan(kept.shape[0])
    none = array[array[:, 0] > 99]
    both = da.concatenate([none, kept], allow_unknown_chunksizes=True)
    expected = labels[labels[:, 0] == 0]
    found = SEC(K, random_state=0).fit(both).labels_
    assert found.tolist() == SEC(K, random_state=0).fit(expected).labels_.tolist()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: da.zeros(10, chunks=5), InvalidEnsembleError, r"shape \(n_samples.*\(10,\)"),
        (lambda: da.zeros((0, 3)), InvalidEnsembleError, r"got shape \(0, 3\)"),
        (
            lambda: da.from_array(np.full((9, 2), "a"), chunks=3),
            InvalidEnsembleError,
            "array of numbers, got labels of type <U1",
        ),
        (
            lambda: da.from_array(np.asarray([[0.0, 1.0], [np.inf, 2.0]]), chunks=1),
            InvalidEnsembleError,
            "'0' contains infinity",
        ),
        (
            lambda: da.from_array(np.asarray([[0, -1], [1, -1], [1, -1]]), chunks=1),
            InvalidEnsembleError,
            "Partition 1 labels no sample",
        ),
    ],
)
def test_an_array_that_is_no_label_table_is_refused(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        SEC(2, random_state=0).fit(make())


def test_noise_as_single_clusters_is_refused(array: Any) -> None:
    with pytest.raises(NotSupportedError, match=r"any number of them.*X\.compute"):
        SEC(K).fit(array, noise="singletons")


# -- clients ---------------------------------------------------------------------------------


def test_a_client_needs_a_store_or_a_dask_array(
    labels: np.ndarray, client: Any, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match="X is a ndarray in memory"):
        SEC(K).fit(labels, client=client)
    store = stored(labels, tmp_path / "s")
    with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client, got str"):
        SEC(K).fit(store, client="tcp://127.0.0.1:8786")
    with pytest.raises(ValueError, match="noise must be one of"):
        SEC(K).fit(da.from_array(labels, chunks=500), noise="none")


def test_an_error_on_a_worker_comes_back(labels: np.ndarray, client: Any, tmp_path: Path) -> None:
    store = stored(labels, tmp_path / "s")
    with open(tmp_path / "s" / "labels.npy", "r+b") as file:
        file.seek(-7, os.SEEK_END)
        file.write(b"\x01\x02\x01")
    with pytest.raises(InvalidStoreError, match="do not match their checksum"):
        SEC(K, random_state=0).fit(store, client=client)


def test_progress_of_a_cluster(array: Any, client: Any) -> None:
    told: list[Progress] = []
    with config_context(progress=told.append):
        KCC(K, n_init=1, random_state=0).fit(array.rechunk((200, -1)), client=client)
    rows = [p for p in told if p.task == "rows"]
    assert {p.total for p in rows} == {N}
    assert sum(p.done == N for p in rows) >= 3  # passes
    assert len({p.done for p in rows}) > 5  # and what lies between
    assert all("rows/s" in p.message for p in rows if p.done)


def test_workers_use_one_thread_each(client: Any, array: Any) -> None:
    rows = DaskRows.of_array(array, "missing", client)
    assert set(rows.collect(_threads)) == {1}


def _threads(chunk: Any) -> int:
    from partita import get_config

    return int(get_config().n_threads)


def test_dask_is_not_imported_for_what_is_in_memory() -> None:
    script = (
        "import sys; from partita import SEC; SEC(2, random_state=0).fit([[0, 0, 1], [0, 1, 1]]);"
        "sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_a_checkpoint_on_a_cluster(array: Any, client: Any, tmp_path: Path) -> None:
    """A fit is ended after some passes and continued."""
    expected = SEC(K, n_init=2, random_state=0).fit(array, client=client)

    class StopError(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.task == "SEC" and progress.done == 1:
            raise StopError

    model = SEC(K, n_init=2, random_state=0, checkpoint=Checkpoint(tmp_path, every=0))
    with pytest.raises(StopError), config_context(progress=stop):
        model.fit(array, client=client)
    assert (tmp_path / "state.npz").exists()
    model.fit(array, client=client)
    assert model.labels_.tolist() == expected.labels_.tolist()
    assert model.history_.tolist() == expected.history_.tolist()
    assert not (tmp_path / "state.npz").exists()


# -- workers that die ------------------------------------------------------------------------


def replaced(client: Any, killed: int) -> bool:
    """Wait until the cluster has two workers again."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        there = client.run(os.getpid, on_error="ignore").values()
        if len(there) == 2 and killed not in there:
            return True
        time.sleep(0.1)
    return False


class Killer:
    """Kill a worker process during the third pass."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.passes = 0
        self.killed: int | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.task == "rows" and progress.done == progress.total:
            self.passes += 1
            if self.passes == 3 and self.killed is None:
                self.killed = sorted(self.client.run(os.getpid).values())[0]
                # a moment later, while its tasks run
                threading.Timer(0.01, os.kill, (self.killed, signal.SIGKILL)).start()


@pytest.mark.parametrize("kind", ["array", "store"])
def test_a_worker_killed_in_the_middle_changes_nothing(
    kind: str, labels: np.ndarray, client: Any, tmp_path: Path, small_blocks: None
) -> None:
    many = np.tile(labels, (2, 1))
    expected = SEC(K, n_init=1, random_state=0).fit(many)
    X = da.from_array(many, chunks=(600, -1)) if kind == "array" else stored(many, tmp_path / "s")
    client.wait_for_workers(2)
    killer = Killer(client)
    with config_context(progress=killer):
        found = SEC(K, n_init=1, random_state=0).fit(X, client=client)
    assert killer.killed is not None
    assert killer.passes > 4  # the fit went on without it
    assert replaced(client, killer.killed)
    assert found.labels_.tolist() == expected.labels_.tolist()
    assert found.history_.tolist() == pytest.approx(expected.history_.tolist(), rel=1e-12)


# -- workers that run out of memory ----------------------------------------------------------

_LIMIT = 1 << 30  # bytes of a worker, above which its nanny ends it


@pytest.fixture
def tight_client() -> Iterator[Any]:
    """Yield a client of two workers that may not take more than a gigabyte each."""
    limits = {f"distributed.worker.memory.{k}": False for k in ("target", "spill", "pause")}
    settings = {**limits, "distributed.scheduler.allowed-failures": 1}
    with dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=_LIMIT, dashboard_address=":0"
        )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield client


def take_memory(block: Any = None) -> Any:
    """Take more memory than a worker may have, and keep it until the nanny ends the process."""
    taken = bytearray(_LIMIT)
    taken[::4096] = bytes([1]) * len(taken[::4096])
    threading.Event().wait(600)
    return block


def take_memory_beside() -> None:
    """Take the memory in a thread; the worker goes on with its tasks until it is ended."""
    threading.Thread(target=take_memory, daemon=True).start()


def test_a_worker_out_of_memory_changes_nothing(
    labels: np.ndarray, tight_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    expected = SEC(K, n_init=1, random_state=0).fit(labels)
    passes, ended = [], []

    def starve(progress: Progress) -> None:
        if progress.task == "rows" and progress.done == progress.total:
            passes.append(progress)
            if len(passes) == 2:
                victim = sorted(tight_client.scheduler_info()["workers"])[0]
                ended.extend(tight_client.run(os.getpid, workers=[victim]).values())
                # it may be ended before it answers
                tight_client.run(take_memory_beside, workers=[victim], on_error="ignore")
                assert replaced(tight_client, ended[0])  # the rest of the fit is without it

    with config_context(progress=starve):
        X = da.from_array(labels, chunks=(600, -1))
        model = SEC(K, n_init=1, random_state=0).fit(X, client=tight_client)
    assert len(passes) > 2
    assert len(ended) == 1
    assert "memory budget" in caplog.text  # the reason that the nanny states
    assert model.labels_.tolist() == expected.labels_.tolist()


def test_a_task_too_large_for_every_worker_is_an_error(
    labels: np.ndarray, tight_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    array = da.from_array(labels, chunks=(1500, -1))
    X = array.map_blocks(take_memory, meta=np.empty((0, 0), labels.dtype))
    model = SEC(K, n_init=1, random_state=0)
    with pytest.raises(ChildProcessError, match="memory_limit"):
        model.fit(X, client=tight_client)
    assert not hasattr(model, "labels_")
    assert "memory budget" in caplog.text  # the reason that the nanny states


# -- generation ------------------------------------------------------------------------------


def test_segmentation_on_the_workers(client: Any, tmp_path: Path) -> None:
    """The same store as without a cluster, also when a worker is killed on the way."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(600, 3)).astype(np.float32))
    options = {"n_partitions": 12, "n_rows": 300, "n_clusters": 4, "random_state": 7}
    expected = segment(tmp_path / "X.npy", tmp_path / "alone", n_jobs=1, **options)
    client.wait_for_workers(2)
    victim = sorted(client.run(os.getpid).values())[-1]

    def kill(progress: Progress) -> None:
        if progress.task == "segment" and progress.done == 3:
            os.kill(victim, signal.SIGKILL)

    with config_context(progress=kill):
        found = segment(tmp_path / "X.npy", tmp_path / "dask", client=client, **options)
    assert replaced(client, victim)
    for file in sorted((tmp_path / "alone").iterdir()):
        assert file.read_bytes() == (tmp_path / "dask" / file.name).read_bytes(), file.name
    assert found.read(0, 600).tolist() == expected.read(0, 600).tolist()
    again = segment(tmp_path / "X.npy", tmp_path / "again", client=client, **options)
    assert again.fingerprint == expected.fingerprint
