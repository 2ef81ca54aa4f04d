"""The cache of compiled code stays correct when processes or versions share it."""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba", reason="numba is not installed")

from partita._kernels._compiled import _jit
from partita._kernels._compiled._jit import _SharedCacheFile


def interleaved(kind, folder):
    """Two processes that begin with an empty index, the second one's files written in between."""
    first, second = (kind(str(folder), "kernel", "stamp") for _ in range(2))
    first._load_index = second._load_index = dict
    write = first._save_data

    def late(name, data):
        second.save("uint16", "code for uint16")
        write(name, data)

    first._save_data = late
    first.save("uint8", "code for uint8")
    reader = kind(str(folder), "kernel", "stamp")
    return {key: reader.load(key) for key in ("uint8", "uint16")}


def test_no_code_is_found_under_the_wrong_key(tmp_path):
    for key, code in interleaved(_SharedCacheFile, tmp_path).items():
        assert code in (None, f"code for {key}")


def test_numba_alone_returns_the_wrong_code(tmp_path):
    """If this fails, numba has fixed it: `_SharedCacheFile.save` can be removed."""
    (plain,) = _SharedCacheFile.__bases__
    assert interleaved(plain, tmp_path)["uint16"] == "code for uint8"


class Record(NamedTuple):
    """A type that a kernel is compiled for, and that a later version no longer has."""


def test_an_index_with_a_type_that_is_gone_counts_as_empty(tmp_path, monkeypatch):
    _SharedCacheFile(str(tmp_path), "kernel", "stamp").save(Record, "code")
    reader = _SharedCacheFile(str(tmp_path), "kernel", "stamp")
    assert reader.load(Record) == "code"
    monkeypatch.delattr(f"{__name__}.Record")
    assert reader.load("uint8") is None
    reader.save("uint8", "new code")
    assert reader.load("uint8") == "new code"


def test_code_is_not_used_after_another_file_of_the_kernels_changed(tmp_path, monkeypatch):
    """A kernel contains functions and constants of other files."""

    (plain,) = _SharedCacheFile.__bases__

    def cache():
        cache = SimpleNamespace(_cache_file=plain(str(tmp_path), "kernel", "stamp"))
        _jit._share(cache)
        return cache._cache_file

    cache().save("uint8", "old code")
    assert cache().load("uint8") == "old code"
    monkeypatch.setattr(_jit, "_source_sum", lambda: 1)
    assert cache().load("uint8") is None


@_jit.jit(overlaps=False)
def add(values, out):
    for k in range(len(out)):
        out[k] += values[k]


def test_the_compiler_is_told_that_arrays_do_not_overlap():
    """Without this flag of numba results are the same, and some kernels slower."""
    out = np.ones(3)
    add(np.arange(3.0), out)
    np.testing.assert_array_equal(out, [1, 2, 3])
    assert add._compiler.pipeline_class is _jit._WithoutOverlap
    assert isinstance(_jit.Flags().noalias, bool)


@pytest.fixture
def collecting():
    """Whether garbage is collected, restored after a test."""
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


def compile_and_look(fails=False):
    """Compile a kernel that calls another; return the states of the collector in between."""
    states = []

    class Look(_jit.event.Listener):
        def on_start(self, event):
            states.append(gc.isenabled())

        def on_end(self, event):
            states.append(gc.isenabled())

    @_jit.numba.njit
    def inner(x):
        return x.missing if fails else x + 1

    @_jit.numba.njit
    def outer(x):
        return inner(x) + inner(x)

    # registered before that of the library, so that it looks last at the start and first at the end
    with _jit.event.install_listener("numba:compile", Look()):
        if fails:
            with pytest.raises(_jit.numba.TypingError):
                outer(1.0)
        else:
            assert outer(1.0) == 4.0
    return states


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("is_enabled", [False, True])
def test_no_garbage_is_collected_while_kernels_compile(collecting, is_enabled, fails):
    (gc.enable if is_enabled else gc.disable)()
    states = compile_and_look(fails)
    assert states[:2] == [False, False]
    assert len(states) >= 4
    assert gc.isenabled() is is_enabled


def test_garbage_is_collected_after_threads_compiled(collecting):
    gc.enable()
    threads = [threading.Thread(target=compile_and_look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()


def test_an_end_without_a_start_changes_nothing(collecting):
    """numba reports such an end if the listener before this one fails."""
    start = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=compile_and_look)})
    observer = _jit._Observer()
    gc.enable()
    observer.on_end(None)
    assert gc.isenabled()
    observer.on_start(start)
    assert not gc.isenabled()
    observer.on_end(None)
    assert gc.isenabled()


def test_garbage_is_collected_after_a_later_listener_fails(collecting):

    class Fails(_jit.event.Listener):
        def on_start(self, event):
            raise KeyboardInterrupt

        def on_end(self, event):
            pass

    gc.enable()
    with (
        _jit.event.install_listener("numba:compile", Fails()),
        pytest.raises(KeyboardInterrupt),
    ):
        _jit.numba.njit(lambda x: x)(1.0)
    assert gc.isenabled()
    compile_and_look()
    assert gc.isenabled()
