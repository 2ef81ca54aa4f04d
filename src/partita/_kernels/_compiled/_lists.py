"""List of the labels of a row, for compiled kernels that read a row with missing labels."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

__all__ = ["PADDING", "list_clusters"]

PADDING = 1  # an entry is written before it counts, so that lists are longer by this number


@jit(inline=True, allocates=False)
def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    """Fill `clusters` and `partitions` with those of the labels of row x; return their number.

    Only partitions first..last are listed. codes : unsigned (n, m), missing_code : of the same
    type, offsets : int32, clusters, partitions : uint32 of length m + PADDING. Unsigned: numba does
    not test whether such indices are negative. `first` must not be a literal, for which numba would
    compile this function again.

    The first loop has no branch, which would be mispredicted where labels are missing at random.
    """
    row, n = codes[x], np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        partitions[n] = i
        n += np.uint64(row[i] != missing_code)
    for a in range(n):
        labeled = partitions[a]
        clusters[a] = offsets[labeled] + row[labeled]
    return np.int64(n)
