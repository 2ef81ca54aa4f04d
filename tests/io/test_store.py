"""The label store: rows are read as they were written, and damage is an error."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from partita import Ensemble, LabelStore, config_context
from partita._atomic import write_atomically
from partita._memory import PeakMemory
from partita.exceptions import InvalidEnsembleError, InvalidStoreError, MemoryBudgetError
from partita.io.store._metadata import StoreMetadata
from partita.io.store._sealed import seal
from partita.io.store._writer_lock import WriterLock

N_CLUSTERS = [3, 200, 2, 7]


def make_labels(n: int = 1000, seed: int = 0, dtype: type = np.uint8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLUSTERS, (n, len(N_CLUSTERS))).astype(dtype)
    labels[rng.random(labels.shape) < 0.2] = np.iinfo(dtype).max
    return labels


@pytest.fixture
def labels() -> np.ndarray:
    return make_labels()


@pytest.fixture
def folder(tmp_path: Path, labels: np.ndarray) -> Path:
    """A complete store of 1000 rows in chunks of 64."""
    path = tmp_path / "labels.store"
    writer = LabelStore.create(
        path,
        len(labels),
        n_clusters=N_CLUSTERS,
        partition_names=list("abcd"),
        provenance={"made by": "a test", "seed": np.int64(0)},
        rows_per_chunk=64,
    )
    writer.write(0, labels)
    writer.append_sample_ids(f"s{i}" for i in range(len(labels)))
    writer.finish()
    return path


# -- reading and writing --------------------------------------------------------------------


def test_a_store_has_what_was_declared_and_written(folder: Path, labels: np.ndarray) -> None:
    store = LabelStore.open(folder)
    assert (store.n_samples, store.n_partitions, store.is_complete) == (1000, 4, True)
    assert store.n_clusters.tolist() == N_CLUSTERS
    assert store.n_clusters.dtype == np.int64
    assert store.offsets.tolist() == [0, 3, 203, 205, 212]
    assert (store.n_base_clusters, store.missing_code, store.dtype) == (212, 255, np.uint8)
    assert list(store.partition_names) == list("abcd")
    assert store.provenance == {"made by": "a test", "seed": 0}
    assert store.sample_ids is not None
    assert store.sample_ids.tolist() == [f"s{i}" for i in range(1000)]
    np.testing.assert_array_equal(store.categories[3], np.arange(7))
    np.testing.assert_array_equal(store.read(0, 1000), labels)
    store.verify()
    store.require_complete()


@pytest.mark.parametrize("block", [1, 63, 64, 65, 1000])
def test_rows_written_and_read_in_blocks_of_any_size(
    tmp_path: Path, labels: np.ndarray, block: int
) -> None:
    writer = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS, rows_per_chunk=64)
    for start in range(0, 1000, block):
        writer.write(start, labels[start : start + block])
    writer.finish()
    store = LabelStore.open(tmp_path / "s")
    out = np.empty((block, 4), np.uint8)
    blocks = store.blocks(block)
    assert blocks[0] == (0, block)
    assert blocks[-1][1] == 1000
    read = [store.read(start, stop, out).copy() for start, stop in blocks]
    np.testing.assert_array_equal(np.concatenate(read), labels)


def test_the_file_is_one_that_numpy_maps(folder: Path, labels: np.ndarray) -> None:
    mapped = np.load(folder / "labels.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, labels)


@pytest.mark.parametrize(("k", "dtype"), [(255, np.uint8), (256, np.uint16), (70000, np.uint32)])
def test_the_narrowest_type_with_room_for_missing(tmp_path: Path, k: int, dtype: type) -> None:
    writer = LabelStore.create(tmp_path / "s", 3, n_clusters=[k, 2])
    writer.write(0, np.asarray([[k - 1, 0], [-1, 1], [0, -5]]))
    writer.finish()
    store = LabelStore.open(tmp_path / "s")
    missing = np.iinfo(dtype).max
    assert store.dtype == dtype
    assert store.read(0, 3).tolist() == [[k - 1, 0], [missing, 1], [0, missing]]


def test_missing_is_the_largest_value_of_any_unsigned_type(tmp_path: Path) -> None:
    wide = make_labels(50, dtype=np.uint16)
    writer = LabelStore.create(tmp_path / "s", 50, n_clusters=N_CLUSTERS)
    writer.write(0, wide)
    writer.finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 50), make_labels(50))


def test_original_labels_keep_their_types(tmp_path: Path) -> None:
    categories = [["x", "y"], [1.5, 2.0], [True, False], [7, "7"], [10**20, 3], [0.0, 1.0], [0, 1]]
    writer = LabelStore.create(tmp_path / "s", 2, categories)
    writer.write(0, np.zeros((2, 7), int))
    writer.finish()
    read = [c.tolist() for c in LabelStore.open(tmp_path / "s").categories]
    assert read == categories
    assert [[type(v) for v in c] for c in read] == [[type(v) for v in c] for c in categories]


def test_pickles_by_path_and_notices_another_store(folder: Path, labels: np.ndarray) -> None:
    store = LabelStore.open(folder)
    data = pickle.dumps(store)
    assert len(data) < 2000
    np.testing.assert_array_equal(pickle.loads(data).read(10, 20), labels[10:20])
    shutil.rmtree(folder)
    other = LabelStore.create(folder, 5, n_clusters=[2])
    other.write(0, np.zeros((5, 1), int))
    other.finish()
    with pytest.raises(InvalidStoreError, match="replaced"):
        pickle.loads(data)


def test_threads_read_at_the_same_time(folder: Path, labels: np.ndarray) -> None:
    store = LabelStore.open(folder)
    starts = np.random.default_rng(0).integers(0, 900, 300).tolist()
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda start: store.read(start, start + 100), starts))
    for start, rows in zip(starts, read, strict=True):
        np.testing.assert_array_equal(rows, labels[start : start + 100])


def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    n, m = 3_000_000, 40  # 120 MB
    block = np.random.default_rng(0).integers(0, 100, (1 << 16, m), dtype=np.uint8)
    with PeakMemory() as peak:
        writer = LabelStore.create(tmp_path / "s", n, n_clusters=[100] * m)
        for start in range(0, n, len(block)):
            writer.write(start, block[: n - start])
        writer.finish()
        store = LabelStore.open(tmp_path / "s")
        out = np.empty_like(block)
        for start, stop in store.blocks(len(block)):
            assert store.read(start, stop, out)[0, 0] == block[0, 0]
    assert peak.gained < 40e6


# -- columns ---------------------------------------------------------------------------------


def test_columns_become_rows(tmp_path: Path, labels: np.ndarray) -> None:
    writer = LabelStore.create(
        tmp_path / "s", 1000, n_partitions=4, partition_names=list("abcd"), rows_per_chunk=64
    )
    for i in (2, 0, 3, 1):
        rows = np.flatnonzero(labels[:, i] != 255)
        names = [f"{i}-{code}" for code in range(N_CLUSTERS[i])]
        writer.write_column(i, labels[rows, i], rows, categories=names, provenance={"seed": i})
    assert writer.written_columns == [0, 1, 2, 3]
    writer.finish()
    store = LabelStore.open(tmp_path / "s")
    np.testing.assert_array_equal(store.read(0, 1000), labels)
    assert store.categories[2].tolist() == ["2-0", "2-1"]
    assert [p["seed"] for p in store.partition_provenance] == [0, 1, 2, 3]
    assert list(store.partition_names) == list("abcd")
    assert not (tmp_path / "s" / "columns").exists()
    store.verify()


def test_columns_of_different_width_share_the_widest_type(tmp_path: Path) -> None:
    writer = LabelStore.create(tmp_path / "s", 3, n_partitions=2)
    writer.write_column(0, [0, 299, -1])
    writer.write_column(1, np.asarray([0, 255, 1], np.uint8))
    writer.finish()
    store = LabelStore.open(tmp_path / "s")
    assert store.n_clusters.tolist() == [300, 2]
    assert store.read(0, 3).tolist() == [[0, 0], [299, 65535], [65535, 1]]


def test_many_declared_clusters_need_little_memory(tmp_path: Path) -> None:
    labels = np.asarray([[0, 2**31 - 1], [70_000, -1], [2**31 - 1, 5]])
    writer = LabelStore.create(tmp_path / "s", 3, n_clusters=[2**31, 2**31])
    writer.write(0, labels)
    writer.finish()
    with config_context(memory_budget=10**8):
        store = LabelStore.open(tmp_path / "s")
        assert "2147483648 clusters each" in repr(store)
        for ensemble in (store.to_ensemble(), Ensemble.from_codes(labels)):
            assert ensemble.codes.tolist() == [[0, 1], [1, 255], [2, 0]]
            assert [c.tolist() for c in ensemble.categories] == [
                [0, 70_000, 2**31 - 1],
                [5, 2**31 - 1],
            ]
        with pytest.raises(MemoryBudgetError, match="4294967296 clusters"):
            store.layout  # noqa: B018


def write_some_columns(path: Path, columns: list[int]) -> None:
    with LabelStore.resume(path, shared=True) as writer:
        for i in columns:
            writer.write_column(i, make_labels()[:, i])


def test_processes_write_columns_side_by_side(tmp_path: Path, labels: np.ndarray) -> None:
    LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS, rows_per_chunk=64)
    context = multiprocessing.get_context("fork")
    shares = ([0, 1, 2], [2, 3])  # one of them twice
    processes = [
        context.Process(target=write_some_columns, args=(tmp_path / "s", share)) for share in shares
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    LabelStore.resume(tmp_path / "s").finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 1000), labels)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no locks that processes share")
def test_a_second_writer_is_refused(tmp_path: Path, labels: np.ndarray) -> None:
    first = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS)
    for shared in (False, True):
        with pytest.raises(InvalidStoreError, match=r"Another writer of the store .* is open"):
            LabelStore.resume(tmp_path / "s", shared=shared)
    first.close()
    second = LabelStore.resume(tmp_path / "s", shared=True)
    third = LabelStore.resume(tmp_path / "s", shared=True)
    with pytest.raises(InvalidStoreError, match="Another writer"):
        LabelStore.resume(tmp_path / "s")
    second.write(0, labels)
    with pytest.raises(InvalidStoreError, match="Another writer"):
        second.finish()
    third.close()
    second.finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 1000), labels)
    assert not list((tmp_path / "s").glob("*.lock"))


def test_nothing_is_written_into_a_complete_store(
    tmp_path: Path, labels: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the disk has no locks: a writer looks whether another has completed the store."""
    monkeypatch.setattr(WriterLock, "_acquire", lambda self, shared: None)
    early = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS)
    early.write(0, labels[:500])
    late = LabelStore.resume(tmp_path / "s")
    late.write(0, labels)
    late.finish()
    for write in (
        lambda: early.write(0, labels[::-1]),
        lambda: early.write_column(0, labels[::-1, 0]),
        lambda: early.append_sample_ids(["a"]),
        early.finish,
    ):
        with pytest.raises(InvalidStoreError, match="is complete"):
            write()
    store = LabelStore.open(tmp_path / "s")
    store.verify()
    np.testing.assert_array_equal(store.read(0, 1000), labels)


