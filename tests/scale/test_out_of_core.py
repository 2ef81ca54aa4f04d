"""Fits from a store give the labels of a fit in memory; memory does not grow with the rows."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita import EAC, KCC, LWEA, LWGP, SEC, Ensemble, LabelStore, config_context
from partita.config import Progress
from partita.exceptions import InvalidStoreError, MemoryBudgetError, PartitaWarning
from partita.scale import Chunk, StoreRows
from partita.solvers.label_kmeans import (
    GroupStatistics,
    RowFormat,
    UtilityGeometry,
    _seeds,
    group_statistics,
)
from partita.solvers.label_kmeans._refill import refill
from partita.solvers.label_kmeans._search import ExactSearch, assignment_of
from planted_labels import planted, stored

N, M, K = 2000, 10, 4
MISSING = {"complete": 0.0, "incomplete": 0.3}
WEIGHTS = np.linspace(0.5, 2.0, M)
METHODS: dict[str, Callable[..., Any]] = {
    "SEC": SEC,
    "SEC, weighted": lambda *a, **o: SEC(*a, partition_weights=WEIGHTS, **o),
    "KCC, c": lambda *a, **o: KCC(*a, utility="c", **o),
    "KCC, h": lambda *a, **o: KCC(*a, utility="h", **o),
    "KCC, cos": lambda *a, **o: KCC(*a, utility="cos", **o),
    "KCC, lp": lambda *a, **o: KCC(*a, utility="lp", **o),
    "KCC, normalized": lambda *a, **o: KCC(*a, utility="h", normalized=True, **o),
}


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the number of bytes of a chunk."""
    return lambda size: monkeypatch.setattr("partita.scale._store_rows._CHUNK_BYTES", size)


def same_fit(model: Any, other: Any) -> None:
    assert model.labels_.tolist() == other.labels_.tolist()
    assert model.n_iter_ == other.n_iter_
    assert model.n_clusters_ == other.n_clusters_
    assert model.converged_ == other.converged_
    for name in ("history_", "utility_", "objective_"):
        one, two = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-9 * np.max(np.abs(two)))


# -- the same labels -------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", MISSING)
@pytest.mark.parametrize("method", METHODS)
def test_a_store_gives_the_labels_of_memory(
    method: str, gaps: str, tmp_path: Path, small_chunks: Callable[[int], None]
) -> None:
    labels = planted(N, M, K, missing=MISSING[gaps])
    store = stored(labels, tmp_path / "s")
    small_chunks(500 * M)
    drawn = METHODS[method](K, n_init=3, random_state=0)
    same_fit(pickle.loads(pickle.dumps(drawn)).fit(store), drawn.fit(labels))
    given = METHODS[method](K, init=[7, 300, 900, 1500])
    same_fit(pickle.loads(pickle.dumps(given)).fit(store), given.fit(labels))


@pytest.mark.parametrize("gaps", MISSING)
def test_lwgp_gives_the_labels_of_memory(gaps: str, tmp_path: Path, small_chunks: Any) -> None:
    labels = planted(N, M, K, missing=MISSING[gaps])
    store = stored(labels, tmp_path / "s")
    small_chunks(500 * M)
    in_memory = LWGP(K, random_state=0).fit(labels)
    from_store = LWGP(K, random_state=0).fit(store)
    assert from_store.labels_.tolist() == in_memory.labels_.tolist()


@pytest.mark.parametrize("rows_per_chunk", [1, 97, 128, N, 3 * N])
@pytest.mark.parametrize("bytes_per_chunk", [1, 700 * M, 1 << 25])
def test_chunks_change_nothing(
    rows_per_chunk: int, bytes_per_chunk: int, tmp_path: Path, small_chunks: Any
) -> None:
    labels = planted(300, M, K, missing=0.2)
    store = stored(labels, tmp_path / "s", rows_per_chunk=rows_per_chunk)
    small_chunks(bytes_per_chunk)
    model = SEC(K, n_init=2, random_state=1)
    same_fit(SEC(K, n_init=2, random_state=1).fit(store), model.fit(labels))


