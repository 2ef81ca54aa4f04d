"""The base class of generators that run k-means on a part of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from math import isqrt
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from partita._threads import thread_pools
from partita.config import report_progress
from partita.generators._base import MISSING, POSITIVE_INT, BaseGenerator, Labels
from partita.generators._batched_kmeans import MOST_ROWS, batched_kmeans
from partita.generators._features import (
    Preparation,
    count_distinct_rows,
    has_direction,
    warn_without_direction,
)
from partita.generators._kmeans import CentroidModel, View, kmeans, select_features
from partita.generators._ranges import choose_k_range

__all__ = ["KMeansGenerator"]


class KMeansGenerator(BaseGenerator):
    """Base class of generators that run k-means on a part of the data.

    K_i is drawn uniformly from k_min..k_max and is at most the number of distinct rows. `RandomK`
    documents the parameters.
    """

    _preparation: Preparation

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "n_partitions": [POSITIVE_INT],
        "n_clusters": [None, POSITIVE_INT],
        "k_min": [None, POSITIVE_INT],
        "k_max": [None, POSITIVE_INT],
        "n_init": [POSITIVE_INT],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        n_clusters: int | None = None,
        k_min: int | None = None,
        k_max: int | None = None,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 50,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        """Draw the part of the data that one partition clusters."""

    def _n_rows(self, n_samples: int) -> int:
        """Return the number of samples that one partition clusters."""
        return n_samples

    @property
    def n_iter_(self) -> int:
        """Largest number of iterations of a k-means run."""
        return max(model.n_iter for model in self.models_)

    def _count(self) -> int:
        return self.n_partitions

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        if fitting:
            self._k_range(self._n_rows(X.shape[0]))
            self._preparation = Preparation.of(X, unit=self.metric == "cosine")
        if not fitting:
            return self._preparation.apply(X)
        prepared = self._training_rows(X)
        if self.metric == "cosine":
            warn_without_direction(prepared)
        return prepared

    def _training_rows(self, X: Any) -> Any:
        """Return the training features in the form that a `View` indexes."""
        return self._preparation.apply(X)

    def _k_range(self, n_rows: int) -> tuple[int, int]:
        """Return the smallest and largest K_i for partitions of `n_rows` rows."""
        return choose_k_range(n_rows, self.k_min, self.k_max, self.n_clusters, isqrt(n_rows))

    def _partition(
        self, X: Any, index: int, rng: np.random.Generator
    ) -> tuple[Labels, CentroidModel]:
        unit = self.metric == "cosine"
        view = self._view(X.shape[0], X.shape[1], rng)
        part = X if view.rows is None else X[view.rows]
        part = select_features(part, view.features, unit)
        usable = part[has_direction(part)] if unit else part
        k_min, k_max = self._k_range(part.shape[0])
        k = count_distinct_rows(usable, int(rng.integers(k_min, k_max + 1)))
        if k == 0:  # no row has a direction, so none gets a label
            model = CentroidModel(np.zeros((1, part.shape[1]), np.float32), view.features, unit)
        else:
            run = kmeans(usable, k, self.n_init, self.max_iter, rng)
            model = CentroidModel(run.centers, view.features, unit, run.n_iter)
        if view.rows is None:
            return model.nearest(part), model
        labels = np.full(X.shape[0], MISSING, np.int32)
        labels[view.rows] = model.nearest(part)
        return labels, model

    def labels_for_each(self, X: Any, numbers: Sequence[int]) -> Iterable[Labels]:
        """Yield the labels of partitions of X into each of several numbers of clusters.

        They are made as by a fit with `k_min = k_max = k` for every number k. On few dense rows all
        partitions are made at once, which is several times as fast. Their labels are then others
        than those of the fit, because the random numbers are used in another order.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        numbers : sequence of int
            Numbers of clusters.

        Returns
        -------
        iterable of int32 arrays of shape (n_samples, n_partitions)
            One table of labels per number.
        """
        is_small = not sp.issparse(X) and len(X) <= MOST_ROWS
        if is_small and self.metric == "euclidean" and self.n_init == 1 and self._uses_all_features:
            return list(self._batches(X, numbers))
        return (clone(self).set_params(k_min=k, k_max=k).fit_transform(X) for k in numbers)

    @property
    def _uses_all_features(self) -> bool:
        """Whether every partition uses all features as they are."""
        return False

    def _batches(self, X: Any, numbers: Sequence[int]) -> Iterator[Labels]:
        """Yield the labels of all partitions into each number, made at once."""
        largest = clone(self).set_params(k_min=max(numbers), k_max=max(numbers))
        largest._validate_params()
        X = largest._validate(X, reset=True)
        n_samples = len(X)
        largest._k_range(largest._n_rows(n_samples))  # an error if there are fewer rows
        prepared = Preparation.of(X, unit=False).apply(X)
        streams = self._streams()
        for done, k in enumerate(numbers, start=1):
            rngs = [np.random.default_rng(stream) for stream in streams]
            weights = np.stack([self._weights(n_samples, rng) for rng in rngs])
            with thread_pools().limit(limits=1, user_api="blas"):
                labels = batched_kmeans(prepared, weights, k, self.max_iter, rngs)
            labels[weights == 0] = MISSING
            self._warn_of_labels(labels.T)
            report_progress("generate", done, len(numbers))
            yield labels.T

    def _warn_of_labels(self, labels: Labels) -> None:
        """Warn if the labels of all partitions lack something; a subclass says what."""

    def _weights(self, n_samples: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw how often every sample counts in one partition."""
        rows = self._view(n_samples, 1, rng).rows
        if rows is None:
            return np.ones(n_samples, np.float32)
        return np.bincount(rows, minlength=n_samples).astype(np.float32)
