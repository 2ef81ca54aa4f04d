"""Communities of a graph
======================

Consensus of communities of Zachary's karate club, on its edges only.

The graph has 34 members and 78 friendships. Spectral clustering with different numbers of clusters
and seeds gives different communities. An edge that at most half of them join is cut.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering

from partita import adjusted_rand
from partita.plotting import ConsensusDisplay
from partita.structure import graph_consensus

FRIENDS = """0:1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31
1:2 3 7 13 17 19 21 30
2:3 7 8 9 13 27 28 32
3:7 12 13
4:6 10
5:6 10 16
6:16
8:30 32 33
9:33
13:33
14:32 33
15:32 33
18:32 33
19:33
20:32 33
22:32 33
23:25 27 29 32 33
24:25 27 31
25:31
26:29 33
27:33
28:31 33
29:32 33
30:32 33
31:32 33
32:33"""
OFFICER = {8, 9, 14, 15, 18, 20, *range(22, 34)}  # went with the officer when the club split

edges = [
    (int(line.split(":")[0]), int(friend))
    for line in FRIENDS.splitlines()
    for friend in line.split(":")[1].split()
]
rows, columns = np.array(edges).T
graph = sp.csr_matrix((np.ones(len(edges)), (rows, columns)), shape=(34, 34))
graph = graph + graph.T
club = np.array([int(member in OFFICER) for member in range(34)])

partitions = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of scikit-learn, about the solver
    for seed in range(30):
        options = {"affinity": "precomputed", "n_init": 1, "random_state": seed}
        model = SpectralClustering(2 + seed % 3, **options)
        partitions.append(model.fit_predict(graph.toarray()))

result = graph_consensus(partitions, graph)
print(result)
print("sizes:", np.bincount(result.labels).tolist())
print(f"adjusted Rand index with the two clubs: {adjusted_rand(club, result.labels):.2f}")
doubtful = result.edges[(result.agreement > 0.3) & (result.agreement < 0.7)]
print("friendships on which the partitions disagree:", len(doubtful))

display = ConsensusDisplay.from_labels(partitions, result.labels).plot()
