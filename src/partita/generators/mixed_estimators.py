"""Make base partitions by any scikit-learn clusterers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, get_tags

from partita.generators._base import BaseGenerator, Labels
from partita.generators._estimators import check_clusterer, check_labels, clone_with_seed
from partita.generators._features import unit_rows

__all__ = ["MixedEstimators"]


class MixedEstimators(BaseGenerator):
    """Any scikit-learn clusterers, one partition each.

    Different algorithms make different errors. Every estimator with `fit_predict` can be used:
    k-means, DBSCAN, HDBSCAN, agglomerative or spectral clustering, Gaussian mixtures. Noise (a
    negative label) becomes a missing label.

    Parameters
    ----------
    estimators : list of clusterers
        Estimators, cloned before fitting. The same one may appear several times.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length before the estimators are fitted.
    n_jobs : int, optional
        Number of estimators fitted at the same time, each on one core. -1 uses all cores. By
        default `partita.get_config().n_threads`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds every estimator whose own `random_state` is None; others keep theirs.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, len(estimators))
        Labels of the base partitions, -1 for noise.
    n_clusters_ : array of shape (len(estimators),)
        Number of clusters of each partition.
    models_ : list
        The fitted clones.

    Notes
    -----
    `transform` exists if every estimator has `predict`. The estimators get the features in their
    original precision, sparse ones as CSR.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import MixedEstimators
    >>> clusterers = [KMeans(3), AgglomerativeClustering(4), DBSCAN(0.5)]
    >>> mixed = MixedEstimators(clusterers, random_state=0)
    >>> labels = mixed.fit_transform(load_iris().data)
    >>> labels.shape, int((labels == -1).sum())
    ((150, 3), 17)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "estimators": [list, tuple],
    }

    def __init__(
        self,
        estimators: Sequence[Any],
        *,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _predicts(self) -> bool:
        return all(hasattr(estimator, "predict") for estimator in self.estimators)

    def _count(self) -> int:
        return len(self.estimators)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if not self.estimators:
            raise ValueError("estimators is empty: expected at least one clusterer.")
        for i, estimator in enumerate(self.estimators):
            check_clusterer(estimator, f"estimators[{i}]")
        return super()._validate(X, reset=reset)

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        return unit_rows(X) if self.metric == "cosine" else X

    def _partition(self, X: Any, index: int, rng: np.random.Generator) -> tuple[Labels, Any]:
        estimator = clone_with_seed(self.estimators[index], rng)
        return check_labels(estimator.fit_predict(X), f"estimators[{index}]"), estimator

    def _predict(self, model: Any, X: Any) -> Labels:
        return check_labels(model.predict(X), f"estimators[{self.models_.index(model)}]")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(get_tags(e).input_tags.sparse for e in self.estimators)
        return tags
