"""Base class of all displays."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from partita.plotting.style import MUTED, new_figure, save_figure

__all__ = ["Display"]

_NOTEBOOK_DPI = 100
_CHARACTER = 0.066  # mean width of a character of a caption, in inches
_BELOW_IMAGE = 0.4  # height of a caption and a color bar, less the width of names, in inches
_NARROW = 5.0  # inches; a color bar does not fit beside a narrower image


class Display(ABC):
    """A figure that is computed once and drawn into any axes.

    The constructor takes the values to draw as arrays. The class methods `from_...` compute them.
    `plot` draws into the axes that are passed or into a new figure, without pyplot.

    Attributes
    ----------
    width : float or None, default=None
        Width of a new figure in inches, to be set before `plot`, for example 3.5 for a column of a
        paper. Text keeps its size. None means the width of the display.
    ax_ : matplotlib Axes
        The axes, after `plot`.
    figure_ : matplotlib Figure
        The figure, after `plot`.
    """

    width: float | None = None
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

    def _new_figure(self, width: float, height: float, *, square: bool = False) -> Any:
        """Return a figure of `self.width`; the height follows it if the content is square."""
        if self.width is None:
            return new_figure(width, height)
        # of a narrow figure, the caption and the color bar below an image need space
        scaled = max(height * self.width / width, self.width + _BELOW_IMAGE)
        return new_figure(self.width, scaled if square else height)

    @property
    def _figure_size(self) -> tuple[float, float]:
        """Width and height in inches of the figure, or of the part of it that has the axes."""
        box = self.figure_.bbox
        return float(box.width / self.figure_.dpi), float(box.height / self.figure_.dpi)

    def _wrap(self, text: str) -> str:
        """Break the lines of a caption that are wider than the figure."""
        n = max(int(0.9 * self._figure_size[0] / _CHARACTER), 20)
        lines = (textwrap.wrap(line, n) for line in text.splitlines())
        return "\n".join(part for line in lines for part in line)

    def _add_color_bar(self, image: Any, label: str, *, shrink: float, pad: float) -> Any:
        """Draw a color bar beside an image, below it in a narrow figure."""
        is_narrow = self._figure_size[0] < _NARROW
        place = {"location": "bottom" if is_narrow else "right", "shrink": shrink, "pad": pad}
        bar = self.figure_.colorbar(image, ax=self.ax_, aspect=24, **place)
        bar.set_label(label, fontsize=8, color=MUTED)
        bar.ax.tick_params(labelsize=8, labelcolor=MUTED, length=2, color=MUTED)
        bar.outline.set_visible(False)
        return bar

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
