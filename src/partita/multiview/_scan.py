"""`scan_k_views`: the number of clusters of several views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.generators import RandomRows
from partita.generators.generation import cuts_a_graph, rows_of_partition
from partita.multiview._partitions import join_tables, label_view, prepare_generators
from partita.multiview._views import Views, read_views
from partita.select_k import (
    Evidence,
    KScan,
    ScannedFeatures,
    scan_generated,
    scan_numbers,
    uniform_reference,
)

__all__ = ["scan_k_views", "scan_views"]

_RATIO = 0.8  # of the samples of a view that a partition clusters


class _ScannedViews(ScannedFeatures):
    """Views, and what returns the generators of their partitions for k and a seed."""

    def __init__(self, views: Views, generators: Callable[[int, int], dict[str, Any]]) -> None:
        self._views, self._generators = views, generators
        self.n_samples = views.n_samples

    def partitions(self, numbers: Sequence[int], random_state: int) -> Iterator[Ensemble]:
        for k in numbers:
            generators = self._generators(k, random_state)
            tables = {
                name: label_view(self._views, v, generators[name].fit_transform)
                for v, name in enumerate(self._views.names)
            }
            yield join_tables(tables, self._views)

    def reference(self, rng: np.random.Generator) -> Self:
        """Draw all features of a sample together, so that views depend on each other as they do."""
        present = self._views.present
        filled = [
            self._views.expand(v, matrix - matrix.mean(axis=0), 0.0)
            for v, matrix in enumerate(self._views.matrices)
        ]
        drawn = uniform_reference(np.hstack(filled), rng)
        ends = np.cumsum([matrix.shape[1] for matrix in filled])[:-1]
        matrices = [m[present[:, v]] for v, m in enumerate(np.split(drawn, ends, axis=1))]
        return self._with(matrices, self._views)

    def subset(self, rows: NDArray[np.int64]) -> Self:
        present = self._views.present
        chosen = np.zeros(self.n_samples, np.bool_)
        chosen[rows] = True
        matrices = [m[chosen[present[:, v]]] for v, m in enumerate(self._views.matrices)]
        ids = self._views.sample_ids
        part = replace(
            self._views, present=present[chosen], sample_ids=None if ids is None else ids[chosen]
        )
        return self._with(matrices, part)

    def _with(self, matrices: list[NDArray[np.float64]], views: Views) -> Self:
        return type(self)(replace(views, matrices=tuple(matrices)), self._generators)

    def evidence(self) -> Evidence:
        """Return the mean evidence of the views, each for the samples that it has."""
        is_graph = all(map(cuts_a_graph, self._generators(2, 0).values()))
        parts = [Evidence.of_features(m, is_graph=is_graph) for m in self._views.matrices]
        present = self._views.present.T
        return Evidence(
            parts[0].name,
            lambda labels: float(
                np.mean([part.of(labels[p]) for part, p in zip(parts, present, strict=True)])
            ),
        )


def scan_views(
    views: Views,
    generator: Any,
    k_range: Iterable[int] | None,
    *,
    partitions_per_view: int,
    feature_ratio: float | None,
    **options: Any,
) -> KScan:
    """Scan views that were read; parameters and `options` as in `scan_k_views`.

    Without `k_range`, the numbers are 2 to 10, or 2 to 30 if there may be more.
    """
    names = list(views.names)
    if sparse := [n for n, m in zip(names, views.matrices, strict=True) if sp.issparse(m)]:
        raise ValueError(
            f"View {sparse[0]!r} is sparse, and the null of a scan needs its principal axes. Pass "
            "the number of clusters, or reduce the view first, for example by TruncatedSVD."
        )

    def generators(k: int, seed: int) -> dict[str, Any]:
        made = prepare_generators(
            RandomRows(ratio=_RATIO) if generator is None else generator,
            names,
            n_clusters=k,
            partitions_per_view=partitions_per_view,
            feature_ratio=feature_ratio,
            rng=np.random.default_rng(seed),
        )
        for one in made.values():
            if {"k_min", "k_max"} <= one.get_params(deep=False).keys():
                one.set_params(k_min=k, k_max=k)
        return made

    dense = replace(views, matrices=tuple(np.asarray(m, np.float64) for m in views.matrices))

    def scan(numbers: Iterable[int]) -> KScan:
        return scan_generated(_ScannedViews(dense, generators), numbers, **options).decide()

    n_rows = [
        rows_of_partition(one, matrix.shape[0])
        for one, matrix in zip(generators(2, 0).values(), dense.matrices, strict=True)
    ]
    return scan_numbers(scan, k_range, views.n_samples, min(n_rows), dense.matrices)


def scan_k_views(
    views: Any,
    k_range: Iterable[int] | None = None,
    *,
    generator: Any = None,
    partitions_per_view: int = 20,
    feature_ratio: float | None = None,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    early_stop: bool = True,
    max_samples: int | None = None,
    random_state: Any = None,
    **options: Any,
) -> KScan:
    """Scan the number of clusters of several views.

    For every K the views are clustered into K clusters, and the partitions of all views are fused.
    The null ensembles come from the same generators on reference data without clusters: all
    features of a sample are drawn together, uniform in the box of the principal axes of all views,
    so that views which show the same thing still do. The rule is that of `partita.scan_k_features`,
    with the mean tightness of the views.

    Parameters
    ----------
    views : list or dict of views, AnnData or MuData
        Views of the same samples, all dense, see `read_views`.
    k_range : iterable of int, optional
        Numbers of clusters to try, each at least 2 and less than the number of samples. By default
        2 to 10, or 2 to 30 if there may be more than 10, no more than the samples of a view allow.
    generator : str, class, transformer, or list or dict by view, optional
        What makes the partitions of a view. `RandomRows(ratio=0.8)` by default: k-means on random
        samples of the rows, with all features of the view.
    partitions_per_view, feature_ratio
        As in `MultiViewClustering`.
    method, n_resamples, n_null, early_stop, max_samples, random_state
        As in `partita.scan_k_features`.
    **options
        `present`, `id_column`, `layer` and `sample_ids` of `read_views`.

    Returns
    -------
    KScan

    Examples
    --------
    >>> import numpy as np
    >>> from partita.multiview import scan_k_views
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> views = {name: rng.normal(y[:, None], 0.1, (60, d)) for name, d in [("a", 3), ("b", 4)]}
    >>> scan_k_views(views, range(2, 5), n_resamples=2, n_null=4, random_state=0).best_k
    3
    """
    return scan_views(
        read_views(views, **options),
        generator,
        k_range,
        partitions_per_view=partitions_per_view,
        feature_ratio=feature_ratio,
        method=method,
        n_resamples=n_resamples,
        n_null=n_null,
        early_stop=early_stop,
        max_samples=max_samples,
        random_state=random_state,
    )