@pytest.mark.parametrize("method", [SEC, KCC, LWGP])
def test_threads_change_nothing(method: Any, tmp_path: Path, small_chunks: Any) -> None:
    store = stored(planted(12_000, M, K, missing=0.2), tmp_path / "s")
    small_chunks(5000 * M)  # more than a block of the kernels
    found = []
    for n_threads in (1, 2):
        with config_context(n_threads=n_threads):
            model = method(K, n_init=2, random_state=0).fit(store)
        found.append((model.labels_.tolist(), model.objective_))
    assert found[0] == found[1]


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_seeds_are_those_of_memory(init: str, tmp_path: Path) -> None:
    labels = planted(N, M, K, noise=0.6)
    store = stored(labels, tmp_path / "s")
    for seed in range(3):
        a = SEC(K, init=init, n_init=1, random_state=seed).fit(labels)
        b = SEC(K, init=init, n_init=1, random_state=seed).fit(store)
        same_fit(b, a)


def test_wide_codes(tmp_path: Path) -> None:
    labels = planted(N, 5, K, n_names=300, missing=0.1)
    store = stored(labels, tmp_path / "s")
    assert store.dtype == np.uint16
    for method in (SEC, KCC):
        same_fit(method(K, random_state=0).fit(store), method(K, random_state=0).fit(labels))


def test_clusters_without_samples(tmp_path: Path) -> None:
    labels = planted(N, M, K, missing=0.2)
    store = stored(labels, tmp_path / "s", spare=3)
    for name, method in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            model = method(K, n_init=2, random_state=0).fit(store)
        same_fit(model, method(K, n_init=2, random_state=0).fit(labels)), name
    assert (
        LWGP(K, random_state=0).fit(store).labels_ == LWGP(K, random_state=0).fit(labels).labels_
    ).all()


def test_samples_without_any_label(tmp_path: Path, small_chunks: Any) -> None:
    labels = planted(N, M, K, missing=0.3)
    labels[[0, 5, 700, N - 1]] = -1
    store = stored(labels, tmp_path / "s")
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    small_chunks(300 * M)
    for method in (SEC, KCC):
        same_fit(method(K, random_state=0).fit(store), method(K, random_state=0).fit(ensemble))
    for method in (SEC, KCC, LWGP):
        found = method(K, random_state=0).fit(store).labels_
        assert np.flatnonzero(found < 0).tolist() == [0, 5, 700, N - 1]
        assert (found == method(K, random_state=0).fit(ensemble).labels_).all()


@pytest.mark.parametrize("utility", ["c", "h", "cos"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_empty_clusters_are_refilled_as_in_memory(
    utility: str, seed: int, tmp_path: Path, small_chunks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refilled = []

    def watched(*given: Any) -> Any:
        found = refill(*given)
        refilled.append(len(found))
        return found

    monkeypatch.setattr("partita.solvers.label_kmeans._iteration.refill", watched)
    # many clusters of few labels with gaps: centers that fit no row run empty
    labels = planted(300, 3, 4, noise=0.5, missing=0.5, seed=seed)
    store = stored(labels, tmp_path / "s", rows_per_chunk=64)
    small_chunks(1)
    options = {"utility": utility, "init": "random", "n_init": 2, "random_state": seed}
    in_memory = KCC(30, **options).fit(labels)
    times = len(refilled)
    assert sum(refilled), "nothing was refilled: this tests nothing"
    from_store = KCC(30, **options).fit(store)
    assert refilled[times:] == refilled[:times]
    same_fit(from_store, in_memory)
    assert from_store.n_clusters_ == 30
    apart = {(*row, label) for row, label in zip(labels.tolist(), from_store.labels_, strict=True)}
    assert len(apart) == len(np.unique(labels, axis=0))  # equal rows never part


def test_equal_rows_refill_one_group_together(tmp_path: Path) -> None:
    """The costliest rows are equal: they must not be divided among two empty groups."""
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3], [0, 0, 1]], 20, axis=0)
    store = stored(labels, tmp_path / "s")
    rows = StoreRows(store)
    geometry = UtilityGeometry(rows, "c", np.ones(3))
    held = GroupStatistics.empty(rows, 4)
    groups = np.repeat([0, 0, 1, 1, 0], 20)  # groups 2 and 3 are empty

    def put(chunk: Chunk) -> None:
        kept = assignment_of(chunk).groups
        kept[:] = groups[chunk.start : chunk.start + len(kept)]

    assert list(rows.collect(put, keep_state=True)) == [None]
    held.counts[:], held.masses[:] = group_statistics(rows, geometry, groups, 4)
    held.sizes[:] = np.bincount(groups, minlength=4)
    tables = geometry.tables(held.counts, held.masses)
    search = ExactSearch.start(tables, rows.offsets, rows.complete)
    found = refill(rows, geometry, search, RowFormat.of(rows, 0.0), held)
    assert len(found) == 2
    assert len({row.tobytes() for row, _ in found}) == 2
    assert held.sizes.sum() == len(labels)
    assert (held.sizes > 0).all()
    assert (held.sizes % 20 == 0).all()


