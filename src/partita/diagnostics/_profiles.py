"""`cluster_profiles`: what distinguishes each cluster, by effect size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._input.containers import row_names
from partita._input.label_vector import code_labels
from partita._memory import require_memory
from partita.diagnostics._keywords import cluster_keywords
from partita.diagnostics.feature_columns import FeatureColumns, read_features

__all__ = ["ClusterProfiles", "cluster_profiles"]

_TABLES = 6  # of clusters by features, held at once


@dataclass(frozen=True, eq=False, repr=False)
class ClusterProfiles:
    """Features that distinguish each cluster. Made by `cluster_profiles`.

    Attributes
    ----------
    records : list of dict
        One dictionary per cluster and feature, largest effect of a cluster first:

        - ``cluster``, ``n_samples``: the cluster and its size;
        - ``feature``: name of the feature, or the word;
        - ``kind``: "number", "category" or "word";
        - ``category``: the category that is meant, None for numbers and words;
        - ``effect``: effect size, above 0 if the cluster has more of it than the other samples;
        - ``inside``, ``outside``: mean of a number or share of a category in the cluster and among
          the other samples; None for words.
    left_out : list of str
        Columns that look like identifiers: more than half of their values are different texts.
    """

    records: list[dict[str, Any]]
    left_out: list[str]

    def to_frame(self) -> Any:
        """Return `records` as a data frame.

        Of the first of pandas, polars and pyarrow that is installed; if none is, the list of
        dictionaries.
        """
        return frame_of_records(self.records)

    def of(self, cluster: Any) -> list[dict[str, Any]]:
        """Return the records of one cluster.

        Parameters
        ----------
        cluster : object
            Name of the cluster.
        """
        return [record for record in self.records if record["cluster"] == cluster]

    def _repr_html_(self) -> str:
        return html_of_records(self.records, caption=repr(self))

    def __repr__(self) -> str:
        n_clusters = len({str(record["cluster"]) for record in self.records})
        return f"Profiles of {n_clusters} clusters by effect size"


def cluster_profiles(
    X: Any,
    labels: Any,
    names: Sequence[str] | None = None,
    *,
    n_features: int = 5,
    words: bool | None = None,
) -> ClusterProfiles:
    """Name the features, categories or words that distinguish each cluster, by effect size.

    For a number, the effect in cluster k is the standardized mean difference (Cohen's d),

        d = (mean in k - mean of the other samples) / pooled standard deviation.

    For a category with the share p in the cluster and q among the other samples it is Cohen's h,

        h = 2 arcsin √p - 2 arcsin √q,

    which has the same scale: 0.2 is small, 0.5 medium, 0.8 large. For words it is the score of
    `cluster_keywords`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), data frame, or mapping to columns
        The features or annotations. Columns of a data frame may be numbers, booleans, texts or
        categories. NaN and None are missing and left out of their column.
    labels : array-like of shape (n_samples,)
        The clusters. Samples with -1, None or NaN are left out.
    names : sequence of str, optional
        Name of every feature. By default the columns of a data frame, or their numbers.
    n_features : int, default=5
        Largest number of features per cluster.
    words : bool, optional
        Whether the features are counts of words. By default if X is sparse and all its values are
        whole numbers that are not negative.

    Returns
    -------
    ClusterProfiles
        The features of each cluster with their effects.

    Notes
    -----
    Cost O(n d) for d features, memory O(K d) beside the features. A feature that does not vary
    inside the cluster nor outside, but differs between them, has an infinite effect.

    There are no p-values. The clusters were made from these features, or from features that are
    related to them, such that they differ; a test that uses the same data again finds a difference
    even if there are no clusters (double dipping, see Gao et al.). An effect size describes how
    large the difference is and claims nothing about chance.

    References
    ----------
    J. Cohen. Statistical Power Analysis for the Behavioral Sciences. 2nd edition, 1988.
    https://doi.org/10.4324/9780203771587

    L. L. Gao, J. Bien, D. Witten. Selective inference for hierarchical clustering. JASA 119(545),
    2024. https://doi.org/10.1080/01621459.2022.2116331

    Examples
    --------
    >>> from partita.diagnostics import cluster_profiles
    >>> X = [[1.0, 0.0], [1.2, 9.0], [5.0, 1.0], [5.2, 8.0]]
    >>> profiles = cluster_profiles(X, [0, 0, 1, 1], ["length", "noise"], n_features=1)
    >>> [(r["cluster"], r["feature"], round(r["effect"], 1)) for r in profiles.records]
    [(0, 'length', -28.3), (1, 'length', 28.3)]
    """
    if n_features < 1:
        raise ValueError(f"n_features={n_features} must be at least 1.")
    features = read_features(X, names)
    codes, clusters = code_labels(labels, features.n_samples, sample_ids=row_names(X))
    sizes = np.bincount(codes[codes >= 0], minlength=len(clusters))
    if words is None:
        words = sp.issparse(features.numbers) and _are_counts(features.numbers)
    if words:
        return _profiles_of_words(features, codes, clusters, sizes, n_features)
    n_columns = features.numbers.shape[1] + sum(len(c) for _, c in features.categories)
    require_memory(
        8 * _TABLES * len(clusters) * n_columns,
        f"Profiles of {n_columns} features in {len(clusters)} clusters",
        lambda _: "Keep fewer features.",
    )
    candidates = _Candidates.of(features, codes, len(clusters))
    records = []
    for k, cluster in enumerate(clusters.tolist()):
        effect = candidates.effect[k]
        strength = np.where(np.isnan(effect), -1.0, np.abs(effect))
        for j in np.argsort(-strength, kind="stable")[:n_features].tolist():
            if strength[j] > 0:
                size = int(sizes[k])
                records.append({"cluster": cluster, "n_samples": size} | candidates.record(k, j))
    return ClusterProfiles(records, features.left_out)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Effects of all numbers and categories, one column each."""

    names: list[tuple[str, str, Any]]  # feature, kind, category
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    effect: NDArray[np.float64]

    @classmethod
    def of(cls, features: FeatureColumns, codes: NDArray[np.int64], n_clusters: int) -> _Candidates:
        parts = [_numbers(features.numbers, codes, n_clusters)]
        names: list[tuple[str, str, Any]] = [(name, "number", None) for name in features.names]
        for (name, categories), values in zip(
            features.categories, features.category_codes, strict=True
        ):
            parts.append(_shares(values, len(categories), codes, n_clusters))
            names += [(name, "category", category) for category in categories]
        inside, outside, effect = (np.hstack(tables) for tables in zip(*parts, strict=True))
        return cls(names, inside, outside, effect)

    def record(self, k: int, j: int) -> dict[str, Any]:
        feature, kind, category = self.names[j]
        return {
            "feature": feature,
            "kind": kind,
            "category": category,
            "effect": float(self.effect[k, j]),
            "inside": float(self.inside[k, j]),
            "outside": float(self.outside[k, j]),
        }


_Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _numbers(X: Any, codes: NDArray[np.int64], n_clusters: int) -> _Tables:
    """Return the means inside and outside each cluster, and the standardized differences."""
    rows = np.flatnonzero(codes >= 0)
    members = sp.csr_matrix(
        (np.ones(len(rows)), (codes[rows], rows)), shape=(n_clusters, len(codes))
    )
    if sp.issparse(X):
        counts = np.repeat(np.asarray(members.sum(axis=1)), X.shape[1], axis=1)
        shift = np.zeros(X.shape[1])
        sums, squares = (members @ X).toarray(), (members @ X.multiply(X)).toarray()
    else:
        present = np.isfinite(X)
        n_present = np.maximum(present.sum(axis=0), 1)
        shift = np.where(present, X, 0.0).sum(axis=0) / n_present  # squares keep their digits
        centered = np.where(present, X - shift, 0.0)
        counts, sums = members @ present.astype(np.float64), members @ centered
        squares = members @ centered**2
    others = counts.sum(axis=0) - counts
    inside, outside = _ratio(sums, counts), _ratio(sums.sum(axis=0) - sums, others)
    spread = squares - np.nan_to_num(inside) ** 2 * counts
    spread += squares.sum(axis=0) - squares - np.nan_to_num(outside) ** 2 * others
    deviation = np.sqrt(np.maximum(_ratio(spread, counts + others - 2.0), 0.0))
    difference = inside - outside
    scale = np.maximum(np.abs(inside), np.abs(outside))
    deviation[deviation <= 1e-9 * scale] = 0.0  # rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(np.abs(difference) <= 1e-12 * scale, 0.0, difference / deviation)
    effect[np.isnan(difference)] = np.nan
    return _moved(inside, shift), _moved(outside, shift), effect


def _moved(mean: NDArray[np.float64], shift: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add the shift back; what only rounding leaves is zero."""
    moved = mean + shift
    return np.where(np.abs(moved) <= 1e-12 * np.abs(shift), 0.0, moved)


def _shares(
    values: NDArray[np.int64], n_categories: int, codes: NDArray[np.int64], n_clusters: int
) -> _Tables:
    """Return the shares of categories inside and outside each cluster, and Cohen's h."""
    both = (codes >= 0) & (values >= 0)
    counts = np.zeros((n_clusters, n_categories))
    np.add.at(counts, (codes[both], values[both]), 1.0)
    totals = np.repeat(counts.sum(axis=1, keepdims=True), n_categories, axis=1)
    inside = _ratio(counts, totals)
    outside = _ratio(counts.sum(axis=0) - counts, totals.sum(axis=0) - totals)
    return inside, outside, 2.0 * (np.arcsin(np.sqrt(inside)) - np.arcsin(np.sqrt(outside)))


def _profiles_of_words(
    features: FeatureColumns,
    codes: NDArray[np.int64],
    clusters: NDArray[Any],
    sizes: NDArray[np.int64],
    n_features: int,
) -> ClusterProfiles:
    keywords = cluster_keywords(features.numbers, codes, features.names, n_keywords=n_features)
    absent = {"category": None, "inside": None, "outside": None}
    records = [
        {"cluster": clusters[k], "n_samples": int(sizes[k]), "feature": word, "kind": "word"}
        | {"effect": score, **absent}
        for k, scores in keywords.items()
        for word, score in scores.items()
    ]
    return ClusterProfiles(records, features.left_out)


def _ratio(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _are_counts(X: Any) -> bool:
    return bool((X.data >= 0).all() and np.array_equal(X.data, np.round(X.data)))
