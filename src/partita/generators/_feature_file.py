"""Features in files, of which only the rows asked for are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from partita.io.npy import NpyRows

__all__ = ["FeatureFile"]

_SAMPLED_ROWS = 64


@dataclass(frozen=True)
class FeatureFile:
    """Rows of features in one `.npy` file, or in several that follow each other."""

    parts: tuple[NpyRows, ...]

    @classmethod
    def of(cls, features: Any) -> FeatureFile:
        """From a path, a memory-mapped array, or a list of them."""
        if isinstance(features, FeatureFile):
            return features
        single = isinstance(features, str | Path | np.memmap)
        given = [features] if single else features
        if not isinstance(given, Sequence) or not all(
            isinstance(part, str | Path | np.memmap) for part in given
        ):
            raise TypeError(
                "features must be the path of a .npy file, an array mapped from one with "
                f"np.load(path, mmap_mode='r'), or a list of them, got {type(features).__name__}. "
                "Features in memory go to `RandomRows`, or to a file by np.save."
            )
        parts = tuple(NpyRows.of(part) for part in given)
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
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the rows as `take` gives them: single precision unless the files hold more."""
        kinds = [part.dtype for part in self.parts]
        return np.result_type(np.float32, *(k for k in kinds if k.kind == "f" and k.itemsize > 4))

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows, whose numbers ascend, as floating-point numbers."""
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        first = 0
        for part in self.parts:
            low, high = np.searchsorted(rows, [first, first + part.shape[0]])
            if low < high:
                taken[low:high] = part.take(rows[low:high] - first)
            first += part.shape[0]
        return taken

    def fingerprint(self) -> int:
        """A checksum of some rows: other features of the same shape are told apart."""
        n = self.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLED_ROWS)).astype(np.int64))
        return crc32(self.take(rows).tobytes())