# -- what comes with the labels --------------------------------------------------------------


@pytest.mark.parametrize("method", [SEC, KCC])
def test_predict_after_a_fit_from_a_store(method: Any, tmp_path: Path) -> None:
    labels = planted(N, M, K, missing=0.1)
    model = method(K, random_state=0).fit(stored(labels, tmp_path / "s"))
    in_memory = method(K, random_state=0).fit(labels)
    assert model.n_features_in_ == M
    assert model.predict(labels).tolist() == in_memory.predict(labels).tolist()
    assert (model.predict(labels) == model.labels_).mean() > 0.99
    again = pickle.loads(pickle.dumps(model))
    assert again.labels_.tolist() == model.labels_.tolist()
    assert again.predict(labels[:50]).tolist() == model.predict(labels[:50]).tolist()


def test_files_are_deleted_with_the_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(planted(500, M, K), tmp_path / "s")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    model = SEC(K, random_state=0).fit(store)
    held = model.labels_
    assert isinstance(held, np.memmap)
    assert len(list(scratch.iterdir())) == 1  # the files with the state of the rows are deleted
    del model
    gc.collect()
    assert held.tolist()[:1] == [0]
    del held
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_progress_reports_speed_and_remaining_time(tmp_path: Path, small_chunks: Any) -> None:
    store = stored(planted(N, M, K), tmp_path / "s")
    small_chunks(500 * M)
    told: list[Progress] = []
    with config_context(progress=told.append):
        SEC(K, n_init=2, random_state=0).fit(store)
    rows = [p for p in told if p.task == "rows"]
    assert {p.total for p in rows} == {N}
    assert max(p.done for p in rows) == N
    assert 2 < len({p.done for p in rows}) <= 17
    assert all(re.fullmatch(r"[\d.e+]+ rows/s, \d+ s left", p.message) for p in rows if p.done)
    assert [p.done for p in told if p.task == "SEC"] == [0, 1, 2]


# -- what is refused -------------------------------------------------------------------------


def test_an_incomplete_store_is_refused(tmp_path: Path) -> None:
    labels = planted(500, M, K)
    writer = LabelStore.create(tmp_path / "s", 500, n_clusters=[K + 3] * M, rows_per_chunk=100)
    writer.write(0, labels[:200])
    for method in (SEC, KCC, LWGP, EAC):
        with pytest.raises(InvalidStoreError, match="300 of 500 rows have not been written"):
            method(K).fit(LabelStore.open(tmp_path / "s"))


def test_a_damaged_store_gives_no_labels(tmp_path: Path, small_chunks: Any) -> None:
    store = stored(planted(500, M, K), tmp_path / "s", rows_per_chunk=100)
    with open(tmp_path / "s" / "labels.npy", "r+b") as file:
        file.seek(-7, os.SEEK_END)
        file.write(b"\x01\x02\x01")
    small_chunks(1)
    with pytest.raises(InvalidStoreError, match="rows 400 to 499 do not match"):
        SEC(K, random_state=0).fit(store)


def test_other_methods_load_a_store_that_fits_the_budget(tmp_path: Path) -> None:
    labels = planted(400, M, K)
    store = stored(labels, tmp_path / "s")
    for method in (EAC, LWEA):
        found = method(K).fit(store).labels_
        assert found.tolist() == method(K).fit(labels).labels_.tolist()
        with (
            config_context(memory_budget=1000),
            pytest.raises(MemoryBudgetError, match="Reading 400 samples of 10 partitions"),
        ):
            method(K).fit(store)


def test_more_clusters_than_samples(tmp_path: Path) -> None:
    store = stored(planted(20, M, K), tmp_path / "s")
    with pytest.raises(ValueError, match="n_clusters=21 must be between 1 and"):
        SEC(21).fit(store)


