"""Records: arguments of kernels that belong together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodeTable", "Moves"]


class CodeTable(NamedTuple):
    """A table of codes with what is needed to read it.

    codes : unsigned (n, m), missing_code : of the same type, offsets : int32 (m + 1,)
    """

    codes: NDArray[Any]
    missing_code: Any
    offsets: NDArray[np.int32]

    @classmethod
    def of(cls, codes: NDArray[Any], missing_code: int, offsets: NDArray[np.int64]) -> CodeTable:
        """Convert code and offsets to the types that kernels are compiled for.

        The codes are a view that cannot be written: numba would compile for both kinds.
        """
        view = codes.view()
        view.flags.writeable = False
        return cls(view, codes.dtype.type(missing_code), offsets.astype(np.int32))


class Moves(NamedTuple):
    """Rows whose group changed, and the old and new groups of all rows; negative is no group."""

    rows: NDArray[np.int64]
    old: NDArray[np.int32]
    new: NDArray[np.int32]
