"""Errors of several views of one shared matrix, with their multipliers.

A view is a matrix S_v = Z + E_v over weighted rows. A row of weight r stands for r equal samples,
and all sums run over samples. Entries that a view does not have are NaN; errors are free there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["ERROR_NORMS", "ViewErrors", "largest_row_sum"]

Matrix = NDArray[np.float64]

ERROR_NORMS = ("l1", "l21")


class ViewErrors:
    """E_v with the penalty lam Σ_v g(E_v) and the constraints S_v = Z + E_v.

    With C = S_v - Z - Y_v/mu, the best E_v is C shrunk by lam/mu, and the next multiplier is
    Y_v = -clip(mu C): entries (or lengths of columns) of mu C above lam become lam. As E_v follows
    from Y_v, one array per view is all that is stored.

    Parameters
    ----------
    views : sequence of arrays of shape (n, n)
        S_v. A view is read once per update, and may be computed when it is read.
    weights : array of shape (n,)
        Weights r of the rows.
    lam : float
        Weight of the errors.
    norm : {"l1", "l21"}
        g: sum of absolute entries, or sum of the lengths of columns.
    measure : callable
        Size of a matrix of residuals.

    Attributes
    ----------
    n_views : int
        Number of views.
    """

    def __init__(
        self,
        views: Sequence[Matrix],
        weights: NDArray[np.float64],
        lam: float,
        norm: str,
        measure: Callable[[Matrix], float],
    ) -> None:
        self.views, self.weights, self.lam, self.norm = views, weights, lam, norm
        self.n_views = len(views)
        self._measure = measure
        n = len(weights)
        self._multipliers = [np.zeros((n, n)) for _ in range(self.n_views)]

    def mean_view(self) -> Matrix:
        """Return the mean of the views that have an entry, 0 where none has."""
        total, count = np.zeros((len(self.weights),) * 2), np.zeros((len(self.weights),) * 2)
        for view in self.views:
            is_known = ~np.isnan(view)
            np.add(total, view, out=total, where=is_known)
            count += is_known
        total /= np.maximum(count, 1.0, out=count)
        return total

    def update(self, Z: Matrix, mu: float, next_mu: float) -> tuple[Matrix, float]:
        """Update all errors and multipliers.

        Parameters
        ----------
        Z : array of shape (n, n)
            The shared matrix.
        mu : float
            Penalty of this iteration.
        next_mu : float
            Penalty of the next one.

        Returns
        -------
        pull : array of shape (n, n)
            Σ_v (S_v - E_v - Y_v/next_mu - Z). A view pulls at none of the entries it lacks.
        residual : float
            Largest size of S_v - Z - E_v.
        """
        pull, buffer = np.zeros_like(Z), np.empty_like(Z)
        residual = 0.0
        for v, Y in enumerate(self._multipliers):
            np.subtract(self.views[v], Z, out=buffer)
            buffer *= mu
            buffer -= Y
            self._clip(buffer)  # minus the next multiplier
            Y /= mu
            pull += Y
            Y += buffer / mu  # S_v - Z - E_v
            residual = max(residual, self._measure(Y))
            np.negative(buffer, out=Y)
            buffer *= 1.0 / mu + 1.0 / next_mu
            pull += buffer
        return pull, residual

    def penalties(self, Z: Matrix) -> NDArray[np.float64]:
        """Return g(S_v - Z) of every view, without the entries it lacks."""
        sums = np.empty(self.n_views)
        for v, view in enumerate(self.views):
            error = view - Z
            error[np.isnan(error)] = 0.0
            if self.norm == "l1":
                sums[v] = self.weights @ np.abs(error, out=error) @ self.weights
            else:
                sums[v] = self._lengths(error) @ self.weights
        return sums

    def _clip(self, matrix: Matrix) -> None:
        matrix[np.isnan(matrix)] = 0.0  # where errors are free, the multiplier is 0
        if self.norm == "l1":
            np.clip(matrix, -self.lam, self.lam, out=matrix)
        else:
            length = self._lengths(matrix)
            matrix *= self.lam / np.maximum(length, self.lam)

    def _lengths(self, matrix: Matrix) -> NDArray[np.float64]:
        """Return the lengths of columns over samples."""
        return np.sqrt(np.einsum("ab,ab,a->b", matrix, matrix, self.weights))


def largest_row_sum(matrix: Matrix, weights: NDArray[np.float64]) -> float:
    """Return the largest sum of absolute entries of a row over samples, ‖M‖_∞."""
    return float((np.abs(matrix) @ weights).max())
