"""Pairs of rows that at least one partition joins: the non-zero entries of co-association."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble

__all__ = ["BLOCK", "JoinedPairs", "joined_pairs"]

BLOCK = 256  # rows per block; with fewer, starting a thread costs more than it saves


@dataclass(frozen=True)
class JoinedPairs:
    """Pairs of rows a < b.

    Attributes
    ----------
    start_of : array of shape (n_rows + 1,)
        The partners of row a are `partner[start_of[a]:start_of[a + 1]]`, ascending.
    partner : array of shape (n_pairs,)
        Row b of every pair.
    """

    start_of: NDArray[np.int64]
    partner: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.start_of) - 1

    def __len__(self) -> int:
        return len(self.partner)

    @property
    def pattern(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Arguments of the kernels."""
        return self.start_of, self.partner

    def upper(self, values: NDArray[np.float64]) -> sp.csr_matrix:
        """Return one value per pair as a sparse upper triangle, which shares the memory."""
        shape = (self.n_rows, self.n_rows)
        return sp.csr_matrix((values, self.partner, self.start_of), shape=shape)

    def total(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        """Return Σ r_a r_b value over ordered pairs, that is, over both triangles."""
        return 2.0 * float(weights @ (self.upper(values) @ weights))

    def dense(
        self, values: NDArray[np.float64], *, diagonal: float, elsewhere: float
    ) -> NDArray[np.float64]:
        """Return the symmetric full matrix, with `elsewhere` for all other pairs."""
        n = self.n_rows
        require_memory(8 * n * n, f"The {n} x {n} matrix")
        matrix = np.full((n, n), elsewhere)
        for a in range(n):
            pairs = slice(self.start_of[a], self.start_of[a + 1])
            matrix[a, self.partner[pairs]] = values[pairs]
            matrix[self.partner[pairs], a] = values[pairs]
        np.fill_diagonal(matrix, diagonal)
        return matrix


def joined_pairs(ensemble: Ensemble) -> JoinedPairs:
    """Return the pairs of rows with co-association above 0.

    Cost O(n'² m) comparisons and 4 bytes per pair.
    """
    codes, n = ensemble.codes, ensemble.n_rows
    code, work = codes.dtype.type(ensemble.missing_code), 2 * n * codes.size
    count_partners = _kernels.pairs.count_partners.at(work)
    list_partners = _kernels.pairs.list_partners.at(work)
    count = np.zeros(n, np.int64)
    run_blocks(lambda a, b: count_partners(codes, code, a, b, count), n, BLOCK)
    start_of = np.concatenate([[0], np.cumsum(count)])
    partner = np.empty(int(start_of[-1]), np.int32)
    run_blocks(lambda a, b: list_partners(codes, code, start_of, a, b, partner), n, BLOCK)
    return JoinedPairs(start_of, partner)
