"""A fit that is interrupted anywhere and continued gives the same result."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita import KCC, LWGP, SEC, Checkpoint, Ensemble, LabelStore
from planted_labels import planted, stored

N, M, K = 1000, 8, 5
STATE = "state.npz"
METHODS: dict[str, Callable[..., Any]] = {
    "SEC": SEC,
    "KCC, c": KCC,
    "KCC, h": lambda *a, **o: KCC(*a, utility="h", normalized=True, **o),
}


class StopError(Exception):
    """Ends a fit, as if the process had ended."""


class Stopping(Checkpoint):
    """Saves every state, and ends the fit after `after` states."""

    def __init__(self, path: Path, after: int) -> None:
        super().__init__(path, every=0)
        self.left = after

    def save(self, fit: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        super().save(fit, arrays)
        self.left -= 1
        if self.left == 0:
            raise StopError


def result(model: Any) -> dict[str, Any]:
    """Return the results that must be equal bit for bit."""
    return {
        "labels": model.labels_.tolist(),
        "objective": model.objective_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "history": getattr(model, "history_", np.empty(0)).tolist(),
    }


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: the machine does not fail in these tests."""
    monkeypatch.setattr("partita._atomic._flush_to_disk", lambda path: None)


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the initial sample smaller than the table."""
    monkeypatch.setattr("partita.solvers.label_kmeans._seeds._SAMPLE", 300)


# -- stopped after every state there is ------------------------------------------------------


def stopped_everywhere(make: Callable[..., Any], X: Any, folder: Path) -> int:
    """End a fit after its first, second, fourth, ... state and continue; return how many times."""
    expected = result(make().fit(X))
    for times, after in enumerate([1, *range(2, 1000, 2)]):
        try:
            make(checkpoint=Stopping(folder, after=after)).fit(X)
        except StopError:
            pass
        else:
            assert not (folder / STATE).exists()
            return times
        assert (folder / STATE).exists()
        model = make(checkpoint=Checkpoint(folder, every=3600)).fit(X)
        assert result(model) == expected
        assert list(folder.iterdir()) == []  # nothing is left of a fit that is done
    raise AssertionError("the fit does not end")


@pytest.mark.parametrize("where", ["memory", "store"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("quick_disk")
def test_a_fit_continues_from_any_state(
    method: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = planted(N, M, K, noise=0.5, missing=0.2)
    monkeypatch.setattr("partita.scale._store_rows._CHUNK_BYTES", 400 * M)
    X: Any = labels if where == "memory" else stored(labels, tmp_path / "s")

    def make(**options: Any) -> Any:
        return METHODS[method](K, n_init=2, random_state=1, **options)

    assert stopped_everywhere(make, X, tmp_path / "state") > 3


@pytest.mark.usefixtures("quick_disk")
def test_a_fit_with_refilled_clusters_continues(tmp_path: Path) -> None:
    labels = planted(300, 3, 4, noise=0.5, missing=0.5, seed=1)
    store = stored(labels, tmp_path / "s")

    def make(**options: Any) -> Any:
        return KCC(30, init="random", n_init=2, random_state=1, **options)

    assert stopped_everywhere(make, labels, tmp_path / "state") > 2
    assert stopped_everywhere(make, store, tmp_path / "state") > 2


@pytest.mark.usefixtures("quick_disk")
def test_a_fit_with_fractional_weights_continues(tmp_path: Path) -> None:
    """Sums of fractional weights depend on the order in which rows moved."""
    weights = np.random.default_rng(0).uniform(0.1, 3.0, size=600)
    X = Ensemble.from_partitions(planted(600, M, K, noise=0.6, missing=0.3), weights=weights)
    for method in (SEC, KCC):

        def make(method: Any = method, **options: Any) -> Any:
            return method(K, n_init=2, random_state=0, **options)

        assert stopped_everywhere(make, X, tmp_path / "state") > 3


@pytest.mark.usefixtures("quick_disk", "small_sample")
@pytest.mark.parametrize("method", [SEC, KCC, LWGP])
def test_a_fit_initialized_on_a_sample_continues(method: Any, tmp_path: Path) -> None:
    store = stored(planted(N, M, K, noise=0.7, missing=0.2), tmp_path / "s")

    def make(**options: Any) -> Any:
        return method(K, n_init=2, random_state=0, **options)

    assert stopped_everywhere(make, store, tmp_path / "state") > 2


@pytest.mark.usefixtures("quick_disk")
def test_lwgp_continues_from_any_stage(tmp_path: Path) -> None:
    labels = planted(N, M, K, noise=0.5, missing=0.2)

    def make(**options: Any) -> Any:
        return LWGP(K, n_init=2, random_state=0, **options)

    assert stopped_everywhere(make, labels, tmp_path / "state") == 2
    assert stopped_everywhere(make, stored(labels, tmp_path / "s"), tmp_path / "state") == 2


# -- killed ----------------------------------------------------------------------------------

PARENT = """
import json, os, sys, time
import numpy as np
import partita.scale._store_rows
from partita import KCC, LWGP, SEC, Checkpoint, LabelStore, config_context
import partita.solvers.label_kmeans._seeds
from partita.solvers.label_kmeans._iteration import _Solver

