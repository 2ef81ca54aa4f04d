"""`cluster_tree`: follow clusters over partitions of increasing fineness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._input.containers import label_columns
from partita._input.label_vector import code_labels
from partita._pictures import draw_tree
from partita.alignment._matching import align_labels
from partita.alignment._ordering import order_layers
from partita.ensemble import Ensemble
from partita.io import LabelStore

__all__ = ["ClusterTree", "cluster_tree"]


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """Partitions of increasing fineness with persistent cluster names. Made by `cluster_tree`.

    Attributes
    ----------
    labels : array of shape (n_samples, n_partitions)
        One partition per column, each aligned to the one before it.
    n_clusters : array of shape (n_partitions,)
        Number of clusters of each partition.
    edges : array of shape (n_edges, 4)
        Index of a partition, one of its clusters, a cluster of the next partition, and the number
        of samples that the two clusters share.
    names : tuple
        Name of each partition, for instance its resolution; 0, 1, ... if they have none.
    """

    labels: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    edges: NDArray[np.float64]
    names: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        names = self.names or range(len(self.n_clusters))
        levels = ", ".join(f"{name}: {k}" for name, k in zip(names, self.n_clusters, strict=True))
        return f"ClusterTree of {len(self.labels)} samples; clusters per partition: {levels}"

    @cached_property
    def clusters(self) -> list[NDArray[np.int64]]:
        """Names of the clusters of each partition, ascending."""
        return [np.unique(level[level >= 0]) for level in self.labels.T]

    @cached_property
    def positions(self) -> list[NDArray[np.int64]]:
        """Position of each cluster in its partition, such that few edges cross in a drawing."""
        if self.labels.shape[1] == 1:
            return [np.arange(len(self.clusters[0]))]
        return order_layers([self._table(i, i + 1) for i in range(self.labels.shape[1] - 1)])

    @cached_property
    def stability(self) -> list[NDArray[np.float64]]:
        """Stability of each cluster: its best Jaccard index in another partition, averaged.

        Two partitions are compared on the samples that both label. Cost O(n m²).
        """
        m = self.labels.shape[1]
        total = [np.zeros(len(names)) for names in self.clusters]
        for i in range(m):
            for j in range(i):
                table = self._table(i, j)
                union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
                jaccard = table / np.where(union > 0, union, 1.0)
                total[i] += jaccard.max(axis=1)
                total[j] += jaccard.max(axis=0)
        return [np.asarray(sums / max(m - 1, 1)) for sums in total]

    def _table(self, i: int, j: int) -> NDArray[np.float64]:
        """Count the samples in each pair of clusters of two partitions."""
        first, second = self.labels[:, i], self.labels[:, j]
        both = (first >= 0) & (second >= 0)
        rows = np.searchsorted(self.clusters[i], first[both])
        columns = np.searchsorted(self.clusters[j], second[both])
        shape = len(self.clusters[i]), len(self.clusters[j])
        counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float64)

    def node_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per cluster: partition, size, stability and position."""
        return [
            {
                "level": i,
                "partition": self._name(i),
                "cluster": int(cluster),
                "n_samples": int(np.count_nonzero(self.labels[:, i] == cluster)),
                "stability": float(self.stability[i][k]),
                "position": int(self.positions[i][k]),
            }
            for i, names in enumerate(self.clusters)
            for k, cluster in enumerate(names)
        ]

    def edge_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per edge, from a cluster to one of the next partition.

        `in_share` is the share of the lower cluster that comes from the upper one, `out_share` the
        share of the upper cluster that goes to the lower one.
        """
        records = []
        for level in range(self.labels.shape[1] - 1):
            table = self._table(level, level + 1)
            for a, b in zip(*np.nonzero(table), strict=True):
                records.append(
                    {
                        "level": level,
                        "from_cluster": int(self.clusters[level][a]),
                        "to_cluster": int(self.clusters[level + 1][b]),
                        "n_samples": int(table[a, b]),
                        "in_share": float(table[a, b] / table[:, b].sum()),
                        "out_share": float(table[a, b] / table[a].sum()),
                    }
                )
        return records

    def branch_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per cluster of the first partition: where it is most stable.

        `level` and `partition` name the partition whose clusters, on the samples of the branch,
        have the largest mean stability by samples; `n_clusters` is the number of clusters that have
        most of their samples in the branch.
        """
        records = []
        for cluster in self.clusters[0]:
            inside = self.labels[:, 0] == cluster
            means = []
            for i, names in enumerate(self.clusters):
                labels = self.labels[inside, i]
                codes = np.searchsorted(names, labels[labels >= 0])
                means.append(self.stability[i][codes].mean() if len(codes) else 0.0)
            best = int(np.argmax(means))
            level = self.labels[:, best]
            main = [
                c
                for c in self.clusters[best]
                if 2 * np.sum(inside[level == c]) > np.sum(level == c)
            ]
            records.append(
                {
                    "branch": int(cluster),
                    "n_samples": int(inside.sum()),
                    "level": best,
                    "partition": self._name(best),
                    "n_clusters": len(main),
                    "stability": float(means[best]),
                }
            )
        return records

    def to_frame(self) -> Any:
        """Return the edges as a data frame, see `edge_records`.

        Of the first of pandas, polars and pyarrow that is installed; if none is, the list of
        dictionaries.
        """
        return frame_of_records(self.edge_records())

    def _repr_html_(self) -> str:
        sizes = ", ".join(map(str, self.n_clusters))
        caption = f"Cluster tree of {sizes} clusters: the most stable partition of every branch"
        return html_of_records(self.branch_records(), caption=caption, picture=self._picture())

    def _picture(self) -> str:
        n = len(self.labels)
        places = [np.argsort(positions) for positions in self.positions]
        sizes = [
            np.array([np.count_nonzero(self.labels[:, i] == c) / n for c in names])[places[i]]
            for i, names in enumerate(self.clusters)
        ]
        edges = []
        for e in self.edge_records():
            level = e["level"]
            i = int(np.searchsorted(self.clusters[level], e["from_cluster"]))
            j = int(np.searchsorted(self.clusters[level + 1], e["to_cluster"]))
            places_of = int(self.positions[level][i]), int(self.positions[level + 1][j])
            edges.append((level, *places_of, e["n_samples"] / n))
        return draw_tree(sizes, edges, "clusters, from the first partition to the last")

    def _name(self, level: int) -> Any:
        return self.names[level] if self.names else level


