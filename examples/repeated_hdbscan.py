"""Repeated runs of a density-based clustering with -1 for noise, as BERTopic and HDBSCAN give.

Every run sees other settings and a random projection of the data. A sample that one run calls noise
may have a place in another; the consensus takes -1 for "no label" and says how sure it is.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.random_projection import GaussianRandomProjection

from partita.fusion import fuse
from partita.metrics import adjusted_rand

X, truth = make_blobs(400, n_features=10, centers=5, cluster_std=2.0, random_state=0)
runs = []
for seed in range(20):
    view = GaussianRandomProjection(5, random_state=seed).fit_transform(X)
    size = int(np.random.default_rng(seed).integers(5, 25))
    runs.append(HDBSCAN(min_cluster_size=size, copy=True).fit_predict(view))

found = fuse(runs, n_clusters=5, random_state=0)

for name, run in [("first run", runs[0]), ("last run", runs[-1]), ("consensus", found.labels)]:
    noise = np.mean(run == -1)
    print(f"{name:>10}: {noise:4.0%} without a label, ARI {adjusted_rand(truth, run):.3f}")
print(f"mean confidence {found.confidence.mean():.3f}")
print("least certain samples:", np.argsort(found.confidence)[:5])
