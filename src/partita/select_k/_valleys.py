"""Valleys of density between clusters, which the pieces of a thin shape do not have.

k-means cuts a line, an arc or a ring into pieces that are tighter than those of a box, and cuts it
into the same pieces every time. But the samples are as dense at a cut as they are in the middle of
a piece, while clusters have fewer samples where they meet.

Two neighboring clusters are compared along a path with one bend: from one center to the border and
on to the other center. A straight line from center to center would be misled by curved shapes: seen
from the side, the ends of an arc are denser than its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import norm

__all__ = ["Cut", "cuts_between", "has_valley"]

_FALSE_ALARM = 0.02  # share of even lines in which a valley seems clear
_DOUBT = 0.1  # the same for shapes that are thick
_NOT_THIN, _THICK = 0.5, 1.2  # variance across the path divided by that along it
_BORDER_SHARE = 0.25  # of the samples of a cluster, those nearest to the other cluster
_LEAST_BORDER = 3  # samples
_EMPTY, _LEAST_SIZE = 0.9, 4  # mean rise of samples, all of them far from the border; their number
_ROUNDING = 1e-9  # squared distances from the path, in units of its squared length

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """What lies between the border and the centers of two clusters, or of several pairs.

    On the path from the border to the center, samples have the positions t from 0 to 1.

    Attributes
    ----------
    rise, close_rise : float
        Sum of -cos(π t) over the samples with t <= 1, and over the half of them that is closest to
        the path. It is positive if the samples are denser at the centers than at the border.
    size, close_size : int
        Numbers of these samples.
    across, along : float
        Sums of their squared distances from the path, in units of its squared length, and of
        (1 - t)².
    """

    rise: float
    size: int
    close_rise: float
    close_size: int
    across: float
    along: float

    @property
    def contrast(self) -> float:
        """The rise in units of the standard deviation that it has for even samples."""
        return _in_deviations(self.rise, self.size)

    @property
    def score(self) -> float:
        """The smaller one of the contrasts of all samples and of those close to the path.

        The samples of other branches of a fork are at the center of their piece, but not on the
        path. The score of few samples is bounded, so that it is infinite for an empty border.
        """
        pairs = (self.rise, self.size), (self.close_rise, self.close_size)
        if self.size >= _LEAST_SIZE and all(rise >= _EMPTY * size for rise, size in pairs):
            return np.inf
        return min(self.contrast, _in_deviations(self.close_rise, self.close_size))

    @property
    def thickness(self) -> float:
        """Variance of the samples across the path, divided by that along it."""
        return self.across / max(self.along, _ROUNDING)

    def __add__(self, other: Cut) -> Cut:
        return Cut(
            self.rise + other.rise,
            self.size + other.size,
            self.close_rise + other.close_rise,
            self.close_size + other.close_size,
            self.across + other.across,
            self.along + other.along,
        )


_NOTHING = Cut(0.0, 0, 0.0, 0, 0.0, 0.0)


def _in_deviations(rise: float, size: int) -> float:
    return rise / float(np.sqrt(max(size, 1) / 2))


def has_valley(X: Points, labels: NDArray[np.int64]) -> bool:
    """Return whether valleys of density separate clusters.

    Of the cuts between neighboring clusters, those with the lowest scores that connect all clusters
    are judged, K - 1 for K clusters: a gap between two turns of a spiral, which are connected
    elsewhere, is none of them. There is a valley if one cut has a higher score than that of an even
    line in two of a hundred cases, with Bonferroni's correction for K - 1 cuts.

    Small round clusters that overlap have valleys that are clear only together. If the pieces are
    not thin, a higher score of all cuts together is enough; if they are too thick for a line, a
    contrast that even samples have in one of ten cases.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features.
    labels : array of shape (n_samples,)
        Clusters, -1 without one.
    """
    cuts = list(cuts_between(X, labels).items())
    if not cuts:
        return False
    lowest = sorted(cuts, key=lambda pair: pair[1].score)
    ends = np.asarray([pair for pair, _ in lowest]).T
    # ranks as weights: a weight of 0 would be no edge
    graph = sp.coo_matrix((np.arange(1, len(lowest) + 1), ends), shape=(ends.max() + 1,) * 2)
    judged = [lowest[int(rank) - 1][1] for rank in minimum_spanning_tree(graph).data]
    if max(cut.score for cut in judged) > norm.isf(_FALSE_ALARM / len(judged)):
        return True
    together = sum(judged, _NOTHING)
    if together.thickness > _NOT_THIN and together.score > norm.isf(_FALSE_ALARM):
        return True
    return bool(together.thickness > _THICK and together.contrast > norm.isf(_DOUBT))


def cuts_between(X: Points, labels: NDArray[np.int64]) -> dict[tuple[int, int], Cut]:
    """Return the cut between every two neighboring clusters.

    Clusters are neighbors if no third center is in the ball whose diameter joins both centers.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features.
    labels : array of shape (n_samples,)
        Clusters, -1 without one.

    Returns
    -------
    dict of (int, int) to Cut
        By the positions of two clusters, the larger one first. Cost: O(d) for every sample and
        neighbor of its cluster.
    """
    clusters = [X[labels == c] for c in np.unique(labels[labels >= 0])]
    centers = np.asarray([points.mean(axis=0) for points in clusters])
    cuts = {}
    apart = np.sum((centers[:, None] - centers) ** 2, axis=2)
    for i, from_one in enumerate(apart):
        is_neighbor = from_one <= np.min(from_one + apart, axis=1)
        for j in np.flatnonzero(is_neighbor[:i]).tolist():
            sides = _side(clusters[i], centers[j]), _side(clusters[j], centers[i])
            border = (sides[0] + sides[1]) / 2
            cuts[i, j] = sum(
                (_half_cut(clusters[c], centers[c], border) for c in (i, j)),
                _NOTHING,
            )
    return cuts


def _side(points: Points, other_center: Points) -> Points:
    """Return the mean of the samples of a cluster that are nearest to the other cluster."""
    distances = np.sum((points - other_center) ** 2, axis=1)
    n_border = min(max(_LEAST_BORDER, int(np.ceil(_BORDER_SHARE * len(points)))), len(points))
    bound = np.partition(distances, n_border - 1)[n_border - 1]
    return np.asarray(points[distances <= bound].mean(axis=0))


def _half_cut(points: Points, center: Points, border: Points) -> Cut:
    """Return what lies between the border and the center of one cluster."""
    path, steps = center - border, points - border
    length = max(float(path @ path), np.finfo(np.float64).tiny)
    positions = np.abs(steps @ path / length)
    is_near = positions <= 1.0
    if not is_near.any():
        return _NOTHING
    positions, steps = positions[is_near], steps[is_near]
    offsets = np.maximum(np.sum(steps**2, axis=1) / length - positions**2, 0.0)
    is_close = offsets <= np.median(offsets) + _ROUNDING
    rises = -np.cos(np.pi * positions)
    return Cut(
        float(rises.sum()),
        len(rises),
        float(rises[is_close].sum()),
        int(np.count_nonzero(is_close)),
        float(offsets.sum()),
        float(np.sum((1.0 - positions) ** 2)),
    )
