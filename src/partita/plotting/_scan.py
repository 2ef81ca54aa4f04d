"""`ScanDisplay`: curves over the number of clusters, each beside its null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.plotting._display import Display
from partita.plotting.style import ACCENT, INK, MUTED, QUIET, blues, quiet_axes
from partita.select_k import KScan

__all__ = ["ScanDisplay"]

_TITLES = {
    "separation": "separation (decides)",
    "silhouette": "silhouette",
    "stability": "stability between halves",
    "item_consensus": "item consensus",
    "pac": "PAC: ambiguous pairs, low is good",
    "delta_area": "delta area",
    "eigengap": "eigengap",
    "lifetime": "lifetime",
}
_DEFAULT = ("separation", "stability", "item_consensus", "pac", "delta_area")
_SHARES = ("item_consensus", "pac")  # between 0 and 1, and so are their bands
_BAND = 2.0  # half width of the band, in standard deviations of the null


class ScanDisplay(Display):
    """Curves of a scan over K beside those of ensembles without structure (the null).

    The band is the mean of the null plus and minus two standard deviations. A curve inside the
    band is no evidence of structure. A line marks the suggested K.

    Parameters
    ----------
    k : array of shape (n_k,)
        Numbers of clusters.
    curves : mapping of str to array of shape (n_k,)
        Curves to draw, one panel each.
    null_mean, null_std : mappings of str to array of shape (n_k,)
        Mean and standard deviation of the null, for the curves that have one.
    best_k : int, optional
        The suggested number of clusters. By default none is marked.
    cdf : array of shape (n_k, n_values), optional
        Distribution of the consensus values of pairs for every K, at equidistant values from 0 to
        1, for one more panel. A curve that is flat between 0 and 1 has few ambiguous pairs. By
        default there is no such panel.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One per curve, and one for the distributions, after `plot`; `ax_` is the first.

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.plotting import ScanDisplay
    >>> from partita.datasets import make_partitions
    >>> labels = make_partitions(60, 8, 3)[0]
    >>> scan = scan_k(labels, range(2, 5), n_resamples=2, n_null=2, random_state=0)
    >>> len(ScanDisplay.from_scan(scan).plot().axes_)
    6
    """

    axes_: list[Any]

    def __init__(
        self,
        k: ArrayLike,
        curves: Mapping[str, ArrayLike],
        null_mean: Mapping[str, ArrayLike],
        null_std: Mapping[str, ArrayLike],
        best_k: int | None = None,
        cdf: ArrayLike | None = None,
    ) -> None:
        self.k = np.asarray(k, np.int64)
        self.curves = _arrays(curves)
        self.null_mean = _arrays(null_mean)
        self.null_std = _arrays(null_std)
        self.best_k = best_k
        self.cdf = None if cdf is None else np.asarray(cdf, np.float64)

    @classmethod
    def from_scan(cls, scan: KScan, *, curves: Sequence[str] | None = None) -> Self:
        """Use the result of `scan_k` or `scan_k_features`.

        Parameters
        ----------
        scan : KScan
            Result of the scan.
        curves : sequence of str, optional
            Names in `scan.curves` to draw. By default separation, stability, item consensus, PAC,
            delta area and the distribution of the consensus values.
        """
        names = list(_DEFAULT if curves is None else curves)
        if not names or not set(names) <= set(scan.curves):
            raise ValueError(f"curves must be among {list(scan.curves)}, got {names}.")
        with_null = [name for name in names if name in scan.null_mean]
        return cls(
            scan.k,
            {name: scan.curves[name] for name in names},
            {name: scan.null_mean[name] for name in with_null},
            {name: scan.null_std[name] for name in with_null},
            scan.best_k,
            scan.cdf if curves is None else None,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw one panel per curve.

        Parameters
        ----------
        ax : matplotlib Axes, or one per curve, optional
            Axes to draw into. By default those of a new figure.
        """
        axes = self._new_axes() if ax is None else list(np.ravel(ax))
        if len(axes) != self._n_panels:
            names = [*self.curves, *(() if self.cdf is None else ("cdf",))]
            raise ValueError(
                f"ax must have one Axes for each of {names}, got {len(axes)}; choose "
                "one curve with `from_scan(scan, curves=[name])`."
            )
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        for panel, name in zip(axes, self.curves, strict=False):
            self._draw(panel, name)
        if self.cdf is not None:
            self._draw_cdf(axes[-1], self.cdf)
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
        columns = min(2, self._n_panels)
        rows = -(-self._n_panels // columns)
        figure = self._new_figure(3.9 * columns, 2.5 * rows + 0.4)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for spare in axes[self._n_panels :]:
            spare.remove()
        return list(axes[: self._n_panels])

    @property
    def _n_panels(self) -> int:
        return len(self.curves) + (self.cdf is not None)

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
        ax.set_xticks(_tick_positions(self.k))
        ax.set_xlabel("number of clusters K", fontsize=8, color=MUTED)
        quiet_axes(ax, grid="y")

    def _draw_cdf(self, ax: Any, cdf: NDArray[np.float64]) -> None:
        """Draw one distribution per K, darker for larger K; that of the suggestion is wide."""
        at = np.linspace(0.0, 1.0, cdf.shape[1])
        shades = blues()(np.linspace(0.25, 1.0, len(self.k)))
        for k, shade, values in zip(self.k, shades, cdf, strict=True):
            is_best = k == self.best_k
            ax.plot(at, values, color=ACCENT if is_best else shade, lw=2.2 if is_best else 1.0)
        for row in {0, len(self.k) - 1}:
            ax.annotate(
                f"K = {self.k[row]}", (at[len(at) // 2], cdf[row, len(at) // 2]), (0, 3),
                textcoords="offset points", ha="center", fontsize=8, color=MUTED,
            )  # fmt: skip
        ax.set_title("CDF of consensus values", loc="left", fontsize=10, color=INK)
        ax.set_xlabel("share of resampled results that join a pair", fontsize=8, color=MUTED)
        quiet_axes(ax, grid="y")


def _arrays(curves: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    return {name: np.asarray(curve, np.float64) for name, curve in curves.items()}


def _tick_positions(k: NDArray[np.int64]) -> NDArray[np.int64]:
    return k[:: max(1, -(-len(k) // 10))]
