"""What all displays have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

from partita.plotting._style import save_figure

__all__ = ["Display"]


class Display(ABC):
    """Computed once, drawn where you like.

    The constructor takes what is drawn as plain arrays, class methods named `from_...` compute it,
    and `plot` draws into given axes or a figure of its own, never through pyplot.

    Attributes
    ----------
    ax_, figure_ : matplotlib's Axes and Figure, once drawn
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given."""

    def save(self, path: str | Path, *, dpi: int = 130) -> Path:
        """Write the picture (.png, .svg, .pdf), drawing it first if that was not done."""
        if not hasattr(self, "figure_"):
            self.plot()
        return save_figure(self.figure_, path, dpi)