def cluster_tree(partitions: Any) -> ClusterTree:
    """Follow clusters over partitions of increasing fineness.

    Parameters
    ----------
    partitions : list of label vectors, mapping, table of labels, data frame, Ensemble or LabelStore
        The partitions from coarse to fine, for instance the consensus for K = 2, 3, 4, ... or
        Leiden at twenty resolutions. A mapping has the resolutions as keys: `scan.labels` of a scan
        is one.

    Returns
    -------
    ClusterTree
        The partitions, each with cluster names aligned to the one before it; flows between them,
        stability of their clusters, and an order in which few edges cross.

    References
    ----------
    L. Zappia, A. Oshlack. Clustering trees: a visualization for evaluating clusterings at multiple
    resolutions. GigaScience 7(7), 2018. https://doi.org/10.1093/gigascience/giy083

    Examples
    --------
    >>> from partita import cluster_tree
    >>> tree = cluster_tree({"coarse": [0, 0, 1, 1], "fine": [5, 5, 7, 9]})
    >>> tree.labels[:, 1]
    array([0, 0, 1, 2])
    >>> [edge["in_share"] for edge in tree.edge_records()]
    [1.0, 1.0, 1.0]
    """
    names: tuple[Any, ...] = ()
    if isinstance(partitions, Mapping):
        names, partitions = tuple(partitions), list(partitions.values())
    vectors = _label_vectors(partitions)
    if len(vectors) == 0:
        raise ValueError("Expected at least one partition, got none.")
    levels = [code_labels(vectors[0], name="partitions[0]")[0]]
    for vector in vectors[1:]:
        levels.append(align_labels(levels[-1], vector).labels)
    edges = [_edges(i, coarse, fine) for i, (coarse, fine) in enumerate(pairwise(levels))]
    return ClusterTree(
        labels=np.stack(levels, axis=1),
        n_clusters=np.asarray([len(np.unique(level[level >= 0])) for level in levels]),
        edges=np.concatenate([np.empty((0, 4)), *edges]),
        names=names or _names(partitions),
    )


def _names(partitions: Any) -> tuple[Any, ...]:
    if isinstance(partitions, Ensemble):
        names = partitions.partition_names
        if names is None:
            return ()
        return tuple(names[np.argsort(partitions.partition_order)].tolist())
    return tuple(map(str, partitions.columns)) if hasattr(partitions, "columns") else ()


def _label_vectors(partitions: Any) -> Sequence[NDArray[Any]]:
    if isinstance(partitions, LabelStore):
        partitions = partitions.to_ensemble(unlabeled="keep")
    if not isinstance(partitions, Ensemble):
        return list(label_columns(partitions)[0])
    codes = np.where(partitions.observed, partitions.codes.astype(np.int64), -1)
    return list(partitions.expand(codes)[:, np.argsort(partitions.partition_order)].T)


def _edges(level: int, coarse: NDArray[np.int64], fine: NDArray[np.int64]) -> NDArray[np.float64]:
    both = (coarse >= 0) & (fine >= 0)
    pairs, counts = np.unique(
        np.stack([coarse[both], fine[both]], axis=1), axis=0, return_counts=True
    )
    return np.column_stack([np.full(len(pairs), level), pairs, counts]).astype(np.float64)