partita.scale._store_rows._CHUNK_BYTES = 1 << 13
partita.solvers.label_kmeans._seeds._SAMPLE = 500
METHODS = {"SEC": SEC, "KCC": KCC, "LWGP": LWGP}
iterate = _Solver._iterate

def iterate_slowly(self, *given):
    time.sleep(0.01)  # long enough to kill it in between
    return iterate(self, *given)

def fit(method, source, folder, out):
    X = LabelStore.open(source) if os.path.isdir(source) else np.load(source)
    checkpoint = Checkpoint(folder, every=0) if folder else None
    model = METHODS[method](5, n_init=2, random_state=0, checkpoint=checkpoint)
    model.fit(X)
    history = getattr(model, "history_", np.empty(0))
    np.savez(out, labels=model.labels_, objective=model.objective_, history=history)

with config_context(n_threads=1, progress=lambda step: time.sleep(0.002)):
    for line in sys.stdin:
        order = json.loads(line)
        if order.pop("here"):
            fit(**order)
            print("done", flush=True)
            continue
        _Solver._iterate = iterate_slowly
        child = os.fork()
        if child == 0:
            fit(**order)
            os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
"""


class Nursery:
    """A process with all imports done and kernels compiled; it forks children to be killed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def order(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the nursery is gone"
        return line.strip()

    def warm(self, **fit: Any) -> None:
        self.order(here=True, **fit)
        assert self.answer() == "done"

    def born(self, **fit: Any) -> int:
        self.order(here=False, **fit)
        return int(self.answer())

    def killed(self, pid: int) -> bool:
        """Kill the child; return False if it had ended before."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return self.ended() == -signal.SIGKILL

    def ended(self) -> int:
        return os.waitstatus_to_exitcode(int(self.answer()))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    if not hasattr(os, "fork"):
        pytest.skip("THIS SYSTEM CANNOT FORK: fits that are killed are not tested here")
    nursery = Nursery()
    with nursery.process:  # closes its pipes
        yield nursery
        assert nursery.process.stdin is not None
        nursery.process.stdin.close()
        assert nursery.process.wait(600) == 0


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("sources")
    labels = planted(3000, M, K, noise=0.55, missing=0.2)
    np.save(folder / "labels.npy", labels)
    stored(labels, folder / "store", rows_per_chunk=256)
    return {"memory": str(folder / "labels.npy"), "store": str(folder / "store")}


def written(state: Path) -> int:
    """Return the time when a state was written, 0 if there is none."""
    try:
        return state.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize(
    ("method", "where"), [("SEC", "store"), ("KCC", "store"), ("LWGP", "store"), ("SEC", "memory")]
)
def test_killed_at_random_points_and_resumed(
    method: str, where: str, nursery: Nursery, sources: dict[str, str], tmp_path: Path
) -> None:
    source, folder, out = sources[where], tmp_path / "state", tmp_path / "out.npz"
    order = {"method": method, "source": source}
    nursery.warm(**order, folder="", out=str(tmp_path / "warm.npz"))
    began = time.monotonic()
    nursery.born(**order, folder="", out=str(tmp_path / "undisturbed.npz"))
    assert nursery.ended() == 0
    seconds = time.monotonic() - began
    moments = random.Random(f"{method} {where}")
    killed, went_on = 0, 0
    for attempt in range(50):
        if killed >= 4 and went_on:
            break
        went_on += (folder / STATE).exists()
        before = written(folder / STATE)
        pid = nursery.born(**order, folder=str(folder), out=str(out))
        if attempt % 2 == 0:  # shortly after it has written, however fast the machine is now
            while written(folder / STATE) == before and not out.exists():
                time.sleep(0.001)
            time.sleep(moments.uniform(0.0, 0.02))
        else:
            time.sleep(moments.uniform(0.05, 0.4) * seconds)
        if not nursery.killed(pid):  # it ended before: the next one begins anew
            out.unlink()
            continue
        killed += 1
        assert not out.exists()
    if not out.exists():
        went_on += (folder / STATE).exists()
        nursery.born(**order, folder=str(folder), out=str(out))
        assert nursery.ended() == 0
    assert killed >= 2
    assert went_on >= 1
    with np.load(out) as found, np.load(tmp_path / "undisturbed.npz") as expected:
        for name in ("labels", "objective", "history"):
            np.testing.assert_array_equal(found[name], expected[name])
    assert list(folder.iterdir()) == []


def test_killed_in_the_second_restart(
    nursery: Nursery, sources: dict[str, str], tmp_path: Path
) -> None:
    order = {"method": "SEC", "source": sources["store"]}
    nursery.born(**order, folder="", out=str(tmp_path / "undisturbed.npz"))
    assert nursery.ended() == 0
    folder, out = tmp_path / "state", tmp_path / "out.npz"
    for _ in range(50):
        pid = nursery.born(**order, folder=str(folder), out=str(out))
        while start_under_way(folder) != 1 and not out.exists():  # counted from 0
            time.sleep(0.002)
        if nursery.killed(pid):
            break
        out.unlink()  # the fit had ended before this process looked: once more
    assert start_under_way(folder) == 1
    nursery.born(**order, folder=str(folder), out=str(out))
    assert nursery.ended() == 0
    with np.load(out) as found, np.load(tmp_path / "undisturbed.npz") as expected:
        for name in ("labels", "objective", "history"):
            np.testing.assert_array_equal(found[name], expected[name])


def start_under_way(folder: Path) -> int:
    if not (folder / STATE).exists():
        return -1
    with np.load(folder / STATE) as state:  # whole whenever it is there
        return int(state["number"])


# -- whose state it is -----------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path: Path) -> tuple[np.ndarray, Path]:
    """Labels, and the folder with the state of an interrupted fit to them."""
    labels = planted(400, M, K, noise=0.5)
    folder = tmp_path / "state"
    with pytest.raises(StopError):
        SEC(K, random_state=0, checkpoint=Stopping(folder, after=2)).fit(labels)
    return labels, folder


def test_another_fit_is_refused(stopped: tuple[np.ndarray, Path]) -> None:
    labels, folder = stopped
    before = (folder / STATE).read_bytes()
    other = labels.copy()
    other[:, 3] = np.roll(other[:, 3], 1)  # of the same shape, with the same clusters
    cases: list[tuple[Any, Any, str]] = [
        (SEC(4, random_state=0), labels, "n_clusters='5' there, '4' here"),
        (SEC(K, random_state=1), labels, "random_state='0' there, '1' here"),
        (SEC(K, random_state=0, tol=0.1), labels, "tol='0.0' there, '0.1' here"),
        (KCC(K, random_state=0), labels, "method='SEC' there, 'KCC' here.*utility=None there"),
        (LWGP(K, random_state=0), labels, "method='SEC' there, 'LWGP' here"),
        (SEC(K, random_state=0), other, "checksum of the labels='[0-9a-f]{8}' there"),
        (SEC(K, random_state=0), labels[:, :-1], "partitions=8 there, 7 here"),
        (SEC(K, random_state=0), labels[:300], "samples=.* there"),
    ]
    for model, X, message in cases:
        with pytest.raises(ValueError, match=rf"another fit: .*{message}"):
            model.set_params(checkpoint=folder).fit(X)
    assert (folder / STATE).read_bytes() == before
    SEC(K, random_state=0, checkpoint=folder).fit(labels)


def test_long_parameters_are_compared_in_full(tmp_path: Path) -> None:
    labels = planted(3000, 6, 4, noise=0.9)
    *distinct, spare = np.unique(labels, axis=0, return_index=True)[1][:1101]
    init = np.sort(distinct)
    with pytest.raises(StopError):
        SEC(1100, init=init, checkpoint=Stopping(tmp_path, after=1)).fit(labels)
    other = init.copy()
    other[550] = spare
    with pytest.raises(ValueError, match="another fit: init="):
        SEC(1100, init=other, checkpoint=tmp_path).fit(labels)


@pytest.mark.parametrize("random_state", [None, np.random.default_rng(0)])
def test_a_seed_is_needed(random_state: Any, tmp_path: Path) -> None:
    labels = planted(100, M, K)
    for method in (SEC, KCC, LWGP):
        model = method(K, random_state=random_state, checkpoint=tmp_path / "state")
        with pytest.raises(ValueError, match="needs an integer as random_state"):
            model.fit(labels)
    SEC(K, init=[0, 1, 2, 3, 4], checkpoint=tmp_path / "state").fit(labels)  # draws nothing


def test_a_fit_with_nothing_to_solve_leaves_a_state_alone(
    stopped: tuple[np.ndarray, Path],
) -> None:
    _, folder = stopped
    before = (folder / STATE).read_bytes()
    with pytest.warns(UserWarning, match="distinct rows"):
        SEC(3, random_state=0, checkpoint=folder).fit([[0, 0, 1], [0, 0, 1]])
    assert (folder / STATE).read_bytes() == before


# -- what the disk does ----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["truncated", "overwritten", "empty", "something else"])
def test_a_damaged_state_is_refused(how: str, stopped: tuple[np.ndarray, Path]) -> None:
    labels, folder = stopped
    file = folder / STATE
    data = file.read_bytes()
    middle = len(data) // 2
    match how:
        case "truncated":
            file.write_bytes(data[:middle])
        case "overwritten":
            file.write_bytes(data[:middle] + b"\0" * 64 + data[middle + 64 :])
        case "empty":
            file.write_bytes(b"")
        case _:
            np.savez(file, labels=labels)
    with pytest.raises(ValueError, match=r"state\.npz' is not the state of a fit, or it is dam"):
        SEC(K, random_state=0, checkpoint=folder).fit(labels)
    file.unlink()
    SEC(K, random_state=0, checkpoint=folder).fit(labels)


def test_a_full_disk_leaves_the_last_good_state(
    stopped: tuple[np.ndarray, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels, folder = stopped
    expected = result(SEC(K, random_state=0).fit(labels))
    before = (folder / STATE).read_bytes()

    def full(file: Any, **arrays: Any) -> None:
        file.write(b"some of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    model = SEC(K, random_state=0, checkpoint=Checkpoint(folder, every=0))
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(
            OSError, match=r"Cannot write .*state\.npz'.* untouched\. Free some space"
        ) as error:
            model.fit(labels)
    assert error.value.errno == errno.ENOSPC
    assert [file.name for file in folder.iterdir()] == [STATE]
    assert (folder / STATE).read_bytes() == before
    assert result(model.fit(labels)) == expected


def test_a_folder_that_refuses(
    stopped: tuple[np.ndarray, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    labels, folder = stopped
    before = (folder / STATE).read_bytes()
    usual = open

    def refuse(path: Any, *given: Any, **options: Any) -> Any:
        if str(path).endswith(".partial"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return usual(path, *given, **options)

    model = SEC(K, random_state=0, checkpoint=Checkpoint(folder, every=0))
    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", refuse)
        with pytest.raises(OSError, match=r"Cannot write .*state\.npz'.*may be written to"):
            model.fit(labels)
    assert (folder / STATE).read_bytes() == before
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Cannot write .*No state has been written\. Check that"):
        SEC(K, random_state=0, checkpoint=tmp_path / "file" / "state").fit(labels)


def test_a_partial_file_of_a_killed_process_is_deleted(
    stopped: tuple[np.ndarray, Path],
) -> None:
    labels, folder = stopped
    (folder / f".{STATE}.123-456.partial").write_bytes(b"half of")
    SEC(K, random_state=0, checkpoint=folder).fit(labels)
    assert list(folder.iterdir()) == []


def test_states_are_not_written_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    usual = Checkpoint.save

    def watched(self: Checkpoint, *given: Any) -> None:
        written.append(self)
        usual(self, *given)

    monkeypatch.setattr(Checkpoint, "save", watched)
    labels = planted(400, M, K, noise=0.5)
    SEC(K, random_state=0, checkpoint=tmp_path).fit(labels)
    assert written == []
    SEC(K, random_state=0, checkpoint=Checkpoint(tmp_path, every=0)).fit(labels)
    assert len(written) > 10


def test_a_store_that_was_replaced_is_another_fit(tmp_path: Path) -> None:
    labels = planted(500, M, K, noise=0.5)
    with pytest.raises(StopError):
        SEC(K, random_state=0, checkpoint=Stopping(tmp_path / "state", after=2)).fit(
            stored(labels, tmp_path / "s")
        )
    labels[7, 2] = (labels[7, 2] + 1) % K
    stored(labels, tmp_path / "t")
    with pytest.raises(ValueError, match="checksum of the labels"):
        SEC(K, random_state=0, checkpoint=tmp_path / "state").fit(LabelStore.open(tmp_path / "t"))
