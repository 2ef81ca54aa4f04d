"""The base class of all generators: seeds, threads, progress and output."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import random_generator
from partita._sklearn_compat import Interval, StrOptions, fit_context, fitting, validate_data
from partita._threads import thread_pools
from partita.config import get_config, report_progress
from partita.generators._features import check_range

__all__ = ["MISSING", "POSITIVE_INT", "BaseGenerator", "Labels", "few_clusters_allowed"]

MISSING = -1  # label of a sample that a partition does not label
POSITIVE_INT = Interval(Integral, 1, None, closed="left")
Labels = NDArray[np.int32]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@contextmanager
def few_clusters_allowed() -> Iterator[None]:
    """Ignore k-means warnings of fewer clusters than asked for: `n_clusters_` has the numbers.

    Around all threads: they would disturb each other's filters.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        yield


class BaseGenerator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Transform features to a table of labels with one column per base partition.

    A subclass stores its parameters and defines how the features are prepared (`_prepare`), the
    number of partitions (`_count`) and how to make one partition (`_partition`). Every partition
    has its own stream of random numbers, spawned from `random_state`, and runs on one thread.
    Therefore the labels depend neither on `n_jobs` nor on the number of partitions that follow.
    """

    metric: str
    n_jobs: int | None
    random_state: Any
    labels_: Labels
    n_clusters_: NDArray[np.int64]
    models_: list[Any]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "metric": [StrOptions({"euclidean", "cosine"})],
        "n_jobs": [
            None,
            Interval(Integral, None, -1, closed="right"),
            POSITIVE_INT,
        ],
        "random_state": ["random_state", np.random.Generator],
    }

    @abstractmethod
    def _count(self) -> int:
        """Return the number of partitions."""

    @abstractmethod
    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        """Return validated features in the form that `_partition` needs.

        With `fitting`, also store what `transform` needs to prepare new samples in the same way.
        """

    @abstractmethod
    def _partition(self, X: Any, index: int, rng: np.random.Generator) -> tuple[Labels, Any]:
        """Return the labels of the training samples, and a model with `predict` or None."""

    def _predicts(self) -> bool:
        """Return whether the models can label new samples."""
        return True

    def _predict(self, model: Any, X: Any) -> Labels:
        """Return the labels of prepared new samples by the model of one partition."""
        labels: Labels = model.predict(X)
        return labels

    def _jobs(self) -> int:
        """Return the number of partitions to make at the same time."""
        return int(effective_n_jobs(get_config().n_threads if self.n_jobs is None else self.n_jobs))

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the base partitions of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X)

    def _fit(self, X: Any) -> Self:
        X = self._prepare(self._validate(X, reset=True), fitting=True)
        count = self._count()
        streams = enumerate(self._streams())
        labels = np.empty((X.shape[0], count), np.int32, order="F")
        models = []

        def make(item: tuple[int, np.random.SeedSequence]) -> tuple[Labels, Any]:
            return self._partition(X, item[0], np.random.default_rng(item[1]))

        with few_clusters_allowed():
            for i, (column, model) in enumerate(self._run("generate", make, list(streams))):
                labels[:, i] = column
                models.append(model)
        self.models_, self.labels_ = models, labels
        self.n_clusters_ = np.asarray([_n_distinct(column) for column in labels.T], np.int64)
        return self

    def _streams(self) -> list[np.random.SeedSequence]:
        """Return the seed of every partition."""
        entropy = random_generator(self.random_state).integers(2**32, size=4).tolist()
        return np.random.SeedSequence(entropy).spawn(self._count())

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Labels:
        """Make the base partitions of X and return their labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        labels : int32 array of shape (n_samples, n_partitions)
            -1 where a partition does not label a sample.
        """
        return self.fit(X, y, **fit_params).labels_

    def transform(self, X: Any) -> Labels:
        """Label new samples with the fitted partitions.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : int32 array of shape (n_samples, n_partitions)
            -1 where a partition does not label a sample.
        """
        check_is_fitted(self, "models_")
        X = self._prepare(self._validate(X, reset=False), fitting=False)
        labels = np.empty((X.shape[0], len(self.models_)), np.int32, order="F")
        columns = self._run("transform", lambda model: self._predict(model, X), self.models_)
        for i, column in enumerate(columns):
            labels[:, i] = column
        return labels

    def _validate(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
        if reset:
            self._fitted_sparse = sp.issparse(X)
        elif sp.issparse(X) != self._fitted_sparse:  # only the form of the fit is prepared alike
            X = sp.csr_matrix(X) if self._fitted_sparse else X.toarray()
        return check_range(X)

    def _run(
        self, task: str, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[_Result]:
        """Yield the results in order, computed on `n_jobs` threads of one core each.

        Reports progress under the name `task`.
        """
        controller = thread_pools()

        def on_one_core(item: _Item) -> _Result:
            # OpenMP counts threads per calling thread, so each worker sets its own limit.
            with controller.limit(limits=1, user_api="openmp"):
                return work(item)

        jobs = min(self._jobs(), len(items))
        with ExitStack() as stack:
            stack.enter_context(controller.limit(limits=1, user_api="blas"))
            apply: Any = map if jobs == 1 else stack.enter_context(ThreadPoolExecutor(jobs)).map
            for done, result in enumerate(apply(on_one_core, items), start=1):
                report_progress(task, done, len(items))
                yield result

    @property
    def _n_features_out(self) -> int:
        return int(self.labels_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        return tags


# scikit-learn wraps `transform` for set_output when the class is created, which would hide the
# condition. So the condition is added afterwards.
BaseGenerator.transform = available_if(  # type: ignore[method-assign]
    lambda generator: generator._predicts()
)(BaseGenerator.transform)


def _n_distinct(labels: Labels) -> int:
    return len(np.unique(labels[labels != MISSING]))
