"""`EmbeddingDisplay`: samples as points, colored by cluster and by confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita._input.checks import random_generator
from partita.diagnostics import Diagnosis, diagnose
from partita.plotting._cluster_colors import cluster_colors
from partita.plotting._coordinates import coordinates_of_features, coordinates_of_partitions
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, QUIET, blues, plain_text, text_on

__all__ = ["EmbeddingDisplay"]

_MOST_NAMED = 40  # clusters with a name in the picture


class EmbeddingDisplay(Display):
    """Samples as points in the plane, one panel colored by cluster and one by confidence.

    Distances in a picture of two coordinates are not those of all features: clusters that overlap
    here may be separate, and the picture does not decide whether there are clusters. Without
    features, samples that the partitions never join with others are parts of their own: their
    distance from the others has no meaning, and the caption counts them. Samples with equal
    places are spread over a small disk.

    Parameters
    ----------
    coordinates : array of shape (n_points, 2)
        Places of the points.
    labels : array of shape (n_points,)
        Cluster of each point, -1 for none.
    confidence : array of shape (n_points,)
        Confidence of each point; NaN where it has none.
    clusters : sequence
        Names of the clusters.
    n_samples : int
        Number of samples of which the points are drawn.
    source : str, default="given coordinates"
        What the coordinates are.
    by : sequence of {"cluster", "confidence"}, default=("cluster", "confidence")
        The panels.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One per panel, after `plot`; `ax_` is the first.

    Examples
    --------
    >>> from partita.plotting import EmbeddingDisplay
    >>> display = EmbeddingDisplay.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1])
    >>> display.coordinates.shape
    (4, 2)
    """

    axes_: list[Any]

    def __init__(
        self,
        coordinates: ArrayLike,
        labels: ArrayLike,
        confidence: ArrayLike,
        clusters: Sequence[Any],
        n_samples: int,
        source: str = "given coordinates",
        by: Sequence[str] = ("cluster", "confidence"),
    ) -> None:
        self.coordinates = np.asarray(coordinates, np.float64)
        self.labels = np.asarray(labels, np.int64)
        self.confidence = np.asarray(confidence, np.float64)
        self.clusters = list(clusters)
        self.n_samples = n_samples
        self.source = source
        self.by = list(by)

    @classmethod
    def from_labels(cls, partitions: Any, labels: Any, **options: Any) -> Self:
        """Diagnose a consensus of base partitions.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions.
        labels : array-like of shape (n_samples,), or a fitted consensus method
            The consensus. -1, None and NaN are samples without a label.
        **options
            `features`, `coordinates` and `n_points` of `from_diagnosis`.
        """
        return cls.from_diagnosis(diagnose(partitions, labels), **options)

    @classmethod
    def from_diagnosis(
        cls,
        diagnosis: Diagnosis,
        *,
        features: Any = None,
        coordinates: Any = None,
        clusters: Sequence[Any] | None = None,
        n_points: int = 5000,
    ) -> Self:
        """Take clusters and confidence from a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            Result of `diagnose`.
        features : array or sparse matrix of shape (n_samples, n_features), or frame, optional
            Features whose first two principal components are the coordinates. By default the
            coordinates come from a spectral embedding of samples and base clusters.
        coordinates : array of shape (n_samples, 2), optional
            Coordinates, for example a UMAP. By default they come from the features.
        clusters : sequence, optional
            Names of the clusters. By default those of the diagnosis.
        n_points : int, default=5000
            Largest number of points. Of more samples, a random selection with a fixed seed is
            drawn, and the caption says so.
        """
        n = len(diagnosis.labels)
        samples = np.arange(n)
        if n > n_points:
            samples = np.sort(random_generator(0).choice(n, n_points, replace=False))
        places, source = None, "given coordinates"
        if coordinates is not None:
            places = np.asarray(coordinates, np.float64)
            if places.ndim != 2 or places.shape[0] != n or places.shape[1] < 2:
                raise ValueError(
                    f"coordinates must have shape ({n}, 2), got {places.shape}. Pass two "
                    "coordinates for each sample."
                )
            places = places[samples, :2]
        elif features is not None:
            places, source = coordinates_of_features(features, samples), "PCA of the features"
        if places is None:
            places, n_parts = coordinates_of_partitions(
                diagnosis.partitions, samples, diagnosis.n_clusters
            )
            source = "spectral embedding of the partitions"
            if n_parts > 1:
                source = f"spectral embedding, {n_parts} separate parts"
        names = diagnosis.cluster_names.tolist() if clusters is None else list(clusters)
        return cls(
            places, diagnosis.labels[samples], diagnosis.confidence[samples], names, n, source
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes, or one per panel, optional
            Axes to draw into. By default those of a new figure.
        """
        if ax is None:
            n = len(self.by)
            figure = self._new_figure(4.4 * n, 4.2, square=n == 1)
            axes = list(figure.subplots(1, n, squeeze=False)[0])
        else:
            axes = list(np.ravel(ax))
        if len(axes) != len(self.by):
            raise ValueError(f"ax must have one Axes for each of {self.by}, got {len(axes)}.")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        for panel, by in zip(axes, self.by, strict=True):
            self._draw_clusters(panel) if by == "cluster" else self._draw_confidence(panel)
            panel.set_title(f"colored by {by}", loc="left", fontsize=10, color=INK)
            panel.set(xticks=[], yticks=[])
            panel.set_xlabel(self._wrap(self._caption()), fontsize=8, color=MUTED)
            for spine in panel.spines.values():
                spine.set_color(QUIET)
        return self

    def _draw_clusters(self, ax: Any) -> None:
        colors = cluster_colors(len(self.clusters))
        drawn = [colors[k] if k >= 0 else QUIET for k in self.labels]
        ax.scatter(*self.coordinates.T, s=self._area, c=drawn, lw=0, rasterized=True)
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=len(self.clusters))
        for k in np.argsort(-sizes, kind="stable")[:_MOST_NAMED].tolist():
            if sizes[k] == 0:
                continue
            x, y = np.median(self.coordinates[self.labels == k], axis=0)
            frame = {"boxstyle": "round,pad=0.2", "fc": colors[k], "ec": "#ffffff", "lw": 0.6}
            name, ink = plain_text(self.clusters[k]), text_on(colors[k])
            ax.text(x, y, name, ha="center", va="center", fontsize=8, color=ink, bbox=frame)

    def _draw_confidence(self, ax: Any) -> None:
        order = np.argsort(-np.nan_to_num(self.confidence, nan=2.0), kind="stable")
        image = ax.scatter(
            *self.coordinates[order].T,
            s=self._area,
            c=self.confidence[order],
            cmap=blues().reversed(),
            vmin=0.0,
            vmax=1.0,
            edgecolors=MUTED,
            lw=0.3,
            plotnonfinite=True,
            rasterized=True,
        )
        self.ax_ = ax
        self._add_color_bar(image, "confidence", shrink=0.6, pad=0.03)
        self.ax_ = self.axes_[0]

    @property
    def _area(self) -> float:
        return float(np.clip(6000 / max(len(self.labels), 1), 3.0, 24.0))

    def _caption(self) -> str:
        shown = len(self.labels)
        thinned = "" if shown == self.n_samples else f", {shown:,} of them drawn"
        return f"{self.source}  ·  {self.n_samples:,} samples{thinned}"
