"""Make the partitions of every view, and one ensemble of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.ensemble.view_names import name_partitions
from partita.exceptions import InvalidEnsembleError
from partita.generators import RandomFeatures, make_generator
from partita.multiview._views import Views

__all__ = ["MISSING", "join_tables", "label_view", "view_generator"]

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
    unlabeled = np.flatnonzero((table == MISSING).all(axis=1))
    if len(unlabeled):
        first = int(unlabeled[0])
        raise InvalidEnsembleError(
            f"{len(unlabeled)} sample(s) have no label in any partition, first sample "
            f"{first if views.sample_ids is None else views.sample_ids[first]!r}: the generators "
            "left them out, or all their features are zero and the metric is cosine. Make more "
            "partitions, or drop these samples."
        )
    return Ensemble.from_partitions(table, sample_ids=views.sample_ids, partition_names=names)
