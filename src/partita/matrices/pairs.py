"""The pairs of rows that at least one partition joins: the non-zero pattern of co-association."""

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

BLOCK = 256  # rows per unit of work: below, a thread costs more than it saves


@dataclass(frozen=True)
class JoinedPairs:
    """Row a's partners b > a are `partner[start_of[a]:start_of[a + 1]]`, ascending."""

    start_of: NDArray[np.int64]
    partner: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.start_of) - 1

    def __len__(self) -> int:
        return len(self.partner)

    @property
    def pattern(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """As the kernels take it."""
        return self.start_of, self.partner

    def upper(self, values: NDArray[np.float64]) -> sp.csr_matrix:
        """One value per pair, as the upper triangle of a sparse matrix that shares its memory."""
        shape = (self.n_rows, self.n_rows)
        return sp.csr_matrix((values, self.partner, self.start_of), shape=shape)

    def total(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        """Σ r_a r_b value over ordered pairs: both triangles of the full matrix."""
        return 2.0 * float(weights @ (self.upper(values) @ weights))

    def dense(
        self, values: NDArray[np.float64], *, diagonal: float, elsewhere: float
    ) -> NDArray[np.float64]:
        """The symmetric full matrix."""
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
    """List the pairs of rows with co-association above 0; 4 bytes each, O(n'² m) comparisons."""
    labels, missing, n = ensemble.codes, ensemble.missing_code, ensemble.n_rows
    kernel = _kernels.pairs
    count = np.zeros(n, np.int64)
    run_blocks(lambda a, b: kernel.count_partners(labels, missing, a, b, count), n, BLOCK)
    start_of = np.concatenate([[0], np.cumsum(count)])
    partner = np.empty(int(start_of[-1]), np.int32)
    run_blocks(
        lambda a, b: kernel.list_partners(labels, missing, start_of, a, b, partner), n, BLOCK
    )
    return JoinedPairs(start_of, partner)
