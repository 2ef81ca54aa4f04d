"""Features in, one clustering out: a generator of partitions and a consensus of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import random_generator
from partita._sklearn_compat import HasMethods, Interval, fit_context, validate_data
from partita.consensus import LWGP
from partita.generators import RandomK
from partita.registry import prepare

__all__ = ["EnsembleClustering"]


def _both_parts_predict(self: EnsembleClustering) -> bool:
    generator, consensus = self._parts()
    return hasattr(generator, "transform") and hasattr(consensus, "predict")


class EnsembleClustering(ClusterMixin, BaseEstimator):
    """Cluster features by consensus of many partitions.

    Parameters
    ----------
    generator : transformer, optional
        Makes the partitions; `RandomK()` by default. A pipeline that ends in a generator will do.
    consensus : consensus method, optional
        Fuses them; `LWGP()` by default.
    n_clusters : int or None
        Clusters wanted; given to the consensus (and to the generator, if it has the parameter and
        none of its own). None leaves both as they are.
    random_state : int, Generator, RandomState or None
        Seeds both, where they have no seed of their own.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    generator_, consensus_ : the fitted parts
    ensemble_labels_ : array of shape (n_samples, n_partitions)
        The base partitions.

    Examples
    --------
    >>> from partita import EnsembleClustering
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> labels = EnsembleClustering(n_clusters=3, random_state=0).fit_predict(X)
    >>> labels.shape
    (150,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "generator": [HasMethods(["fit_transform"]), None],
        "consensus": [HasMethods(["fit"]), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        generator: Any = None,
        consensus: Any = None,
        *,
        n_clusters: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.generator = generator
        self.consensus = consensus
        self.n_clusters = n_clusters
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Generate partitions of the rows of X and fuse them."""
        X = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
        rng = random_generator(self.random_state)
        generator, consensus = self._parts()
        self.generator_ = prepare(generator, self.n_clusters, rng, keep_n_clusters=True)
        self.consensus_ = prepare(consensus, self.n_clusters, rng)
        self.ensemble_labels_ = self.generator_.fit_transform(X)
        self.consensus_.fit(self.ensemble_labels_)
        self.labels_ = self.consensus_.labels_
        self.n_clusters_ = self.consensus_.n_clusters_
        return self

    def _parts(self) -> tuple[Any, Any]:
        return (
            RandomK() if self.generator is None else self.generator,
            LWGP() if self.consensus is None else self.consensus,
        )

    @available_if(_both_parts_predict)
    def predict(self, X: Any) -> Any:
        """Label new samples, where both parts can."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return self.consensus_.predict(self.generator_.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
