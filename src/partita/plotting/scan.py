"""`ScanDisplay`: curves over the number of clusters, each above its null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.plotting._display import Display
from partita.plotting._style import ACCENT, INK, MUTED, QUIET, new_figure, quiet_axes
from partita.select_k import KScan

__all__ = ["ScanDisplay"]

_TITLES = {
    "separation": "separation (decides)",
    "stability": "stability between halves",
    "item_consensus": "item consensus",
    "pac": "PAC: ambiguous pairs, low is good",
    "delta_area": "delta area",
    "eigengap": "eigengap",
    "lifetime": "lifetime",
}
_SHARES = ("item_consensus", "pac")  # cannot leave 0 to 1, and neither can their bands
_BAND = 2.0  # standard deviations of the null


class ScanDisplay(Display):
    """Curves of a scan over K beside what ensembles without structure give.

    The band is the null's mean plus and minus two standard deviations: a curve inside it says
    nothing. The suggested K is marked by a line.

    Parameters
    ----------
    k : array of shape (n_k,)
    curves : mapping of str to array of shape (n_k,)
        What is drawn, one panel each.
    null_mean, null_std : mappings of str to array of shape (n_k,)
        For the curves that have a null.
    best_k : int or None

    Attributes
    ----------
    axes_ : list of matplotlib's Axes, one per curve
    ax_, figure_ : the first of them, and the Figure

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.plotting import ScanDisplay
    >>> from partita.datasets import make_partitions
    >>> labels = make_partitions(60, 8, 3)[0]
    >>> scan = scan_k(labels, range(2, 5), n_resamples=2, n_null=2, random_state=0)
    >>> len(ScanDisplay.from_scan(scan).plot().axes_)
    4
    """

    axes_: list[Any]

    def __init__(
        self,
        k: ArrayLike,
        curves: Mapping[str, ArrayLike],
        null_mean: Mapping[str, ArrayLike],
        null_std: Mapping[str, ArrayLike],
        best_k: int | None = None,
    ) -> None:
        self.k = np.asarray(k, np.int64)
        self.curves = _arrays(curves)
        self.null_mean = _arrays(null_mean)
        self.null_std = _arrays(null_std)
        self.best_k = best_k

    @classmethod
    def from_scan(cls, scan: KScan, *, curves: Sequence[str] | None = None) -> Self:
        """From the result of `scan_k` or `scan_k_features`.

        Parameters
        ----------
        scan : KScan
        curves : sequence of str, optional
            Names in `scan.curves`; those that have a null by default.
        """
        chosen = list(scan.null_mean) if curves is None else list(curves)
        unknown = [name for name in chosen if name not in scan.curves]
        if unknown or not chosen:
            raise ValueError(f"curves must be among {list(scan.curves)}, got {chosen}.")
        known = [name for name in chosen if name in scan.null_mean]
        return cls(
            scan.k,
            {name: scan.curves[name] for name in chosen},
            {name: scan.null_mean[name] for name in known},
            {name: scan.null_std[name] for name in known},
            scan.best_k,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or one per curve, optional
            A new figure without them.
        """
        axes = self._new_axes() if ax is None else list(np.ravel(ax))
        if len(axes) != len(self.curves):
            raise ValueError(
                f"Expected an axes for each of {list(self.curves)}, got {len(axes)}; choose one "
                "curve with `from_scan(scan, curves=[name])`."
            )
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        for panel, name in zip(axes, self.curves, strict=True):
            self._draw(panel, name)
        if ax is None:
            self.figure_.legend(
                handles=axes[0].get_legend_handles_labels()[0],
                loc="outside lower center",
                ncols=2 * min(2, len(axes)),
                frameon=False,
                fontsize=8,
                labelcolor=INK,
            )
        else:
            axes[0].legend(frameon=False, fontsize=8, labelcolor=INK)
        return self

    def _new_axes(self) -> list[Any]:
        columns = min(2, len(self.curves))
        rows = -(-len(self.curves) // columns)
        figure = new_figure(3.9 * columns, 2.5 * rows + 0.4)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for spare in axes[len(self.curves) :]:
            spare.remove()
        return list(axes[: len(self.curves)])

    def _draw(self, ax: Any, name: str) -> None:
        if name in self.null_mean:
            mean, spread = self.null_mean[name], _BAND * self.null_std[name]
            low, high = mean - spread, mean + spread
            if name in _SHARES:
                low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
            ax.fill_between(self.k, low, high, color=QUIET, lw=0, label="null, ± 2 s.d.")
            ax.plot(self.k, mean, color=MUTED, lw=1.2, ls=(0, (4, 3)), label="null, mean")
        if self.best_k is not None:
            ax.axvline(self.best_k, color=INK, lw=1, ls=":", label=f"suggested: K = {self.best_k}")
        ax.plot(self.k, self.curves[name], "o-", color=ACCENT, ms=5, lw=1.8, label="this ensemble")
        ax.set_title(_TITLES.get(name, name), loc="left", fontsize=10, color=INK)
        ax.set_xticks(_whole_ticks(self.k))
        ax.set_xlabel("number of clusters K", fontsize=8, color=MUTED)
        quiet_axes(ax, grid="y")


def _arrays(curves: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    return {name: np.asarray(curve, np.float64) for name, curve in curves.items()}


def _whole_ticks(k: NDArray[np.int64]) -> NDArray[np.int64]:
    return k[:: max(1, -(-len(k) // 10))]
