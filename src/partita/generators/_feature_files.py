"""Read single rows of features from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from partita.io.npy import NpyRows

__all__ = ["FeatureFiles"]

_SAMPLED_ROWS = 64


@dataclass(frozen=True)
class FeatureFiles:
    """Rows of features in one `.npy` file, or in several in a given order.

    Attributes
    ----------
    parts : tuple of NpyRows
        The files.
    """

    parts: tuple[NpyRows, ...]

    @classmethod
    def of(cls, features: Any) -> FeatureFiles:
        """Open a path, a memory-mapped array, or a list of them."""
        if isinstance(features, FeatureFiles):
            return features
        is_single = isinstance(features, str | Path | np.memmap)
        sources = [features] if is_single else features
        if not isinstance(sources, Sequence) or not all(
            isinstance(source, str | Path | np.memmap) for source in sources
        ):
            raise TypeError(
                "features must be the path of a .npy file, an array mapped from one with "
                f"np.load(path, mmap_mode='r'), or a list of them, got {type(features).__name__}. "
                "For features in memory use `RandomRows`, or write them to a file with np.save."
            )
        parts = tuple(NpyRows.of(source) for source in sources)
        widths = {part.shape[1] for part in parts}
        if len(widths) != 1:
            raise ValueError(
                f"Expected files with the same number of columns, got {sorted(widths)}."
            )
        for part in parts:
            if part.dtype.kind not in "fiub":
                raise ValueError(f"{str(part.path)!r} holds {part.dtype}, expected numbers.")
        return cls(parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows of all files and number of features."""
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows that `take` returns: single precision unless a file has more."""
        kinds = [part.dtype for part in self.parts]
        return np.result_type(np.float32, *(k for k in kinds if k.kind == "f" and k.itemsize > 4))

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows, by ascending indices, as floating-point numbers."""
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        first = 0
        for part in self.parts:
            low, high = np.searchsorted(rows, [first, first + part.shape[0]])
            if low < high:
                taken[low:high] = part.take(rows[low:high] - first)
            first += part.shape[0]
        return taken

    def fingerprint(self) -> int:
        """Return a checksum of some rows, to recognize other features of the same shape."""
        n = self.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLED_ROWS)).astype(np.int64))
        return crc32(self.take(rows).tobytes())
