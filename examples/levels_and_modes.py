"""Levels and modes of partitions
==============================

Levels of detail without a number of clusters, and partitions that tell different stories.

Handwritten digits are clustered by the left and by the right half of the picture. The two halves
disagree about some digits: `modes` says so before a consensus mixes them.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from partita import adjusted_rand, generate
from partita.plotting import ConsensusDisplay
from partita.structure import hierarchical_consensus, modes

X, y = load_digits(return_X_y=True)
is_used = np.isin(y, [0, 1, 3, 7])
X, y = X[is_used][:300].reshape(-1, 8, 8), y[is_used][:300]
halves = [X[:, :, :4].reshape(len(X), -1), X[:, :, 4:].reshape(len(X), -1)]
partitions = np.hstack(
    [
        generate(half, "random_k", n_partitions=10, k_min=4, k_max=4, random_state=i).codes
        for i, half in enumerate(halves)
    ]
)

groups = modes(partitions, random_state=0)
print(groups)
print("mode of the partitions:", groups.mode_of.tolist())
for mode in range(groups.n_modes):
    score = adjusted_rand(y, groups.labels[mode])
    print(f"mode {mode}: adjusted Rand index {score:.2f}")
if groups.n_modes > 1:
    moved = groups.moved_samples(0, 1)
    print(f"{len(moved)} of {len(y)} digits are in different clusters of the first two modes")

hierarchy = hierarchical_consensus(partitions, random_state=0)
print("clusters per level:", [int(level.max()) + 1 for level in hierarchy.levels])
for level in hierarchy.levels[1:3]:
    print(f"level with {level.max() + 1} clusters: index {adjusted_rand(y, level):.2f}")

display = ConsensusDisplay.from_labels(partitions, hierarchy.levels[1]).plot()
