"""Read single rows of features from files, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.io.csr import CsrRows
from partita.io.npy import NpyRows

__all__ = ["FeatureFiles"]

_SAMPLED_ROWS = 64


@dataclass(frozen=True)
class FeatureFiles:
    """Rows of features in one file, or in several in a given order.

    A `.npy` file has a dense matrix, a `.npz` file a sparse one (`CsrRows`).

    Attributes
    ----------
    parts : tuple of NpyRows or CsrRows
        The files, all of the same kind.
    """

    parts: tuple[NpyRows | CsrRows, ...]

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
                "np.load(path, mmap_mode='r'), the path of a .npz file of a sparse matrix, or a "
                f"list of them, got {type(features).__name__}. For features in memory use "
                "`RandomRows`, or write them to a file with np.save or "
                "scipy.sparse.save_npz(path, X, compressed=False)."
            )
        parts = tuple(
            CsrRows.of(source) if _is_sparse(source) else NpyRows.of(source) for source in sources
        )
        if len({type(part) for part in parts}) != 1:
            raise ValueError("Expected files that are all dense (.npy) or all sparse (.npz).")
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
    def is_sparse(self) -> bool:
        """Whether `take` returns a CSR matrix."""
        return isinstance(self.parts[0], CsrRows)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows of all files and number of features."""
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows that `take` returns: single precision unless a file has more."""
        kinds = [part.dtype for part in self.parts]
        return np.result_type(np.float32, *(k for k in kinds if k.kind == "f" and k.itemsize > 4))

    @property
    def row_bytes(self) -> int:
        """Bytes that a row takes in memory; for sparse files the mean of the largest file."""
        sizes = [part.row_bytes for part in self.parts if isinstance(part, CsrRows)]
        return max(sizes, default=self.shape[1] * self.dtype.itemsize)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """Return some rows, by ascending indices, as floating-point numbers."""
        taken: Any = None if self.is_sparse else np.empty((len(rows), self.shape[1]), self.dtype)
        pieces = []
        first = 0
        for part in self.parts:
            low, high = np.searchsorted(rows, [first, first + part.shape[0]])
            if low < high:
                values = part.take(rows[low:high] - first)
                if self.is_sparse:
                    pieces.append(values.astype(self.dtype))
                else:
                    taken[low:high] = values
            first += part.shape[0]
        if not self.is_sparse:
            return taken
        return pieces[0] if len(pieces) == 1 else sp.vstack(pieces, format="csr")

    def fingerprint(self) -> int:
        """Return a checksum of some rows, to recognize other features of the same shape."""
        n = self.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLED_ROWS)).astype(np.int64))
        sample = self.take(rows)
        if not self.is_sparse:
            return crc32(sample.tobytes())
        vectors = (sample.indptr.astype(np.int64), sample.indices.astype(np.int64), sample.data)
        return crc32(b"".join(vector.tobytes() for vector in vectors))


def _is_sparse(source: str | Path | np.memmap[Any, Any]) -> bool:
    return not isinstance(source, np.memmap) and Path(source).suffix == ".npz"
