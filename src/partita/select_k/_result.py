"""`KScan`: the result of a scan over the number of clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._pictures import draw_curve

__all__ = ["CDF_POINTS", "CRITERION", "EVIDENCE", "KScan"]

CDF_POINTS = np.linspace(0.0, 1.0, 101)  # consensus values at which the distribution is given

CRITERION = "separation"  # the curve whose gain decides
EVIDENCE = ("tightness", "isolation")  # for features decides too, one of them


@dataclass(frozen=True)
class KScan:
    """Curves over the number of clusters, and the number they suggest.

    Returned by `scan_k` and `scan_k_features`.

    Attributes
    ----------
    k : array of shape (n_k,)
        Numbers of clusters, ascending.
    best_k : int or None
        Of the K that are better than the null, the one with the largest gain; for labels, the one
        with the largest silhouette if this is a clear peak and the gains are tied; for features,
        the one with the largest product of two gains, that of the separation and that of the
        tightness or isolation (minus its mean over the null ensembles), and of the spectral gap if
        the generator cuts a graph. None if no K is: the null reaches the separation of every K in
        more than two scans of a hundred, no structure found. None as well if `rejected_k` is not.
    curves : dict of str to array of shape (n_k,)
        - "separation": mean over the samples of the item consensus with the own cluster minus that
          with the next best cluster, the margin.
        - "silhouette": mean silhouette of the samples by the distance 1 - co-association, the
          margin divided by the larger distance. Both merged and split clusters lower it.
        - "stability": mean adjusted Rand index between the consensus of two disjoint halves of the
          partitions.
        - "item_consensus": mean item consensus of the samples with their own cluster.
        - "pac": proportion of ambiguous clustering, the share of pairs of samples whose consensus
          value over the halves lies between 0.1 and 0.9.
        - "delta_area": relative change of the area under the distribution of consensus values.
        - "eigengap": gap after the K-th eigenvalue of the graph of rows and base clusters.
        - "tightness": only for features, minus the logarithm of the share of the variance that is
          left within clusters.
        - "isolation": instead of the tightness if the generator cuts a graph, minus the logarithm
          of the share of nearest neighbors that are in another cluster, divided by that of random
          labels.
        - "spectral_gap": only if the generator cuts a graph, logarithm of the ratio of the next to
          the K-th eigenvalue of the graph of neighbors, minus the largest one of shapes without
          clusters; for sparse features without this difference.
        - "lifetime": range of heights at which the average linkage tree has K clusters. NaN where
          the ensemble has too many distinct rows for a tree.
    null_mean, null_std : dict of str to array of shape (n_k,)
        Mean and standard deviation over the null ensembles, for the first five curves and the
        tightness or isolation. The scan of an estimator, such as that of `EnsembleClustering`,
        leaves out stability and PAC, which the suggestion does not need.
    gain : array of shape (n_k,)
        Separation minus its mean over the null ensembles, divided by the largest possible
        difference, 1 minus that mean.
    standard_error : array of shape (n_k,)
        Standard error of the gain, from halves and null ensembles.
    difference_error : array of shape (n_k,)
        Standard error of the difference between the gain and the best gain, over the same halves
        and the same null ensembles.
    pac_interval : array of shape (n_k, 2)
        95 % interval of the PAC, because its pairs are sampled.
    cdf : array of shape (n_k, 101)
        Cumulative distribution of the consensus values of pairs, at `cdf_at`.
    labels : dict of int to array of shape (n_samples,)
        The consensus for every K.
    resamples : dict of str to array
        Values per resample, for one's own tests: "silhouette", "separation" and "item_consensus"
        of every half of the partitions, of shape (n_resamples, 2, n_k), and "stability" of every
        pair of halves, of shape (n_resamples, n_k). `resample_records` returns them as a table.
    nulls : dict of str to array of shape (n_null, n_k)
        Values per null ensemble, for the curves that have a null.
    hidden_groups : list of dict
        Clusters of the consensus for `best_k` that hide a group which most partitions split off,
        see `partita.structure.hidden_groups`. Empty for `scan_k_features`, whose partitions have
        as many clusters as the consensus.
    criterion : str
        Name of the curve whose gain decides.
    rejected_k : int or None
        Number of clusters that is better than the null, but is not suggested, because no valley of
        density separates the clusters: they are pieces of one thin shape. None for a scan of
        labels, of views, and by a generator that cuts a graph, which do not test this.
    """

    k: NDArray[np.int64]
    best_k: int | None
    curves: dict[str, NDArray[np.float64]]
    null_mean: dict[str, NDArray[np.float64]]
    null_std: dict[str, NDArray[np.float64]]
    gain: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    difference_error: NDArray[np.float64]
    pac_interval: NDArray[np.float64]
    cdf: NDArray[np.float64]
    labels: dict[int, NDArray[np.int64]] = field(repr=False)
    resamples: dict[str, NDArray[np.float64]] = field(repr=False)
    nulls: dict[str, NDArray[np.float64]] = field(repr=False)
    hidden_groups: list[dict[str, Any]] = field(default_factory=list, repr=False)
    criterion: str = CRITERION
    rejected_k: int | None = None

    @property
    def reason(self) -> str:
        """Why no structure was found; empty if it was."""
        if self.best_k is not None:
            return ""
        if self.rejected_k is None:
            return "no K does better than the null"
        return (
            f"K = {self.rejected_k} does better than the null, but no valley of density separates "
            "its clusters"
        )

    @property
    def n_null(self) -> int:
        """Number of null ensembles that were computed."""
        return len(self.nulls[self.criterion])

    @property
    def cdf_at(self) -> NDArray[np.float64]:
        """Consensus values from 0 to 1 at which `cdf` is given."""
        return CDF_POINTS.copy()

    @property
    def tied_k(self) -> list[int]:
        """Every K whose gain is at most one standard error less than that of `best_k`, ascending.

        For features, where the gain does not decide alone, it may also be larger. The error is that
        of the difference of both gains. Empty if no structure was found.
        """
        if self.best_k is None:
            return []
        best = int(np.flatnonzero(self.k == self.best_k)[0])
        within = self.gain >= self.gain[best] - self.difference_error
        return [int(k) for k in self.k[within]]

    def records(self) -> list[dict[str, float]]:
        """Return one dictionary per K with curves, null means, gain and standard error."""
        return [
            {"k": int(k)}
            | {name: float(curve[j]) for name, curve in self.curves.items()}
            | {f"null_{name}": float(curve[j]) for name, curve in self.null_mean.items()}
            | {"gain": float(self.gain[j]), "standard_error": float(self.standard_error[j])}
            for j, k in enumerate(self.k)
        ]

    def resample_records(self) -> list[dict[str, float]]:
        """Return one dictionary per resample, half and K, with the values of that half.

        `stability` belongs to both halves of a resample. The halves of one resample have no
        partition in common; different resamples have, so that their values are not independent.
        """
        return [
            {"resample": r, "half": half, "k": int(k)}
            | {
                name: float(values[r, j] if values.ndim == 2 else values[r, half, j])
                for name, values in self.resamples.items()
            }
            for r in range(len(self.resamples[self.criterion]))
            for half in (0, 1)
            for j, k in enumerate(self.k)
        ]

    def null_records(self) -> list[dict[str, float]]:
        """Return one dictionary per null ensemble and K."""
        return [
            {"null": r, "k": int(k)}
            | {name: float(values[r, j]) for name, values in self.nulls.items()}
            for r in range(self.n_null)
            for j, k in enumerate(self.k)
        ]

    def to_frame(self, rows: str = "k") -> Any:
        """Return a table as a data frame.

        Of the first of pandas, polars and pyarrow that is installed; if none is, a list of
        dictionaries.

        Parameters
        ----------
        rows : str, default="k"
            "k" for `records`, one row per K; "resamples" for `resample_records`, one row per K
            and half of the partitions; "nulls" for `null_records`, one row per K and null ensemble.
        """
        tables = {
            "k": self.records, "resamples": self.resample_records, "nulls": self.null_records
        }  # fmt: skip
        if rows not in tables:
            raise ValueError(f"rows must be one of {list(tables)}, got {rows!r}.")
        return frame_of_records(tables[rows]())

    def _repr_html_(self) -> str:
        caption = f"No structure found: {self.reason}."
        if self.best_k is not None:
            others = [str(k) for k in self.tied_k if k != self.best_k]
            also = f"; gain at most one standard error less: {', '.join(others)}" if others else ""
            caption = f"Suggested: K = {self.best_k}{also}"
        columns = ["k", "gain", "standard_error", *self.curves]
        picture = draw_curve(
            self.k, self.gain, self.standard_error, "gain over the null, by K", self.best_k
        )
        return html_of_records(self.records(), columns, caption, picture)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = [self.criterion, *(each for each in EVIDENCE if each in self.null_mean)]
        heads = [f"{name:>12} {'null':>8}" for name in shown]
        lines = [" ".join([f"{'K':>4}", *heads, f"{'gain':>8} {'s.e.':>8}"])]
        for j, k in enumerate(self.k):
            values = [f"{self.curves[n][j]:>12.3f} {self.null_mean[n][j]:>8.3f}" for n in shown]
            mark = "  <- at most one s.e. less" if k in self.tied_k else ""
            mark = "  <- suggested" if k == self.best_k else mark
            lines.append(
                f"{k:>4} {' '.join(values)} {self.gain[j]:>8.3f} "
                f"{self.standard_error[j]:>8.3f}{mark}"
            )
        if self.best_k is None:
            lines.append(f"No structure found: {self.reason}.")
        lines += [
            f"Cluster {group['cluster']} hides a group of {group['n_samples']} samples that "
            f"{group['support']:.0%} of the partitions split off."
            for group in self.hidden_groups
        ]
        return "\n".join(lines)
