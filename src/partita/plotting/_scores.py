"""`ScoresDisplay`: scores of consensus methods beside those of the base partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._contingency import ContingencyTable, adjusted_rand_of
from partita._input.label_vector import code_labels
from partita.ensemble import as_ensemble
from partita.plotting._display import Display
from partita.plotting.style import ACCENT, INK, MUTED, QUIET, plain_text

__all__ = ["ScoresDisplay"]


class ScoresDisplay(Display):
    """One score of several methods beside the scores of the base partitions.

    Parameters
    ----------
    base : array of shape (n_partitions,)
        Score of each base partition.
    methods : mapping of str to float
        Score of each consensus method.
    label : str
        Name of the score.

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
    def from_labels(cls, partitions: Any, labels: Any, y: Any, *, name: str = "consensus") -> Self:
        """Score base partitions and one consensus against true classes by the ARI.

        The consensus and each partition are scored over the samples that they label.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions.
        labels : array-like of shape (n_samples,), or a fitted consensus method
            The consensus. -1, None and NaN are samples without a label.
        y : array-like of shape (n_samples,)
            The true classes.
        name : str, default="consensus"
            Name of the consensus in the figure.
        """
        ensemble = as_ensemble(partitions)
        classes, class_names = code_labels(
            y, ensemble.n_samples, name="y", noise="cluster", sample_ids=ensemble.sample_ids
        )
        codes, cluster_names = code_labels(
            labels, ensemble.n_samples, sample_ids=ensemble.sample_ids
        )

        def score(clusters: NDArray[Any], labeled: NDArray[np.bool_], n_clusters: int) -> float:
            return adjusted_rand_of(
                ContingencyTable.from_codes(
                    classes[labeled], clusters[labeled], len(class_names), n_clusters
                )
            )

        base = [
            score(ensemble.codes[:, i], ensemble.observed[:, i], int(ensemble.n_clusters[i]))
            for i in range(ensemble.n_partitions)
        ]
        return cls(base, {name: score(codes, codes >= 0, len(cluster_names))}, "ARI")

    def plot(self, ax: Any = None) -> Self:
        """Draw the scores; see `Display.plot`."""
        if ax is None:
            ax = self._new_figure(5.0, 0.9 + 0.3 * (len(self.methods) + 2)).add_subplot()
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
        # a fixed zigzag instead of random jitter: the figure is the same every time
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
