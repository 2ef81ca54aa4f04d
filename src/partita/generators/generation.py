"""`generate`: make the base partitions of a feature matrix in one call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from partita._warn import warn_user
from partita.ensemble import Ensemble
from partita.ensemble.view_names import views_of_partitions
from partita.generators._base import BaseGenerator
from partita.generators._graph_generator import GraphGenerator
from partita.generators._kmeans_generator import KMeansGenerator
from partita.generators.landmark_spectral import LandmarkSpectral
from partita.generators.random_features import RandomFeatures
from partita.generators.random_k import RandomK
from partita.generators.random_leiden import RandomLeiden
from partita.generators.random_metrics import RandomMetrics
from partita.generators.random_projections import RandomProjections
from partita.generators.random_rows import RandomRows
from partita.generators.scaling import make_scaler
from partita.generators.spectral_bandwidths import SpectralBandwidths

__all__ = [
    "GENERATORS",
    "cuts_a_graph",
    "default_metric",
    "generate",
    "generate_for_each",
    "make_generator",
    "mark_of",
    "marked_names",
    "rows_of_partition",
    "warn_if_generated",
]


def _key(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


# Every generator that can be made from a key alone.
GENERATORS: dict[str, type[BaseGenerator]] = {
    _key(cls): cls
    for cls in (
        RandomK,
        LandmarkSpectral,
        RandomFeatures,
        RandomMetrics,
        RandomProjections,
        RandomRows,
        RandomLeiden,
        SpectralBandwidths,
    )
}


def generate(X: Any, generator: Any = "landmark_spectral", **parameters: Any) -> Ensemble:
    """Cluster features many times and return the partitions.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features, used as they are; `make_scaler` decides whether they should be standardized.
    generator : str, class or generator, default="landmark_spectral"
        What makes the partitions: "random_k", "landmark_spectral", "random_features",
        "random_metrics", "random_projections", "random_rows", "random_leiden",
        "spectral_bandwidths", or any generator of `partita.generators`. A generator object is
        cloned, not changed.
    **parameters
        Parameters of the generator, such as `n_partitions`, `n_clusters` and `random_state`.

    Returns
    -------
    Ensemble
        One partition per column, ready for `partita.fuse` or any consensus method. Its
        `partition_names` have the key of the generator, by which `partita.scan_k` sees that the
        partitions come from features.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import generate
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> generate(X, n_partitions=5, n_clusters=3, random_state=0)
    Ensemble(50 samples, 5 partitions, 4 to 8 clusters each)
    """
    made = make_generator(generator, **parameters)
    partitions = made.fit_transform(X)
    _warn_of_units(X, made)
    return _named(partitions, made)


def generate_for_each(
    X: Any, generator: Any, numbers: Sequence[int], *, random_state: int
) -> Iterator[Ensemble]:
    """Yield partitions of X into k clusters for every number k, all with one seed.

    Parameters
    ----------
    X, generator
        As in `generate`; the generator has the parameters k_min, k_max and random_state.
    numbers : sequence of int
        Numbers of clusters.
    random_state : int
        Seed.
    """
    made = make_generator(generator, random_state=random_state)
    _warn_of_units(X, made)
    tables: Iterable[Any]
    if isinstance(made, GraphGenerator | KMeansGenerator):
        tables = made.labels_for_each(X, numbers)
    else:
        tables = (make_generator(made, k_min=k, k_max=k).fit_transform(X) for k in numbers)
    for partitions in tables:
        yield _named(partitions, made)


def cuts_a_graph(generator: Any) -> bool:
    """Return whether the clusters of a generator may have any shape."""
    return isinstance(make_generator(generator), GraphGenerator)


def default_metric(X: Any) -> str:
    """Return how sparse features are compared: by the cosine, unless a row has no direction."""
    has_directions = np.asarray(abs(X).sum(axis=1)).all()
    return "cosine" if has_directions else "euclidean"


def rows_of_partition(generator: Any, n_samples: int) -> int:
    """Return how many of the samples a partition of a generator clusters."""
    made = make_generator(generator)
    return made._n_rows(n_samples) if isinstance(made, KMeansGenerator) else n_samples


def _warn_of_units(X: Any, generator: Any) -> None:
    table = X if sp.issparse(X) else np.asarray(X)
    table = table.astype(np.float64) if table.dtype == object else table
    if getattr(generator, "metric", None) == "euclidean" and make_scaler(table) is not None:
        warn_user(
            "The features have very different spreads, as if in different units, so that the "
            "distances depend on few of them. Standardize them (`StandardScaler`), or use "
            "`EnsembleClustering`, which does."
        )


def _named(partitions: Any, generator: Any) -> Ensemble:
    names = marked_names(generator, partitions.shape[1])
    return Ensemble.from_partitions(partitions, unlabeled="keep", partition_names=names)


def marked_names(generator: Any, n_partitions: int) -> list[str]:
    """Return names of partitions that say which generator made them: random_k_0, random_k_1, ..."""
    return [f"{_key(type(generator))}_{i}" for i in range(n_partitions)]


def mark_of(names: Iterable[str]) -> str | None:
    """Return the key of the generator that made all partitions by their names, or None."""
    keys = {str(name).rpartition("_")[0] for name in names}
    return keys.pop() if len(keys) == 1 and keys <= {*GENERATORS, "mixed_estimators"} else None


def warn_if_generated(ensemble: Ensemble, consequence: str) -> None:
    """Warn that a null of labels alone is too weak, if generators made all partitions.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions; their names tell.
    consequence : str
        What may happen, as the end of the sentence "..., so that".
    """
    names = ensemble.partition_names
    if names is None:
        return
    origin, scan = mark_of(names), "scan_k_features, or `partita scan-k FEATURES --features`"
    if origin is None and views_of_partitions(names) is not None:
        origin, scan = "several views, by their names", "partita.multiview.scan_k_views"
    if origin is not None:
        warn_user(
            f"The partitions were generated from features ({origin}). Such partitions of noise "
            f"agree with each other, so that {consequence}. Scan the features instead: {scan}."
        )


def make_generator(generator: Any, **parameters: Any) -> BaseGenerator:
    """Return a generator object with these parameters, each of which it must have."""
    if isinstance(generator, str):
        key = generator.lower().replace("-", "_")
        if key not in GENERATORS:
            close = get_close_matches(key, GENERATORS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"No generator {generator!r}.{hint} Available: {', '.join(GENERATORS)}."
            )
        generator = GENERATORS[key]
    made: BaseGenerator = generator() if isinstance(generator, type) else clone(generator)
    accepted = made.get_params(deep=False)
    if unknown := [name for name in parameters if name not in accepted]:
        raise ValueError(
            f"{type(made).__name__} has no parameter {unknown[0]!r}; it has {', '.join(accepted)}."
        )
    return made.set_params(**parameters)