# -- incomplete stores -----------------------------------------------------------------------


def test_rows_that_are_not_there_read_as_missing(tmp_path: Path, labels: np.ndarray) -> None:
    writer = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS, rows_per_chunk=100)
    writer.write(100, labels[100:250])  # one chunk is whole, half of another waits in memory
    store = LabelStore.open(tmp_path / "s")
    expected = np.full_like(labels, 255)
    expected[100:200] = labels[100:200]
    assert not store.is_complete
    np.testing.assert_array_equal(store.read(0, 1000), expected)
    with pytest.raises(InvalidStoreError, match=r"900 of 1000 rows .*first: 0"):
        store.require_complete()
    with pytest.raises(InvalidStoreError, match="rows 0 to 99"):
        writer.finish()
    writer.close()
    with pytest.raises(InvalidStoreError, match="is closed"):
        writer.write(0, labels[:100])
    # another process goes on
    again = LabelStore.resume(tmp_path / "s")
    again.write(0, labels[:100])
    again.write(200, labels[200:])
    again.finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 1000), labels)


def test_columns_that_are_not_there_read_as_missing(tmp_path: Path, labels: np.ndarray) -> None:
    writer = LabelStore.create(tmp_path / "s", 1000, n_partitions=4)
    empty = LabelStore.open(tmp_path / "s")
    assert (empty.read(0, 10) == empty.missing_code).all()
    writer.write_column(1, labels[:, 1])
    store = LabelStore.open(tmp_path / "s")
    expected = np.full_like(labels, 255)
    expected[:, 1] = labels[:, 1]
    np.testing.assert_array_equal(store.read(0, 1000), expected)
    assert store.n_clusters.tolist() == [0, 200, 0, 0]
    assert "not complete" in repr(store)
    for refuse in (store.require_complete, writer.finish):
        with pytest.raises(InvalidStoreError, match=r"3 of 4 partitions .*first: 0"):
            refuse()


