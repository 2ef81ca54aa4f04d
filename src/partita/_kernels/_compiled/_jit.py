"""Compilation of kernels by numba. Only this module and `_vectors` import numba.

Kernels release the interpreter lock, so that `partita._threads` can run blocks of them in parallel.
Compiled code is cached on disk: a user waits for the compiler once. `fastmath` is off: sums keep
their written order, and results do not depend on the vector width of the machine.
"""

from __future__ import annotations

import pickle
import zlib

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from partita.config import report_progress

__all__ = ["jit"]

_METHODS = ("_data_name", "_load_index", "_save_data", "_save_index", "save")


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


def jit(function=None, *, inline=False):
    """Compile a kernel when it is first called.

    With `inline` its code is inserted into the kernels that call it. An array argument is passed as
    seven numbers, which is expensive in a function that is called for every row.
    """
    if function is None:
        return lambda function: jit(function, inline=inline)
    try:
        kernel = numba.njit(nogil=True, cache=True, forceinline=inline)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        # no folder can be written: every process compiles for itself
        return numba.njit(nogil=True, forceinline=inline)(function)
    _share(getattr(kernel, "_cache", None))  # None if numba is disabled
    return kernel


def _share(cache):
    """Let processes share a cache, if this version of numba has the class that is expected."""
    file = getattr(cache, "_cache_file", None)
    if type(file) is IndexDataCacheFile and all(hasattr(file, name) for name in _METHODS):
        file.__class__ = _SharedCacheFile


class _Reporter(event.Listener):
    """Reports the compilation of kernels to the progress callback."""

    def __init__(self):
        self.n_compiled = 0

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith(__package__):
            report_progress("compiling, once", self.n_compiled, message=function.__name__)
            self.n_compiled += 1

    def on_end(self, event):
        pass


event.register("numba:compile", _Reporter())
