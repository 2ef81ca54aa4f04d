"""Repeated HDBSCAN: noise as missing labels
=========================================

Fuse repeated density-based clusterings that label noise with -1, such as HDBSCAN or BERTopic.

Every partition has other settings and a random projection of the data. A sample that is noise in
one partition can have a label in another. The consensus treats -1 as a missing label and reports
the confidence of every sample.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.random_projection import GaussianRandomProjection

from partita import adjusted_rand, fuse
from partita.plotting import ConfidenceDisplay

X, y = make_blobs(400, n_features=10, centers=5, cluster_std=2.0, random_state=0)
partitions = []
for seed in range(20):
    projection = GaussianRandomProjection(5, random_state=seed).fit_transform(X)
    size = int(np.random.default_rng(seed).integers(5, 25))
    partitions.append(HDBSCAN(min_cluster_size=size, copy=True).fit_predict(projection))

fusion = fuse(partitions, n_clusters=5, random_state=0)

print("               without a label   adjusted Rand index")
for name, labels in [
    ("first partition", partitions[0]),
    ("last partition", partitions[-1]),
    ("consensus", fusion.labels),
]:
    print(f"{name:>15} {np.mean(labels == -1):14.0%} {adjusted_rand(y, labels):21.3f}")
print(f"\nmean confidence: {fusion.confidence.mean():.3f}")
print("samples with the lowest confidence:", np.argsort(fusion.confidence)[:5])

display = ConfidenceDisplay.from_diagnosis(fusion.diagnosis).plot()