def test_a_store_is_filled_one_way(tmp_path: Path, labels: np.ndarray) -> None:
    by_rows = LabelStore.create(tmp_path / "r", 1000, n_clusters=N_CLUSTERS)
    by_rows.write(0, labels)
    with pytest.raises(InvalidStoreError, match="by rows"):
        by_rows.write_column(0, labels[:, 0])
    by_columns = LabelStore.create(tmp_path / "c", 1000, n_clusters=N_CLUSTERS)
    by_columns.write_column(0, labels[:, 0])
    with pytest.raises(InvalidStoreError, match="by columns"):
        by_columns.write(0, labels)
    undeclared = LabelStore.create(tmp_path / "u", 1000, n_partitions=4)
    with pytest.raises(InvalidStoreError, match="write_column"):
        undeclared.write(0, labels)


# -- damage ----------------------------------------------------------------------------------


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("file", ["labels.npy", "checksums.bin", "store.json", "sample_ids.jsonl"])
@pytest.mark.parametrize("damage", ["cut", "extended", "gone", "empty"])
def test_a_damaged_file_is_refused(folder: Path, file: str, damage: str) -> None:
    path = folder / file
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-1], "extended": data + b"0", "empty": b""}[damage])
        if (file, damage) == ("store.json", "cut"):
            path.write_bytes(data[:-2])  # the last byte only ends the line
    with pytest.raises(InvalidStoreError, match=file.replace(".", r"\.")):
        LabelStore.open(folder).verify()


