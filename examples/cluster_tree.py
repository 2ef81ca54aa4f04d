"""A tree of clusters over resolutions
===================================

Follow the clusters of wines from two to seven clusters, as clustree does, and see which are stable.
"""

from __future__ import annotations

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from partita import cluster_tree
from partita.plotting import ClusterTreeDisplay

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
partitions = {k: KMeans(k, n_init=10, random_state=0).fit_predict(X) for k in range(2, 8)}
tree = cluster_tree(partitions)

print("stability of the clusters of every partition:")
for k in partitions:
    values = [r["stability"] for r in tree.node_records() if r["partition"] == k]
    print(f"  K = {k}: " + " ".join(f"{value:.2f}" for value in values))
for branch in tree.branch_records():
    print(
        f"branch {branch['branch']} ({branch['n_samples']} wines) is most stable in the partition "
        f"into {branch['partition']}, with {branch['n_clusters']} clusters"
    )

display = ClusterTreeDisplay(tree).plot()
