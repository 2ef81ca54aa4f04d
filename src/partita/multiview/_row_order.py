"""Order samples by their features, so that results do not depend on the order of the rows."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.multiview._views import Views

__all__ = ["order_samples", "reorder"]

_BLOCK = 1024  # rows of a dense view that are made sparse at a time


def order_samples(views: Views) -> NDArray[np.int64]:
    """Return an order of the samples that depends on their features alone.

    It is the order of a hash of the entries that are not zero. Random numbers are drawn in this
    order, so that a permutation of the samples permutes the labels and changes nothing else. Dense
    and sparse views have the same order.
    """
    hashes = [blake2b(digest_size=16) for _ in range(views.n_samples)]
    for v, matrix in enumerate(views.matrices):
        samples = np.flatnonzero(views.present[:, v]).tolist()
        for sample, row in zip(samples, _rows(matrix), strict=True):
            hashes[sample].update(b"%d" % v)  # a row of zeros is not a missing one
            hashes[sample].update(row)
    digests = np.array([value.digest() for value in hashes], dtype="S16")
    return np.argsort(digests, kind="stable")


def _rows(matrix: Any) -> Any:
    """Yield the indices and values of the entries of every row as bytes."""
    for start in range(0, matrix.shape[0], _BLOCK):
        block = sp.csr_array(matrix[start : start + _BLOCK]).astype(np.float64)
        block.sum_duplicates()
        block.eliminate_zeros()
        indices = block.indices.astype(np.int64)
        for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
            yield indices[first:last].tobytes() + block.data[first:last].tobytes()


def reorder(views: Views, order: NDArray[np.int64]) -> Views:
    """Return the views with their samples in another order."""
    matrices = []
    for v, matrix in enumerate(views.matrices):
        row_of = np.cumsum(views.present[:, v]) - 1
        samples = order[views.present[order, v]]
        matrices.append(matrix[row_of[samples]])
    ids = None if views.sample_ids is None else views.sample_ids[order]
    return replace(views, matrices=tuple(matrices), present=views.present[order], sample_ids=ids)