@pytest.mark.parametrize("file", ["labels.npy", "checksums.bin", "store.json", "sample_ids.jsonl"])
def test_a_flipped_bit_anywhere_is_found(folder: Path, file: str) -> None:
    path = folder / file
    whole = path.read_bytes()
    places = np.linspace(0, len(whole) - 2, 60).astype(int).tolist()
    for place in places:
        flip(path, place)
        with pytest.raises(InvalidStoreError):
            LabelStore.open(folder).verify()
        path.write_bytes(whole)
    LabelStore.open(folder).verify()


def test_damaged_rows_are_never_read_as_labels(folder: Path, labels: np.ndarray) -> None:
    """Only the damaged chunk is refused, also if one row of it is read, unless checks are off."""
    flip(folder / "labels.npy", 128 + 4 * 70)  # row 70 lies in the chunk of rows 64 to 127
    store = LabelStore.open(folder)
    np.testing.assert_array_equal(store.read(0, 64), labels[:64])
    for start, stop in ((100, 101), (0, 1000), (64, 128)):
        with pytest.raises(InvalidStoreError, match="rows 64 to 127"):
            store.read(start, stop)
    np.testing.assert_array_equal(store.read(128, 1000), labels[128:])
    unchecked = LabelStore.open(folder, checked=False).read(64, 128)
    assert np.count_nonzero(unchecked != labels[64:128]) == 1


def test_a_damaged_column_is_found_before_it_becomes_rows(
    tmp_path: Path, labels: np.ndarray
) -> None:
    writer = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS)
    for i in range(4):
        writer.write_column(i, labels[:, i])
    path = tmp_path / "s" / "columns" / "000002.column"
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"\7", b"?" + whole[1:], whole + b"0"):
        path.write_bytes(damaged)
        with pytest.raises(InvalidStoreError, match=r"000002\.column"):
            LabelStore.open(tmp_path / "s").read(0, 10)
        with pytest.raises(InvalidStoreError, match=r"000002\.column"):
            writer.finish()
        assert not StoreMetadata.load(tmp_path / "s").is_complete
    writer.write_column(2, labels[:, 2])
    writer.finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 1000), labels)


def test_other_folders_and_formats_are_refused(folder: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidStoreError, match="not a label store"):
            LabelStore.open(path)
    (folder / "store.json").write_bytes(seal("partita label store", 99, {}))
    with pytest.raises(InvalidStoreError, match=r"version 99.*newer partita"):
        LabelStore.open(folder)
    (folder / "store.json").write_bytes(seal("shopping list", 1, {}))
    with pytest.raises(InvalidStoreError, match="is not a partita label store"):
        LabelStore.open(folder)


# -- mistakes --------------------------------------------------------------------------------