@pytest.mark.parametrize("method", [*METHODS, "LWGP"])
@pytest.mark.parametrize("sampled", [False, True])
def test_fewer_different_rows_than_clusters(
    method: str, sampled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sampled:
        monkeypatch.setattr(_seeds, "_SAMPLE", 20)
    rows = np.tile([[0, 0, 1, 0], [1, 1, 0, 0], [2, 1, 1, 1]], 3)[:, :M]
    labels = np.repeat(rows, 30, axis=0)
    store = stored(labels, tmp_path / "s")
    with pytest.warns(PartitaWarning, match="returned 3 clusters instead of n_clusters=5"):
        found = METHODS.get(method, LWGP)(5, random_state=0).fit(store).labels_
    np.testing.assert_array_equal(found, np.repeat([0, 1, 2], 30))


@pytest.mark.parametrize("init", ["merge", "k-means++", "random"])
def test_rows_unlike_all_rows_of_the_sample(
    init: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An initially empty cluster takes a few rows that differ from all others."""
    monkeypatch.setattr(_seeds, "_SAMPLE", 20)
    labels = np.repeat([[0, 0, 1, 0], [1, 1, 0, 0], [2, 1, 1, 1], [3, 2, 2, 2]], 500, axis=0)[:1502]
    found = SEC(4, init=init, random_state=0).fit(stored(labels, tmp_path / "s"))
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1, 2, 3], 500)[:1502])
    np.testing.assert_array_equal(found.predict(labels), found.labels_)


# -- memory ----------------------------------------------------------------------------------

FIT = """
import json, sys
import partita.scale._store_rows
from partita import KCC, LWGP, SEC, LabelStore, config_context
from partita._kernels import _dispatch
from partita._memory import PeakMemory

_dispatch.COMPILED_FROM = float(sys.argv.pop(1))
partita.scale._store_rows._CHUNK_BYTES = 1 << 18
small, large = (LabelStore.open(path) for path in sys.argv[1:])

def gained(model, store):
    with PeakMemory() as memory:
        model.fit(store)
    return memory.gained

for model in (
    SEC(4, n_init=1, max_iter=2, random_state=0),
    KCC(4, n_init=1, max_iter=2, random_state=0),
    LWGP(4, n_init=1, random_state=0),
):
    with config_context(n_threads=1):
        model.fit(small)  # compiled, imported, arenas as large as they get
        print(json.dumps([type(model).__name__, gained(model, small), gained(model, large)]))
"""


@pytest.fixture(scope="module")
def two_sizes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store, and one with eight times its rows: 1.3 and 10.5 MB of labels."""
    folder = tmp_path_factory.mktemp("sizes")
    labels = planted(1 << 16, 20, K, missing=0.1)
    stored(labels, folder / "small", rows_per_chunk=4096)
    stored(np.tile(labels, (8, 1)), folder / "large", rows_per_chunk=4096)
    return folder / "small", folder / "large"


@pytest.mark.parametrize("compiled_from", ["0", "inf"], ids=["compiled", "definitions"])
@pytest.mark.first
def test_memory_does_not_grow_with_the_rows(
    two_sizes: tuple[Path, Path], compiled_from: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT, compiled_from, *map(str, two_sizes)],
        capture_output=True,
        text=True,
        check=True,
        # arrays come from the system and go back to it: none is kept, and used again uncounted
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"},
    )
    for line in done.stdout.splitlines():
        method, small, large = json.loads(line)
        # the labels that are read grow by 9 MB, and those that are written, 8 bytes each, by 4
        assert large - small < 5e6, (method, small, large)
    assert done.stdout.count("[") == 3


def test_a_full_disk_is_an_error_not_a_crash(tmp_path: Path) -> None:
    """`labels_` is a file in the temporary folder; the limit acts like a full disk."""
    script = """
import resource, signal, sys
import numpy as np
from partita import LabelStore, LWGP
rng = np.random.default_rng(0)
store = LabelStore.from_partitions(rng.integers(0, 4, (20_000, 5)), sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    LWGP(3, random_state=0).fit(store)
except OSError as error:
    print(error)
"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", script, str(tmp_path / "labels.store")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr
    assert "labels.npy': File too large. No labels were kept. Free some space" in run.stdout
    assert list(temporary.iterdir()) == []
