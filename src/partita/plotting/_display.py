"""Base class of all displays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from partita.plotting.style import save_figure

__all__ = ["Display"]

_NOTEBOOK_DPI = 100


class Display(ABC):
    """A figure that is computed once and drawn into any axes.

    The constructor takes the values to draw as arrays. The class methods `from_...` compute them.
    `plot` draws into the axes that are passed or into a new figure, without pyplot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes, after `plot`.
    figure_ : matplotlib Figure
        The figure, after `plot`.
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into. By default those of a new figure.

        Returns
        -------
        The display itself.
        """

    def save(self, path: str | Path, *, dpi: int = 130) -> Path:
        """Write the figure to a file, and draw it first if necessary.

        Parameters
        ----------
        path : str or Path
            File whose suffix is the format: .png, .svg or .pdf.
        dpi : int, default=130
            Resolution of a .png file, in dots per inch.
        """
        if not hasattr(self, "figure_"):
            self.plot()
        return save_figure(self.figure_, path, dpi)

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        if not hasattr(self, "figure_"):
            self.plot()
        buffer = BytesIO()
        self.figure_.savefig(buffer, format="png", dpi=_NOTEBOOK_DPI)
        return buffer.getvalue()
