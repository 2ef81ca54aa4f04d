"""`cluster_keywords`: the features that distinguish each cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.label_vector import code_labels
from partita._memory import require_memory
from partita._sklearn_compat import refuse_anndata
from partita.io.feature_files import FeatureFiles

__all__ = ["cluster_keywords"]

_ROWS = 1 << 14  # per block
_TABLES = 3  # of clusters by features, held at once


def cluster_keywords(
    X: Any,
    labels: Any,
    names: Sequence[str] | None = None,
    *,
    n_keywords: int = 10,
    idf: bool = True,
) -> dict[Any, dict[str, float]]:
    """Return the keywords of every cluster: features with more weight in it than elsewhere.

    The score of feature j in cluster k is a difference of means,

        s_kj = mean of u_xj over the samples x in k  -  mean of u_xj over the other samples,

    where u_x is the row of sample x, scaled to length 1. For texts, X has the number of times that
    document x contains term j, and the count is first multiplied by the inverse document frequency
    log((1 + n) / (1 + n_j)) + 1 for n documents of which n_j contain the term. A term that is
    frequent everywhere has a score near 0.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or files as in `segment`
        Features that are not negative, such as counts of terms. Files are read in blocks.
    labels : array-like of shape (n_samples,)
        The clusters. Samples with -1, None or NaN are left out.
    names : sequence of str, optional
        Name of every feature, for example `get_feature_names_out()` of a vectorizer. By default
        their numbers.
    n_keywords : int, default=10
        Largest number of keywords of a cluster.
    idf : bool, default=True
        Whether to multiply by the inverse document frequency. Pass False if X already has weights,
        for example tf-idf.

    Returns
    -------
    dict of cluster to dict of str to float
        For every cluster its keywords with their scores, highest score first; only features with a
        positive score. Joining a cluster's entry gives a line as in Table 7 of the paper.

    Notes
    -----
    One pass over the rows, two with `idf`. Memory 24 K n_features bytes for K clusters. With one
    cluster there are no other samples, and the score is the mean in the cluster.

    Deviation from the paper: it does not say how the keywords were chosen.

    References
    ----------
    Section 7.3 of Liu, Wu, Liu, Tao, Fu. Spectral Ensemble Clustering via Weighted K-Means:
    Theoretical and Practical Evidence. IEEE TKDE 29(5), 2017.

    Examples
    --------
    >>> from partita.diagnostics import cluster_keywords
    >>> counts = [[2, 1, 0], [1, 1, 0], [0, 1, 3]]
    >>> keywords = cluster_keywords(counts, [0, 0, 1], ["goal", "the", "vote"])
    >>> {cluster: list(words) for cluster, words in keywords.items()}
    {0: ['goal', 'the'], 1: ['vote']}
    """
    if n_keywords < 1:
        raise ValueError(f"n_keywords={n_keywords} must be at least 1.")
    features = _as_features(X)
    n_samples, n_features = features.shape
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"names has {len(names)} entries, expected one for each of the {n_features} features."
        )
    if names is not None and len(set(names)) != n_features:
        raise ValueError("names must be distinct: keywords are returned by name.")
    codes, clusters = code_labels(labels, n_samples)
    sizes = np.bincount(codes[codes >= 0], minlength=len(clusters)).astype(np.float64)
    require_memory(
        8 * len(clusters) * n_features * _TABLES,
        f"Scores of {n_features} features in {len(clusters)} clusters",
        lambda _: "Keep fewer features.",
    )
    factors = _inverse_frequencies(features, codes) if idf else None
    sums = np.zeros((len(clusters), n_features))
    for rows, own in _blocks(features, codes):
        members = sp.csr_matrix(
            (np.ones(len(own)), (own, np.arange(len(own)))), shape=(len(clusters), len(own))
        )
        part = members @ _unit_rows(rows, factors)
        sums += part.toarray() if sp.issparse(part) else part
    others = (sums.sum(axis=0) - sums) / np.maximum(sizes.sum() - sizes, 1.0)[:, None]
    scores = sums / sizes[:, None] - others
    return {
        cluster: _best(row, names, n_keywords)
        for cluster, row in zip(clusters.tolist(), scores, strict=True)
    }


def _as_features(X: Any) -> Any:
    """Return files, or a matrix in memory by rows."""
    sources = X if isinstance(X, list | tuple) and X else [X]
    if isinstance(X, FeatureFiles) or all(isinstance(s, str | Path | np.memmap) for s in sources):
        return FeatureFiles.of(X)
    if sp.issparse(X):
        return sp.csr_matrix(X)
    refuse_anndata(X)
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"X must have rows and columns, got shape {matrix.shape}.")
    return matrix


def _blocks(features: Any, codes: NDArray[np.int64]) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """Yield the samples with a label in blocks, and their clusters."""
    for start in range(0, len(codes), _ROWS):
        rows = start + np.flatnonzero(codes[start : start + _ROWS] >= 0)
        if len(rows):
            block = features.take(rows) if isinstance(features, FeatureFiles) else features[rows]
            block = block.astype(np.float64)
            if not np.isfinite(block.data if sp.issparse(block) else block).all():
                raise ValueError(
                    f"X must have finite numbers, got NaN or infinity in samples {rows[0]} to "
                    f"{rows[-1]}. Replace them, for example by 0 where a word is absent."
                )
            yield block, codes[rows]


def _inverse_frequencies(features: Any, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    counts = np.zeros(features.shape[1])
    for rows, _ in _blocks(features, codes):
        counts += np.asarray((rows != 0).sum(axis=0)).ravel()
    n = np.count_nonzero(codes >= 0)
    frequencies: NDArray[np.float64] = np.log((1 + n) / (1 + counts)) + 1
    return frequencies


def _unit_rows(rows: Any, factors: NDArray[np.float64] | None) -> Any:
    from sklearn.preprocessing import normalize  # takes long, so only when needed

    if factors is not None:
        rows = rows @ sp.diags(factors) if sp.issparse(rows) else rows * factors
    return normalize(rows)


def _best(
    scores: NDArray[np.float64], names: Sequence[str] | None, n_keywords: int
) -> dict[str, float]:
    order = np.argsort(-scores, kind="stable")[:n_keywords]
    return {str(j if names is None else names[j]): float(scores[j]) for j in order if scores[j] > 0}
