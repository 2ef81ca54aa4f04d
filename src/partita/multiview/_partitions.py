"""Make the partitions of every view, and one ensemble of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import random_generator
from partita.ensemble import Ensemble
from partita.ensemble.view_names import name_partitions
from partita.exceptions import InvalidEnsembleError
from partita.generators import RandomFeatures, make_generator
from partita.multiview._containers import per_view
from partita.multiview._views import Views, read_views
from partita.registry import prepare

__all__ = [
    "MISSING",
    "check_labeled",
    "generate_partitions",
    "join_tables",
    "label_view",
    "prepare_generators",
    "view_generator",
]

MISSING = -1  # label of a sample that a view does not have
_PSEUDO_VIEW_RATIO = 0.5


def view_generator(
    generator: Any,
    n_partitions: int = 1,
    ratio: float | None = None,
    n_clusters: int | None = None,
) -> Any:
    """Return the generator of a view, with the published setting where it is at its defaults.

    Parameters
    ----------
    generator : str, class, transformer or None
        Generator as the user passed it; None is `RandomFeatures`.
    n_partitions : int, default=1
        Number of partitions of the view.
    ratio : float, optional
        Share of the features; by default one half, or 1 for a single partition.
    n_clusters : int, optional
        Number of clusters of the partitions of a `RandomFeatures`. By default its own.
    """
    made = make_generator(RandomFeatures if generator is None else generator)
    settings: dict[str, Any] = {"n_partitions": n_partitions}
    if isinstance(made, RandomFeatures):
        is_plain = made.n_partitions == 1 or (
            n_partitions == 1 and _is_default(made, "n_partitions")
        )
        settings["ratio"] = ratio or (1.0 if is_plain else _PSEUDO_VIEW_RATIO)
        if all(_is_default(made, name) for name in ("n_clusters", "k_min", "k_max")):
            settings |= {"k_min": n_clusters, "k_max": n_clusters}
    return made.set_params(**{k: v for k, v in settings.items() if _is_default(made, k)})


def _is_default(estimator: Any, name: str) -> bool:
    """Return whether an estimator has a parameter and leaves it at its default."""
    parameters = estimator.get_params(deep=False)
    if name not in parameters or name not in signature(type(estimator)).parameters:
        return False
    return bool(parameters[name] == signature(type(estimator)).parameters[name].default)


def prepare_generators(
    generator: Any,
    names: list[str],
    *,
    n_clusters: int | None,
    partitions_per_view: int,
    feature_ratio: float | None,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the generator of every view, ready to fit; parameters of `generate_partitions`."""
    is_per_view = isinstance(generator, (Mapping, list, tuple))
    generators = (
        per_view(generator, names, "generator") if is_per_view else [generator] * len(names)
    )
    return {
        name: prepare(
            view_generator(one, partitions_per_view, feature_ratio, n_clusters),
            n_clusters,
            rng,
            keep_n_clusters=True,
        )
        for name, one in zip(names, generators, strict=True)
    }


def label_view(views: Views, view: int, label: Callable[[Any], Any]) -> NDArray[np.int32]:
    """Return the labels of all samples by the partitions of one view, -1 where it has no sample."""
    try:
        labels = np.asarray(label(views.matrices[view]))
    except ValueError as error:
        raise ValueError(f"View {views.names[view]!r}: {error}") from error
    return views.expand(view, labels, MISSING)


def join_tables(tables: Mapping[str, NDArray[np.int32]], views: Views) -> Ensemble:
    """Return the partitions of all views as one ensemble with names of views and samples."""
    table = np.hstack([*tables.values()])
    names = [name for view in tables for name in name_partitions(view, tables[view].shape[1])]
    return Ensemble.from_partitions(
        table, sample_ids=views.sample_ids, partition_names=names, unlabeled="keep"
    )


def check_labeled(partitions: Ensemble) -> None:
    """Raise an error for samples that no partition labels."""
    unlabeled = np.flatnonzero(~partitions.observed.any(axis=1))
    if len(unlabeled):
        first, ids = int(unlabeled[0]), partitions.sample_ids
        raise InvalidEnsembleError(
            f"{len(unlabeled)} sample(s) have no label in any partition, first sample "
            f"{first if ids is None else ids[first]!r}: the generators left them out, or all their "
            "features are zero and the metric is cosine. Make more partitions, or drop these "
            "samples."
        )


def generate_partitions(
    views: Any,
    generator: Any = None,
    *,
    n_clusters: int | None = None,
    partitions_per_view: int = 20,
    feature_ratio: float | None = None,
    random_state: Any = None,
    **options: Any,
) -> Ensemble:
    """Cluster every view many times and return the partitions of all views.

    Parameters
    ----------
    views : list or dict of views, AnnData or MuData
        Views of the same samples, see `read_views`.
    generator : str, class, transformer, or list or dict by view, optional
        What makes the partitions of a view. `RandomFeatures()` by default.
    n_clusters : int, optional
        Number of clusters that you expect in the consensus. By default generators use their own.
    partitions_per_view : int, default=20
        Number of partitions of each view, for generators that leave `n_partitions` at its default.
    feature_ratio : float in (0, 1], optional
        Share of the features of a view that a partition uses, for a `RandomFeatures` that leaves
        `ratio` at its default. By default 0.5, and 1 with one partition per view.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the generators, wherever their own `random_state` is None.
    **options
        `present`, `id_column`, `layer` and `sample_ids` of `read_views`.

    Returns
    -------
    Ensemble
        Partitions named "view/1", "view/2", ..., with missing labels where a view does not have a
        sample.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.multiview import generate_partitions
    >>> views = {"a": np.eye(6), "b": np.eye(6, 2)[:4]}
    >>> partitions = generate_partitions(
    ...     views, n_clusters=2, partitions_per_view=1, present={"b": [0, 1, 2, 3]}, random_state=0
    ... )
    >>> partitions.partition_names.tolist()
    ['a/1', 'b/1']
    >>> partitions.n_missing
    2
    """
    data = read_views(views, **options)
    generators = prepare_generators(
        generator,
        list(data.names),
        n_clusters=n_clusters,
        partitions_per_view=partitions_per_view,
        feature_ratio=feature_ratio,
        rng=random_generator(random_state),
    )
    tables = {
        name: label_view(data, v, generators[name].fit_transform)
        for v, name in enumerate(data.names)
    }
    return join_tables(tables, data)
