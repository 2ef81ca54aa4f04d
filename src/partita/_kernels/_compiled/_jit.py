"""Compilation of kernels by numba. Only this module imports numba.

Kernels release the interpreter lock, so that `partita._threads` can run blocks of them in parallel.
Compiled code is cached on disk: a user waits for the compiler once. `fastmath` is off: sums keep
their written order, and results do not depend on the vector width of the machine.
"""

from __future__ import annotations

import gc
import pickle
import zlib
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import Compiler, Flags
from numba.core.options import DefaultOptions

from partita.config import report_progress

__all__ = ["jit"]

_ATTRIBUTES = (
    "_data_name",
    "_load_index",
    "_save_data",
    "_save_index",
    "_source_stamp",
    "save",
)


class _SharedCacheFile(IndexDataCacheFile):
    """Cache of compiled code that several processes, and several versions, may share.

    numba numbers the files of a function in order of compilation. Two processes that compile it for
    different types at the same time would write the same file, and one would later run the code of
    the other. Here the name of a file depends on its content, and the file is complete before the
    index refers to it.
    """

    def save(self, key, data):
        name = self._data_name(zlib.crc32(pickle.dumps(key)))
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)

    def _load_index(self):
        try:
            return super()._load_index()
        except (ImportError, AttributeError):  # an older version, whose types had other names
            return {}


class _WithoutOverlap(Compiler):
    """Compiles a function that writes to no array that it also reads by another argument."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags.noalias = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


def jit(function=None, *, inner=False, inline=False, allocates=True, overlaps=True):
    """Compile a kernel when it is first called.

    An `inner` function is called by compiled code only. It has no entry from Python, which would
    take about as long to compile as its body. With `inline` its code is also inserted into the
    kernels that call it. An array argument is passed as seven numbers, which is expensive in a
    function that is called for every row.

    A function that does not allocate arrays, nor returns one, can say so by `allocates`. Its code
    then counts no references to arrays, and takes about a tenth less time to compile.

    A function that is never called with overlapping arrays can say so by `overlaps`. Its loops then
    need not test, every time they begin, whether what they write changes what they read.
    """
    if function is None:
        return partial(jit, inner=inner, inline=inline, allocates=allocates, overlaps=overlaps)
    options = {
        "nogil": True,
        "forceinline": inline,
        "no_cpython_wrapper": inner or inline,
        "no_cfunc_wrapper": True,  # an entry from C, which nothing uses
    }
    if not allocates and hasattr(DefaultOptions, "_nrt"):
        options["_nrt"] = False
    if not overlaps and hasattr(Flags, "noalias"):
        options["pipeline_class"] = _WithoutOverlap
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        # no folder can be written: every process compiles for itself
        return numba.njit(**options)(function)
    _share(getattr(kernel, "_cache", None))  # None if numba is disabled
    return kernel


def _share(cache):
    """Let processes share a cache, if this version of numba has the class that is expected.

    numba compiles a kernel again if its own file has changed. Its code also depends on the other
    files of the package, from which it takes functions and constants.
    """
    file: Any = getattr(cache, "_cache_file", None)
    if type(file) is IndexDataCacheFile and all(hasattr(file, name) for name in _ATTRIBUTES):
        file.__class__ = _SharedCacheFile
        file._source_stamp = (file._source_stamp, _source_sum())


@lru_cache(maxsize=1)
def _source_sum():
    """Return a checksum of the source of all kernels."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return zlib.crc32(b"".join(path.read_bytes() for path in files))


class _Observer(event.Listener):
    """Reports the compilation of kernels to the progress callback, and stops garbage collection.

    The compiler makes many objects and drops few. Collections of garbage would take about 8 % of
    its time, so they wait until it ends. Only one thread compiles at a time. numba reports an end
    for every compilation, also for one that fails or whose start another listener prevented.
    """

    def __init__(self):
        self.n_compiled = 0
        # was garbage collected before? one answer per kernel under way: kernels compile kernels
        self._collected = []

    def on_start(self, event):
        self._collected.append(gc.isenabled())
        gc.disable()
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith(__package__):
            report_progress("compiling, once", self.n_compiled, message=function.__name__)
            self.n_compiled += 1

    def on_end(self, event):
        if self._collected and self._collected.pop():
            gc.enable()


event.register("numba:compile", _Observer())
