"""`ConvergenceDisplay`: values that an iterative method recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from partita.plotting._display import Display
from partita.plotting.style import (
    INK,
    LINES,
    MUTED,
    plain_text,
    quiet_axes,
)

__all__ = ["ConvergenceDisplay"]

_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (1, 1)), (0, (6, 1)))
_LOG_DECADES = 2.0  # range of positive values from which the axis is logarithmic


class ConvergenceDisplay(Display):
    """The `history_` of a method over its iterations.

    Most methods record the objective, some the residuals of their stopping rule; their docstrings
    say which. Positive values that span more than two decades are drawn on a logarithmic axis.
    Lines differ in dash and in color.

    Parameters
    ----------
    history : array of shape (n_iter,) or (n_iter, n_lines)
        The recorded values.
    names : sequence of str, optional
        Names of the lines. By default lines have no names.
    title : str, optional
        Title of the figure. By default "Convergence".

    Examples
    --------
    >>> from partita import SEC
    >>> from partita.plotting import ConvergenceDisplay
    >>> from partita.datasets import make_partitions
    >>> model = SEC(n_clusters=3, random_state=0).fit(make_partitions(60, 8, 3)[0])
    >>> ConvergenceDisplay.from_estimator(model).title
    'SEC, converged'
    """

    def __init__(
        self, history: ArrayLike, names: Sequence[str] | None = None, title: str | None = None
    ) -> None:
        values = np.asarray(history, np.float64)
        if values.ndim not in (1, 2) or len(values) == 0:
            raise ValueError(
                "history must have shape (n_iter,) or (n_iter, n_lines) with at least one "
                f"iteration, got {values.shape}."
            )
        self.history = values.reshape(len(values), -1)
        lines = self.history.shape[1]
        self.names = None if names is None else list(names)
        if self.names is not None and len(self.names) != lines:
            raise ValueError(f"names must have one entry per line, {lines}, got {len(self.names)}.")
        self.title = title

    @classmethod
    def from_estimator(cls, method: Any, *, names: Sequence[str] | None = None) -> Self:
        """Use the `history_` of a fitted method.

        Parameters
        ----------
        method : fitted estimator with `history_`
            The consensus method.
        names : sequence of str, optional
            Names of the lines. By default lines have no names.
        """
        check_is_fitted(method, "labels_")
        name = type(method).__name__
        if not hasattr(method, "history_"):
            raise ValueError(f"{name} has no history_: it does not iterate.")
        end = "converged" if method.converged_ else f"stopped after {method.n_iter_}"
        return cls(method.history_, names, f"{name}, {end}")

    def plot(self, ax: Any = None) -> Self:
        """Draw the lines; see `Display.plot`."""
        if ax is None:
            ax = self._new_figure(5.6, 3.2).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        n, lines = self.history.shape
        finite = np.where(np.isfinite(self.history), self.history, np.nan)
        for j in range(lines):
            ax.plot(
                np.arange(1, n + 1),
                finite[:, j],
                color=LINES[j % len(LINES)],
                ls=_DASHES[j % len(_DASHES)],
                marker="o" if n <= 40 else None,
                ms=4,
                lw=1.8,
                label=plain_text(self.names[j] if self.names else f"{j}"),
            )
        values = finite[np.isfinite(finite)]
        if (
            len(values)
            and values.min() > 0
            and np.log10(values.max() / values.min()) > _LOG_DECADES
        ):
            ax.set_yscale("log")
            ax.minorticks_off()
        if self.names or lines > 1:
            ax.legend(frameon=False, fontsize=8, labelcolor=INK)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("iteration", fontsize=8, color=MUTED)
        ax.set_ylabel("recorded in history_", fontsize=8, color=MUTED)
        title = "Convergence" if self.title is None else plain_text(self.title)
        ax.set_title(title, loc="left", fontsize=11, color=INK)
        quiet_axes(ax, grid="y")
        ax.yaxis.get_offset_text().set(color=MUTED, fontsize=8)
        return self
