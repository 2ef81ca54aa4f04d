"""Several methods on one ensemble: agreement, cost, and what went wrong, as one table."""

from __future__ import annotations

from sklearn.datasets import load_iris

import partita
from partita.generators import RandomK

iris = load_iris()
partitions = RandomK(n_partitions=30, n_clusters=3, random_state=0).fit_transform(iris.data)
comparison = partita.compare(
    partitions,
    ["eac", "lwgp", "sec", partita.EAC(linkage="single")],
    n_clusters=3,
    y=iris.target,
)
print(comparison)
print("agreement between the methods (ARI):")
print(comparison.agreement.round(2))
