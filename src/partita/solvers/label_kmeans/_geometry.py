"""`Geometry`: the cost that one variant of label k-means minimizes."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from partita.scale import Chunk
from partita.solvers.label_kmeans._tables import Tables

__all__ = ["Geometry", "RowTerms", "row_terms_of"]


class RowTerms(NamedTuple):
    """Terms of a row's cost that do not depend on the group, arrays of shape (n_rows,).

    constant, scale : as in `Tables`
    mass : what a row of weight 1 adds to the mass of its group
    n_labeled : number of partitions that label the row
    """

    constant: NDArray[np.float64]
    scale: NDArray[np.float64]
    mass: NDArray[np.float64]
    n_labeled: NDArray[np.int32]


class Geometry(Protocol):
    """Cost of a row in a group, and the centers of groups.

    A group is described by its counts (its weight in every base cluster) and its masses (the mass
    of its rows that each partition labels). Arrays of counts have shape (L, K), those of masses
    (m, K).

    `work` is about how many elementary operations the whole fit needs (see `kmeans_work`). It
    decides once whether kernels run in NumPy or compiled.
    """

    work: float

    def row_terms(self, labels: NDArray[Any]) -> RowTerms:
        """Return the terms of the cost that depend on the rows alone."""

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mass of each row alone."""

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        """Return the look-up tables of groups with these counts and masses."""

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        """Return Σ_x r(x) f(x, own group), computed from the statistics and their tables."""

    def inner_products(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the inner products of points that represent the groups, shape (K, K).

        The increase of the objective when two groups are merged equals (or approximates) that of
        Ward's criterion for these points and masses, up to a common factor.
        """


def row_terms_of(geometry: Geometry, chunk: Chunk) -> RowTerms:
    """Return the row terms of a chunk; compute them only if the chunk does not have them yet."""
    if geometry not in chunk.constants:
        chunk.constants[geometry] = geometry.row_terms(chunk.codes)
    return RowTerms(*chunk.constants[geometry])