def test_labels_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    writer = LabelStore.create(tmp_path / "s", 10, n_clusters=[3, 5])
    with pytest.raises(InvalidEnsembleError, match=r"label 3 in row 4, partition 0 .* 3 clusters"):
        writer.write(4, [[3, 4]])
    with pytest.raises(InvalidEnsembleError, match="label 5 in row 1 is not"):
        writer.write_column(1, [0, 5] + [0] * 8)
    with pytest.raises(InvalidEnsembleError, match="float64"):
        writer.write(0, [[0.0, 1.0]])
    with pytest.raises(InvalidEnsembleError, match="rows of 2 labels"):
        writer.write(0, [[0, 1, 2]])
    with pytest.raises(InvalidEnsembleError, match="labels no sample"):
        writer.write_column(0, [-1] * 10)
    with pytest.raises(InvalidEnsembleError, match="distinct"):
        writer.write_column(0, [0, 1], rows=[4, 4])
    with pytest.raises(InvalidEnsembleError, match="10 labels"):
        writer.write_column(0, [0, 1])
    for mistake in (
        lambda: writer.write(9, [[0, 0], [0, 0]]),
        lambda: writer.write_column(2, [0] * 10),
        lambda: writer.write_column(0, [0], rows=[-1]),
        lambda: writer.write_column(0, [0], rows=[10]),
        lambda: LabelStore.open(tmp_path / "s").read(5, 11),
    ):
        with pytest.raises(IndexError):
            mistake()


def test_create_refuses_existing_folders_and_invalid_sizes(folder: Path) -> None:
    parent = folder.parent
    with pytest.raises(FileExistsError, match="already there"):
        LabelStore.create(folder, 10, n_clusters=[2])
    with pytest.raises(InvalidStoreError, match="complete"):
        LabelStore.resume(folder)
    with pytest.raises(TypeError, match="exactly one"):
        LabelStore.create(parent / "x", 10)
    for options in ({"n_clusters": [0]}, {"n_clusters": []}, {"n_partitions": 0}):
        with pytest.raises(ValueError, match="at least one"):
            LabelStore.create(parent / "x", 10, **options)
    with pytest.raises(ValueError, match="n_samples=0"):
        LabelStore.create(parent / "x", 0, n_clusters=[2])
    with pytest.raises(ValueError, match="name 1 partitions"):
        LabelStore.create(parent / "x", 1, n_clusters=[2], partition_names=["a", "b"])
    assert sorted(p.name for p in parent.iterdir()) == [folder.name]


def test_out_must_have_type_shape_and_order(folder: Path) -> None:
    store = LabelStore.open(folder)
    for out in (
        np.empty((10, 4), np.uint16),
        np.empty((9, 4), np.uint8),
        np.empty((10, 3), np.uint8),
        np.empty((4, 10), np.uint8).T,
    ):
        with pytest.raises(ValueError, match="out must be a contiguous uint8 array"):
            store.read(0, 10, out)


def test_sample_ids_must_be_as_many_as_samples(tmp_path: Path) -> None:
    writer = LabelStore.create(tmp_path / "s", 3, n_clusters=[2])
    writer.write(0, [[0], [1], [0]])
    writer.append_sample_ids(["a", "b"])
    with pytest.raises(InvalidEnsembleError, match="3 sample ids, got 2"):
        writer.finish()
    writer.append_sample_ids([5])
    writer.finish()
    assert LabelStore.open(tmp_path / "s").sample_ids.tolist() == ["a", "b", 5]


# -- full disks ------------------------------------------------------------------------------


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_what_was_written(
    tmp_path: Path, labels: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = LabelStore.create(tmp_path / "s", 1000, n_clusters=N_CLUSTERS, rows_per_chunk=100)
    writer.write(0, labels[:300])
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full_disk)
        with pytest.raises(OSError, match=r"labels\.npy.*No space left.*Free some space") as caught:
            writer.write(300, labels[300:])
        assert caught.value.errno == errno.ENOSPC
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 300), labels[:300])
    writer.write(300, labels[300:])
    writer.finish()
    np.testing.assert_array_equal(LabelStore.open(tmp_path / "s").read(0, 1000), labels)


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    write_atomically(path, b"good")

    def fails_half_way(file) -> None:
        file.write(b"ba")
        full_disk()

    with pytest.raises(OSError, match=r"state.*No space left.*before is untouched"):
        write_atomically(path, fails_half_way)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_disk)
        with pytest.raises(OSError, match="untouched"):
            write_atomically(path, b"bad")
    assert path.read_bytes() == b"good"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, lambda file: file.write(b"better"))
    assert path.read_bytes() == b"better"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for parent in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(OSError, match=r"Cannot write .*Check that the folder"):
            write_atomically(parent / "state", b"")
        with pytest.raises(OSError, match=r"Cannot write .*Check that the folder"):
            LabelStore.create(parent / "s", 10, n_clusters=[2])


