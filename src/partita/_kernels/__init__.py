"""Kernels: the functions on arrays in which the library spends its time.

Every kernel has two forms with the same arguments and the same result, to the last bit:

- its definition in NumPy, in `partita._kernels.<topic>`, which states what it computes;
- its compiled form of the same name in `partita._kernels._compiled.<topic>`, for numba.

`_kernels.rows.distinct.at(work)` returns the form for work of a size: small work is done by NumPy
and imports no compiler. Kernels take and return plain arrays.

Conventions
-----------
Arguments that a kernel only reads come first. Then come the bounds of the part that it works on:
`start, stop` count rows, `first, last` anything else. Arguments that it writes come last, and the
first line of the docstring names them: "Fill `x`" overwrites x, "Add ... to `x`" adds to it,
"Update `x` in place" reads it too. "Return ..." alone means that no argument is written.

Arguments that belong together are a record: a NamedTuple or a tuple. A compiled kernel unpacks a
record once and passes plain arrays to the functions that it calls for every row: to read an array
from a record counts references, which takes longer than a look-up.

Sums of numbers that are not integers run in a stated order, so that both forms round alike: with
`np.add.at`, `np.bincount`, `np.cumsum` or a loop over whole vectors. `np.sum`, `@` and `np.einsum`
add in an order of their own and serve for integers, whose sums are exact.

Names: `codes` is a table of shape (n, m) of unsigned integers, `columns` is its transpose.
`missing_code` has the type of the codes. Base clusters are numbered over all partitions: cluster
`code` of partition i has the number `offsets[i] + code`. Groups are the clusters of a consensus.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

_MODULES = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
