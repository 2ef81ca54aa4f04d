"""`ScoresDisplay`: consensus methods beside the base partitions they were made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.ensemble import as_ensemble
from partita.metrics import adjusted_rand
from partita.plotting._display import Display
from partita.plotting._names import named_clusters
from partita.plotting._style import ACCENT, INK, MUTED, QUIET, new_figure, plain_text

__all__ = ["ScoresDisplay"]


class ScoresDisplay(Display):
    """One score of several methods above the spread of the base partitions.

    Parameters
    ----------
    base : array of shape (n_partitions,)
        Score of every base partition.
    methods : mapping of str to float
        Score of every consensus.
    label : str
        What the score is.

    Attributes
    ----------
    ax_, figure_ : matplotlib's Axes and Figure

    Examples
    --------
    >>> from partita.plotting import ScoresDisplay
    >>> display = ScoresDisplay([0.4, 0.5, 0.45], {"EAC": 0.6, "LWGP": 0.7}, "ARI")
    >>> list(display.methods)
    ['LWGP', 'EAC']
    """

    def __init__(self, base: ArrayLike, methods: Mapping[str, float], label: str) -> None:
        self.base = np.asarray(base, np.float64)
        best_first = sorted(methods, key=lambda name: -methods[name])
        self.methods = {name: float(methods[name]) for name in best_first}
        self.label = label

    @classmethod
    def from_partitions(cls, X: Any, labels: Any, y: Any, *, name: str = "consensus") -> Self:
        """Adjusted Rand index of the base partitions and of one consensus with known classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), data frame, list, or Ensemble
        labels : array-like of shape (n_samples,)
            The consensus. It and every partition are scored over the samples that they label.
        y : array-like of shape (n_samples,)
        name : str
            Of the consensus.
        """
        ensemble, classes = as_ensemble(X), np.asarray(y)
        found = named_clusters(labels)[0]
        base = [
            adjusted_rand(classes[seen], ensemble.codes[seen, i])
            for i, seen in enumerate(ensemble.observed.T)
        ]
        return cls(base, {name: adjusted_rand(classes[found >= 0], found[found >= 0])}, "ARI")

    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given; nothing is registered with pyplot."""
        if ax is None:
            ax = new_figure(5.0, 0.9 + 0.3 * (len(self.methods) + 2)).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(len(self.methods))
        values = np.asarray(list(self.methods.values()))
        base_place = len(places) + 0.3
        mean, best = self.base.mean(), self.base.max()

        ax.axvspan(self.base.min(), best, color=QUIET, alpha=0.3, lw=0)
        ax.axvline(mean, color=MUTED, lw=1, ls=(0, (4, 3)))
        ax.hlines(places, mean, values, color=ACCENT, lw=1.6, alpha=0.75)
        ax.plot(values, places, "o", color=ACCENT, ms=7)
        for place, value in zip(places, values, strict=True):
            left = value < mean
            ax.annotate(
                f"{value:.2f}",
                (value, place),
                (-8 if left else 8, 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=8,
                color=INK,
            )
        # a fixed zigzag instead of random jitter: the same picture every time
        spread = 0.12 * np.resize([-1.0, 0.3, -0.3, 1.0], len(self.base))
        ax.plot(np.sort(self.base), base_place + spread, "o", color=MUTED, ms=3, alpha=0.55, mew=0)
        names = [*map(plain_text, self.methods), f"{len(self.base)} base\npartitions"]
        ax.set_yticks([*places, base_place], names)
        ax.set_ylim(base_place + 0.6, -0.6)
        ax.margins(x=0.14)
        ax.set_xlabel(f"{self.label}  (dashed: mean base partition)", fontsize=8, color=MUTED)
        ax.tick_params(length=0, labelsize=9, labelcolor=INK)
        ax.tick_params(axis="x", labelsize=8, labelcolor=MUTED)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.spines["bottom"].set_color(QUIET)
        return self