def test_an_error_of_another_file_is_passed_on_as_it_is(tmp_path: Path) -> None:
    def reads_elsewhere(file) -> None:
        (tmp_path / "elsewhere" / "x").read_bytes()

    with pytest.raises(FileNotFoundError, match="elsewhere"):
        write_atomically(tmp_path / "state", reads_elsewhere)


# -- ensembles -------------------------------------------------------------------------------


@pytest.fixture
def ensemble() -> Ensemble:
    rng = np.random.default_rng(1)
    columns = [rng.choice(["x", "y", None], 90, p=[0.4, 0.4, 0.2]), rng.integers(0, 300, 90) * 2]
    return Ensemble.from_partitions(
        columns,
        sample_ids=[f"id{i}" for i in range(90)],
        partition_names=["letters", "numbers"],
        provenance={"from": "a test"},
    )


def assert_same(ensemble: Ensemble, expected: Ensemble) -> None:
    np.testing.assert_array_equal(ensemble.codes, expected.codes)
    assert ensemble.codes.dtype == expected.codes.dtype
    for one, other in zip(ensemble.categories, expected.categories, strict=True):
        assert one.tolist() == other.tolist()
    np.testing.assert_array_equal(ensemble.sample_ids, expected.sample_ids)
    np.testing.assert_array_equal(ensemble.partition_names, expected.partition_names)
    assert ensemble.provenance == expected.provenance


def test_an_ensemble_goes_to_a_store_and_comes_back(tmp_path: Path, ensemble: Ensemble) -> None:
    store = LabelStore.from_partitions(ensemble, tmp_path / "s", rows_per_chunk=16)
    assert store.is_complete
    assert_same(store.to_ensemble(), ensemble)
    assert_same(LabelStore.open(tmp_path / "s").to_ensemble(), ensemble)
    opened = LabelStore.open(tmp_path / "s")
    np.testing.assert_array_equal(opened.n_clusters, ensemble.n_clusters)
    np.testing.assert_array_equal(opened.offsets, ensemble.offsets)
    rows = np.asarray([80, 3, 3, 17])
    np.testing.assert_array_equal(opened.take(rows), ensemble.codes[rows])


def test_a_compressed_ensemble_is_written_as_the_samples_it_stands_for(tmp_path: Path) -> None:
    labels = [["b", "a", None, "b"] * 5, [1, 1, None, 1] * 5, [0, 2, None, 0] * 5]
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    store = LabelStore.from_partitions(ensemble.compress(), tmp_path / "s")
    back = store.to_ensemble(unlabeled="keep")
    for i, column in enumerate(labels):
        names = [*back.categories[i].tolist(), *[None] * 300]
        assert [names[code] for code in back.codes[:, i]] == column
    with pytest.raises(InvalidEnsembleError, match="5 sample"):
        store.to_ensemble()


def test_clusters_without_samples_are_left_out_of_an_ensemble(tmp_path: Path) -> None:
    writer = LabelStore.create(tmp_path / "s", 3, [["a", "b", "c"], [5, 6]])
    writer.write(0, [[2, 0], [0, -1], [2, 1]])
    writer.finish()
    ensemble = LabelStore.open(tmp_path / "s").to_ensemble()
    assert [c.tolist() for c in ensemble.categories] == [["a", "c"], [5, 6]]
    assert ensemble.codes.tolist() == [[1, 0], [0, 255], [1, 1]]


def test_a_store_too_large_for_the_budget_is_not_read(tmp_path: Path, ensemble: Ensemble) -> None:
    store = LabelStore.from_partitions(ensemble, tmp_path / "s")
    with (
        config_context(memory_budget=500),
        pytest.raises(MemoryBudgetError, match="to the store itself"),
    ):
        store.to_ensemble()


def test_an_incomplete_store_is_no_ensemble(tmp_path: Path) -> None:
    LabelStore.create(tmp_path / "s", 3, n_clusters=[2])
    with pytest.raises(InvalidStoreError, match="not complete"):
        LabelStore.open(tmp_path / "s").to_ensemble()


def test_weights_have_no_place_in_a_store(tmp_path: Path) -> None:
    ensemble = Ensemble.from_partitions([[0, 1], [0, 1]], weights=[1, 2])
    for weighted in (ensemble, ensemble.compress()):
        with pytest.raises(InvalidEnsembleError, match="weights"):
            LabelStore.from_partitions(weighted, tmp_path / "s")
    assert not (tmp_path / "s").exists()
