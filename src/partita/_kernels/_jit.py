"""The door to numba (`_vectors` is the other one, to what lies behind it).

Kernels are compiled without the interpreter lock, so that `partita._threads` can run blocks of
them side by side, and kept on disk, so that a user waits for the compiler once. `fastmath` stays
off: sums keep their written order, and results do not depend on the vector width.
"""

from __future__ import annotations

import pickle
import zlib

import numba
from numba.core.caching import IndexDataCacheFile

__all__ = ["jit"]


class _SharedCacheFile(IndexDataCacheFile):
    """Compiled code on disk that several processes may write at once.

    numba numbers the files of a function as they come: two processes that compile it for different
    types at the same time would write one file, and one of them would later run the other's code.
    Here a file is named after what is in it, and is there before the index mentions it.
    """

    def save(self, key, data):
        name = self._data_name(zlib.crc32(pickle.dumps(key)))
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)


def jit(function=None, *, inside=False):
    """Compile a kernel when it is first called.

    With `inside` it becomes part of the kernels that call it: handing over an array costs as much
    as seven numbers, which counts in what is called for every row.
    """
    if function is None:
        return lambda function: jit(function, inside=inside)
    kernel = numba.njit(nogil=True, cache=True, forceinline=inside)(function)
    cache = getattr(kernel, "_cache", None)  # none where the compiler is switched off
    if cache is not None:
        cache._cache_file.__class__ = _SharedCacheFile
    return kernel
