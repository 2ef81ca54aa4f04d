"""`ComparisonDisplay`: scores of several consensus methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.comparison import Comparison
from partita.plotting._display import Display
from partita.plotting.style import (
    ACCENT,
    INK,
    MUTED,
    QUIET,
    plain_text,
    quiet_axes,
)

__all__ = ["ComparisonDisplay"]

_MEANING = {
    "anmi": "agreement with the partitions (ANMI)",
    "agreement": "agreement with the other methods (ARI)",
    "ARI": "ARI with the true classes",
    "NMI": "NMI with the true classes",
    "ACC": "accuracy against the true classes",
}
# marker and color of each score; markers and grays differ
_MARKS = (("o", ACCENT), ("s", "#ffffff"), ("^", INK), ("D", QUIET), ("v", MUTED))


class ComparisonDisplay(Display):
    """Scores of several methods on one ensemble, best method first, and their run times.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods that finished.
    scores : mapping of str to array of shape (n_methods,)
        Scores to draw. The first one determines the order; NaN is not drawn.
    seconds : array of shape (n_methods,)
        Run time of each method; NaN is not written.
    failed : sequence of str, default=()
        Names of the methods that failed.

    Examples
    --------
    >>> import partita
    >>> from partita.plotting import ComparisonDisplay
    >>> partitions = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
    >>> comparison = partita.compare(partitions, ["eac", "sec"], n_clusters=2)
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
        """Use the result of `compare`.

        Parameters
        ----------
        comparison : Comparison
            Result of `compare`.
        scores : sequence of str, optional
            Columns of the records to draw. By default the ARI if there are true classes, then the
            agreement with the partitions and with the other methods.
        """
        available = [name for name in _MEANING if name in comparison.records[0]]
        if scores is None:
            scores = [name for name in ("ARI", "anmi", "agreement") if name in available]
        if not scores or not set(scores) <= set(available):
            raise ValueError(f"scores must be among {available}, got {list(scores)}.")
        finished = [record for record in comparison.records if record["failure"] is None]
        return cls(
            [record["method"] for record in finished],
            {name: np.asarray([r[name] for r in finished], np.float64) for name in scores},
            np.asarray([record["seconds"] for record in finished], np.float64),  # None is NaN
            [record["method"] for record in comparison.records if record["failure"] is not None],
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the scores; see `Display.plot`."""
        has_own_figure = ax is None
        if has_own_figure:
            height = 1.2 + 0.27 * max(len(self.methods), 2) + 0.2 * len(self.scores)
            ax = self._new_figure(6.6, height).add_subplot()
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
            if np.isnan(self.seconds[k]):
                continue
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
        values = np.concatenate([[0.0], *self.scores.values()])
        ax.set_xlim(float(np.nanmin(values)) - 0.02, 1.02)
        ax.set_xlabel(self._wrap(self._caption()), fontsize=8, color=MUTED)
        ax.set_title("Methods side by side", loc="left", fontsize=11, color=INK, pad=8)
        legend = {"frameon": False, "fontsize": 8, "labelcolor": INK}
        if has_own_figure:
            ax.figure.legend(loc="outside lower center", **legend)
        else:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.62 / len(order) - 0.1), **legend)
        quiet_axes(ax)
        return self

    def _caption(self) -> str:
        parts = ["right: seconds of the fit"]
        if self.failed:
            names = ", ".join(map(plain_text, self.failed[:6]))
            more = f" and {len(self.failed) - 6} more" if len(self.failed) > 6 else ""
            parts.append(f"failed: {names}{more}")
        return "\n".join(parts)
