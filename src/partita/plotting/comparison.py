"""`ComparisonDisplay`: consensus methods side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.comparison import Comparison
from partita.plotting._display import Display
from partita.plotting._style import (
    ACCENT,
    INK,
    MUTED,
    QUIET,
    new_figure,
    plain_text,
    quiet_axes,
)

__all__ = ["ComparisonDisplay"]

_MEANING = {
    "anmi": "agreement with the partitions (ANMI)",
    "agreement": "agreement with the other methods (ARI)",
    "ARI": "ARI with the known classes",
    "NMI": "NMI with the known classes",
    "ACC": "accuracy against the known classes",
}
# shapes differ, and so do their grays
_MARKS = (("o", ACCENT), ("s", "#ffffff"), ("^", INK), ("D", QUIET), ("v", MUTED))


class ComparisonDisplay(Display):
    """Scores of several methods on one ensemble, the best first, and what they took.

    Parameters
    ----------
    methods : sequence of str
        Those that finished.
    scores : mapping of str to array of shape (n_methods,)
        What is drawn, the first decides the order; NaN is not drawn.
    seconds : array of shape (n_methods,)
    failed : sequence of str
        Methods that came to nothing, named below.

    Examples
    --------
    >>> import partita
    >>> from partita.plotting import ComparisonDisplay
    >>> labels = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
    >>> comparison = partita.compare(labels, ["eac", "sec"], n_clusters=2)
    >>> list(ComparisonDisplay.from_comparison(comparison).scores)
    ['anmi', 'agreement']
    """

    def __init__(
        self,
        methods: Sequence[str],
        scores: Mapping[str, ArrayLike],
        seconds: ArrayLike,
        failed: Sequence[str] = (),
    ) -> None:
        self.methods = list(methods)
        self.scores = {name: np.asarray(values, np.float64) for name, values in scores.items()}
        self.seconds = np.asarray(seconds, np.float64)
        self.failed = list(failed)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, scores: Sequence[str] | None = None
    ) -> Self:
        """From the result of `compare`.

        Parameters
        ----------
        comparison : Comparison
        scores : sequence of str, optional
            Columns of the records; by default the ARI where classes were known, then the
            agreement with the partitions and with the other methods.
        """
        known = comparison.records[0]
        chosen = (
            [name for name in ("ARI", "anmi", "agreement") if name in known]
            if scores is None
            else list(scores)
        )
        drawable = [name for name in _MEANING if name in known]
        if not chosen or not set(chosen) <= set(drawable):
            raise ValueError(f"scores must be among {drawable}, got {chosen}.")
        done = [record for record in comparison.records if record["failure"] is None]
        return cls(
            [record["method"] for record in done],
            {name: np.asarray([record[name] for record in done], np.float64) for name in chosen},
            [record["seconds"] for record in done],
            [record["method"] for record in comparison.records if record["failure"] is not None],
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given."""
        if ax is None:
            ax = new_figure(6.6, 1.5 + 0.27 * max(len(self.methods), 2)).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        first = next(iter(self.scores.values()))
        order = np.argsort(-np.nan_to_num(first, nan=-1.0), kind="stable")
        places = np.arange(len(order))
        ax.hlines(places, 0, 1, color=QUIET, lw=0.6)
        for (name, values), (shape, color) in zip(self.scores.items(), _MARKS, strict=False):
            ax.plot(
                values[order],
                places,
                shape,
                color=color,
                mec=INK,
                mew=0.8,
                ms=6,
                ls="",
                label=_MEANING.get(name, name),
            )
        for place, k in zip(places, order, strict=True):
            ax.annotate(
                f"{self.seconds[k]:.2g} s",
                (1.02, place),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=MUTED,
                annotation_clip=False,
            )
        ax.set_yticks(places, [plain_text(self.methods[k]) for k in order])
        ax.set_ylim(len(order) - 0.4, -0.6)
        known = np.concatenate([[0.0], *self.scores.values()])
        ax.set_xlim(float(np.nanmin(known)) - 0.02, 1.02)
        ax.set_xlabel(self._caption(), fontsize=8, color=MUTED)
        ax.set_title("Methods side by side", loc="left", fontsize=11, color=INK, pad=8)
        ax.legend(
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.62 / max(len(order), 2) - 0.1),
        )
        quiet_axes(ax)
        return self

    def _caption(self) -> str:
        parts = ["right: seconds of the fit"]
        if self.failed:
            names = ", ".join(map(plain_text, self.failed[:6]))
            more = f" and {len(self.failed) - 6} more" if len(self.failed) > 6 else ""
            parts.append(f"failed: {names}{more}")
        return "\n".join(parts)
