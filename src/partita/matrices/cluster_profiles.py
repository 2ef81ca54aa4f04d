"""Profiles of clusters, by which new samples get a cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClusterProfiles"]


class ClusterProfiles:
    """How many samples of each cluster are in each base cluster.

    The item consensus of a new sample x with cluster k is the share of pairs with samples of k that
    the partitions join, of those that they label:

        Σ_i n(c_i(x), k) / Σ_i n_i(k),

    where n(c, k) counts the samples of k in base cluster c and n_i(k) those that partition i
    labels.

    Parameters
    ----------
    partitions : array of shape (n_samples, n_partitions), int
        Labels 0, 1, ... per partition, negative where one is missing.
    labels : array of shape (n_samples,), int
        Cluster 0..K-1 of each sample, -1 for a sample without one.
    """

    def __init__(self, partitions: NDArray[np.integer], labels: NDArray[np.integer]) -> None:
        n_clusters = int(labels.max()) + 1
        self.tables: list[NDArray[np.float64]] = []
        for column in partitions.T:
            both = (column >= 0) & (labels >= 0)
            table = np.zeros((int(column.max()) + 1, n_clusters))
            np.add.at(table, (column[both], labels[both]), 1.0)
            self.tables.append(table)

    def item_consensus(self, partitions: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the item consensus of new samples with each cluster; NaN without a label.

        Parameters
        ----------
        partitions : array of shape (n_new, n_partitions), int
            Labels of the new samples by the same partitions, negative where one is missing.
        """
        shape = len(partitions), self.tables[0].shape[1]
        joined, labeled = np.zeros(shape), np.zeros(shape)
        for table, column in zip(self.tables, partitions.T, strict=True):
            rows = np.flatnonzero((column >= 0) & (column < len(table)))
            joined[rows] += table[column[rows]]
            labeled[rows] += table.sum(axis=0)
        return np.divide(joined, labeled, out=np.full(shape, np.nan), where=labeled > 0)

    def nearest(
        self, partitions: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cluster with the largest item consensus, and that item consensus.

        A sample without any label gets cluster -1 and NaN. The parameter is that of
        `item_consensus`.
        """
        consensus = self.item_consensus(partitions)
        unlabeled = np.isnan(consensus).all(axis=1)
        comparable = np.where(np.isnan(consensus), -1.0, consensus)
        labels = np.argmax(comparable, axis=1).astype(np.int64)
        confidence = consensus[np.arange(len(labels)), labels]
        labels[unlabeled] = -1
        return labels, confidence
