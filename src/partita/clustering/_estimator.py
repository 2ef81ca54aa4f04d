"""The estimator from features to labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partita._input.checks import check_n_clusters, random_generator
from partita._sklearn_compat import (
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
    fitting,
    validate_data,
)
from partita.clustering._rivals import best_consensus
from partita.generators import (
    GENERATORS,
    SCALES,
    LandmarkSpectral,
    RandomK,
    make_generator,
    make_scaler,
)
from partita.generators.generation import default_metric
from partita.matrices.cluster_profiles import ClusterProfiles
from partita.registry import prepare
from partita.select_k import choose_number, scan_for_number

__all__ = ["EnsembleClustering"]

_N_PARTITIONS = 50  # by default, of each kind
_LANDMARKS = (1000, 2000)  # of graph cuts, at least and at most: half of the samples


def _can_predict(self: EnsembleClustering) -> bool:
    return hasattr(self._generators()[0], "transform")


class EnsembleClustering(ClusterMixin, BaseEstimator):
    """Cluster features by consensus of many partitions.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus. The generator gets it too, if it has this parameter
        and leaves it at its default. By default the number that `method` was given, and otherwise
        the suggestion of `partita.scan_k_features` from 2 to 10, or from 2 to 30 if there may be
        more than 10, see Notes.
    generator : str, class or transformer, optional
        What makes the partitions: the key, class or object of a generator, or a pipeline that ends
        in one. By default graph cuts and k-means, see Notes.
    method : str, class or estimator, optional
        Consensus method that fuses them: its key, class or estimator. `CCGP()` by default.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether features are standardized: always, never, or ("auto") if they are dense and the
        largest standard deviation of a feature is more than 10 times the median one, as for
        features in different units. "auto" leaves the features to a pipeline, to
        `MixedEstimators`, to generators from elsewhere, and to `metric="cosine"`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of both parts, wherever their own `random_state` is None.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every sample.
    n_clusters_ : int
        Number of clusters in `labels_`.
    scan_ : KScan or None
        The scan that chose the number of clusters; None if it was passed.
    partitions_ : array of shape (n_samples, n_partitions)
        The base partitions, -1 where a label is missing.
    scaler_ : StandardScaler or None
        Standardization of the features; None if they are used as they are.
    generator_ : transformer
        The fitted generator; a `FeatureUnion` if partitions of two are fused.
    method_ : estimator
        The fitted consensus method.

    Notes
    -----
    By default there are 50 graph cuts (`LandmarkSpectral`, with half of the samples as landmarks,
    but 1000 at least and 2000 at most) and 50 partitions by k-means (`RandomK`). Three consensus
    clusterings are compared, of the graph cuts, of k-means and of both. The one with the most
    isolated clusters is the result: the fewest of the five nearest neighbors of the samples are in
    another cluster, compared with random clusters of the same sizes. Sparse features have graph
    cuts only; they are taken for counts of words and compared by the cosine, unless a row is empty
    and has no direction. Pass a generator to choose it yourself.

    The scan clusters the features, and reference data without clusters, for every number. This
    takes much longer than the consensus: pass `n_clusters` if you know it. The scan uses
    `generator`, by default graph cuts, if that has the parameters k_min and k_max, with at most 20
    partitions per number, and at most 2000 samples, drawn at random. A generator that cuts a graph
    finds isolated clusters of any shape, but joins round ones that touch. If the features are
    dense, these are found by a second scan, by k-means. Its number is taken if graph cuts into that
    number find the same clusters, or if they find no structure. If the suggestion is 10, or if the
    spectrum of a graph of neighbors has its largest gap after more than 10 eigenvalues, the numbers
    from 2 to 30 are scanned. If no number does better than the reference data, a
    warning says so, and all samples are one cluster.

    Examples
    --------
    >>> from partita import EnsembleClustering
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> labels = EnsembleClustering(n_clusters=3, random_state=0).fit_predict(X)
    >>> labels.shape
    (150,)
    >>> EnsembleClustering(3, random_state=0).fit(X[::2]).predict(X[1::2]).shape
    (75,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "generator": [str, HasMethods(["fit_transform"]), None],
        "method": [str, HasMethods(["fit"]), None],
        "scale": [StrOptions(set(SCALES))],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        generator: Any = None,
        method: Any = None,
        scale: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.generator = generator
        self.method = method
        self.scale = scale
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Generate partitions of the rows of X and fuse them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored, default=None
            Present for compatibility with scikit-learn.
        """
        with fitting(self):
            return self._fit(X)

    def _fit(self, X: Any) -> Self:
        X = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, X.shape[0])
        rng = random_generator(self.random_state)
        generators = self._generators(X)
        method = prepare("ccgp" if self.method is None else self.method)
        self.scaler_ = make_scaler(X, self._scale(generators[0]))
        features = self._scaled(X)
        n_clusters, self.scan_ = choose_number(
            self.n_clusters, method, lambda: scan_for_number(features, generators[0], method, rng)
        )
        if self.generator is None:  # after the scan, which draws fewer samples
            n_landmarks = int(np.clip(X.shape[0] // 2, *_LANDMARKS))
            generators[0].set_params(n_landmarks=n_landmarks)
        best = best_consensus(features, generators, method, n_clusters, rng)
        self.generator_, self.method_ = best.generator, best.method
        self.partitions_ = best.partitions
        self.labels_ = self.method_.labels_
        self.n_clusters_ = self.method_.n_clusters_
        return self

    def _scale(self, generator: Any) -> str:
        """Return the treatment of the features, "none" for generators that choose it themselves."""
        is_ours = type(generator) in GENERATORS.values() and generator.metric == "euclidean"
        return "none" if self.scale == "auto" and not is_ours else self.scale

    def _scaled(self, X: Any) -> Any:
        return X if self.scaler_ is None else self.scaler_.transform(X)

    def _generators(self, X: Any = None) -> list[Any]:
        """Return the generators whose consensus clusterings of X are compared."""
        if self.generator is not None:
            return [make_generator(self.generator)]
        if sp.issparse(X):
            return [LandmarkSpectral(_N_PARTITIONS, metric=default_metric(X))]
        return [LandmarkSpectral(_N_PARTITIONS), RandomK(_N_PARTITIONS)]

    @available_if(_can_predict)
    def predict(self, X: Any) -> Any:
        """Label new samples; available if the generator has `transform`.

        The generator labels the samples by the fitted partitions. The method's own `predict` then
        gives the cluster; for a method without one, it is the cluster with the largest item
        consensus, -1 for a sample without any label. Samples of the fit may therefore get another
        cluster than in `labels_` if they are doubtful.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        partitions = self._new_partitions(X)
        if hasattr(self.method_, "predict"):
            return self.method_.predict(partitions)
        return self._profiles().nearest(partitions)[0]

    @available_if(_can_predict)
    def predict_confidence(self, X: Any) -> Any:
        """Return the largest item consensus of each new sample with a cluster, 0 to 1.

        It is the confidence of `predict`, for a method without a `predict` of its own exactly.
        NaN for a sample without any label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        partitions = self._new_partitions(X)
        return self._profiles().nearest(partitions)[1]

    def _new_partitions(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return self.generator_.transform(self._scaled(X))

    def _profiles(self) -> ClusterProfiles:
        return ClusterProfiles(np.asarray(self.partitions_), np.asarray(self.labels_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
