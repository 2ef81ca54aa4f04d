"""The one door to numba.

Kernels are compiled without the interpreter lock, so that `partita._threads` can run blocks of
them side by side, and kept on disk, so that a user waits for the compiler once. `fastmath` stays
off: sums keep their written order, and results do not depend on the vector width.
"""

from __future__ import annotations

import numba

jit = numba.njit(nogil=True, cache=True)

__all__ = ["jit"]
