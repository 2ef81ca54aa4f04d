"""Inner products of random walks on a sparse graph, by products with its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.matrices._late_steps import late_steps

__all__ = ["SparseWalks"]

_COLUMNS = 64  # columns per block


class SparseWalks:
    """Walks of 1 to T steps on a sparse weighted graph without isolated nodes.

    A walk steps from a to b with probability P_ab ∝ S_ab r_b. With d = S r, the squares a² = d r
    and the symmetric M = D^-½ R^½ S R^½ D^-½, the inner products of the trajectories are, but for
    a factor per node, which cancels in a cosine,

        H = Σ_t Mᵗ diag(a²) Mᵗ.

    Some columns of H need two products of M with as many columns for each step. Late steps need
    none if few eigenvectors describe them. They are used only if all walks meet: otherwise no entry
    is the difference of two numbers, and walks that never meet have an exact 0.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), symmetric, non-negative
        Edges S; every row has one.
    weights : array of shape (n,)
        Weights r of the nodes.
    n_steps : int
        Largest number of steps T.
    """

    def __init__(self, graph: Any, weights: NDArray[np.float64], n_steps: int) -> None:
        degree = np.asarray(graph @ weights).ravel()
        scale = np.sqrt(weights / degree)
        self.steps = sp.csr_matrix(graph, copy=True)  # M
        self.steps.data *= np.repeat(scale, np.diff(self.steps.indptr)) * scale[self.steps.indices]
        self.squares = (degree * weights)[:, None]
        self.n = len(weights)
        self.late = late_steps(self.steps, self.squares[:, 0], n_steps)
        # Most often all columns are needed, each with a product per step and direction.
        work = 2.0 * self.late.n_early * self.n * self.steps.nnz
        self._multiply = _kernels.sparse_products.multiply.at(work)

    @property
    def n_early(self) -> int:
        """Number of steps that need products of M with every column, in two directions."""
        return self.late.n_early

    def similarity(self) -> NDArray[np.float64]:
        """Return the cosines of all trajectories, shape (n, n), exactly symmetric."""
        result = np.empty((self.n, self.n))

        def fill(start: int, stop: int) -> None:
            below = self._products(self._walks(start, stop), first=start)
            result[start:stop, start:] = below.T
            result[start:stop, start:] += self.late.left[start:stop] @ self.late.right[start:].T

        run_blocks(fill, self.n, _COLUMNS)
        inverse = 1.0 / np.sqrt(np.diag(result))

        def mirror(start: int, stop: int) -> None:
            for first in range(start, self.n, _COLUMNS):
                # Both triangles get the same numbers: agglomeration requires exact symmetry.
                part = result[start:stop, first : first + _COLUMNS]
                part *= inverse[start:stop, None] * inverse[first : first + _COLUMNS]
                if first == start:
                    part[:] = np.triu(part) + np.triu(part, 1).T
                else:
                    result[first : first + _COLUMNS, start:stop] = part.T

        run_blocks(mirror, self.n, _COLUMNS)
        return result

    def similarity_sums(self, groups: Any) -> NDArray[np.float64]:
        """Return the cosines times a sparse matrix of shape (n, p), without the cosines."""
        length = np.sqrt(self._diagonal())
        scaled = sp.csc_matrix(sp.diags(1.0 / length) @ groups)
        result = np.empty((self.n, scaled.shape[1]))

        def fill(start: int, stop: int) -> None:
            walks = [self._step(scaled[:, start:stop].toarray(order="C"))]
            sums = self._products(self._extend(walks)) + self.late.times(scaled[:, start:stop])
            result[:, start:stop] = sums / length[:, None]

        run_blocks(fill, scaled.shape[1], _COLUMNS)
        return result

    def _diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal of H: Σ_t Σ_i a_i² (Mᵗ)²_ij."""
        result = np.empty(self.n)

        def fill(start: int, stop: int) -> None:
            walk = self.steps[start:stop].toarray().T.copy()
            total = (self.squares * walk**2).sum(axis=0)
            for _ in range(self.late.n_early - 1):
                walk = self._step(walk)
                total += self.squares[:, 0] @ np.square(walk)
            result[start:stop] = total

        run_blocks(fill, self.n, _COLUMNS)
        return result + self.late.diagonal()

    def _walks(self, start: int, stop: int) -> list[NDArray[np.float64]]:
        """Return some columns of M, M², ... for the early steps."""
        return self._extend([np.ascontiguousarray(self.steps[start:stop].toarray().T)])

    def _extend(self, walks: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        while len(walks) < self.late.n_early:
            walks.append(self._step(walks[-1]))
        return walks

    def _products(self, walks: list[NDArray[np.float64]], *, first: int = 0) -> NDArray[np.float64]:
        """Return the rows from `first` of Σ_t Mᵗ diag(a²) W_t by Horner's rule; empty `walks`."""
        total = self.squares * walks.pop()
        while walks:
            total = self._step(total)
            total += self.squares * walks.pop()
        return self._step(total, first)

    def _step(self, columns: NDArray[np.float64], first: int = 0) -> NDArray[np.float64]:
        """Return the rows from `first` of M times some columns."""
        M, out = self.steps, np.empty((self.n - first, columns.shape[1]))
        self._multiply(M.indptr, M.indices, M.data, columns, first, self.n, out)
        return out
