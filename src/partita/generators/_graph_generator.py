"""The base class of generators that cut a graph of the samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

from partita.generators._base import BaseGenerator, Labels, few_clusters_allowed

__all__ = ["DrawnGraph", "GraphGenerator"]


class DrawnGraph(ABC):
    """The graph of one partition, which can be cut into several numbers of clusters."""

    @abstractmethod
    def cut(self, k: int, rng: np.random.Generator) -> tuple[Labels, Any]:
        """Return the labels of a cut into k clusters, and its model or None."""


class GraphGenerator(BaseGenerator):
    """Draw a graph of the samples for every partition and cut it.

    A subclass defines how to draw the number of clusters and the graph of a partition (`_draw`).
    """

    @abstractmethod
    def _draw(self, X: Any, rng: np.random.Generator) -> tuple[int, DrawnGraph]:
        """Return the number of clusters and the graph of one partition."""

    def _partition(self, X: Any, index: int, rng: np.random.Generator) -> tuple[Labels, Any]:
        k, graph = self._draw(X, rng)
        return graph.cut(k, rng)

    def labels_for_each(self, X: Any, numbers: Sequence[int]) -> Iterable[Labels]:
        """Return the labels of partitions of X into each of several numbers of clusters.

        They are those of a fit with `k_min = k_max = k` for every number k. All numbers share the
        graphs and their eigenvectors, which cost most.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        numbers : sequence of int
            Numbers of clusters.

        Returns
        -------
        list of int32 arrays of shape (n_samples, n_partitions)
            One table of labels per number.
        """
        largest = max(numbers)
        fixed = clone(self).set_params(k_min=largest, k_max=largest)  # draws no number of clusters
        fixed._validate_params()
        prepared = fixed._prepare(fixed._validate(X, reset=True), fitting=True)
        streams = fixed._streams()

        def make(stream: np.random.SeedSequence) -> dict[int, Labels]:
            rng = np.random.default_rng(stream)
            graph = fixed._draw(prepared, rng)[1]
            # The largest number first: it computes the eigenvectors for all.
            descending = sorted(numbers, reverse=True)
            return {k: graph.cut(k, deepcopy(rng))[0] for k in descending}

        tables = [np.empty((prepared.shape[0], len(streams)), np.int32) for _ in numbers]
        with few_clusters_allowed():
            for i, labels in enumerate(fixed._run("generate", make, streams)):
                for k, table in zip(numbers, tables, strict=True):
                    table[:, i] = labels[k]
        return tables
