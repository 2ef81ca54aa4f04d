"""Exact reduction: samples with equal labels are solved once
==========================================================

The co-association matrix of all samples consists of blocks of equal entries. One row for each kind
of sample, with the number of its samples as a weight, has the same eigenvalues and the same
clusters. The page on the exact reduction has the proof.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from partita import EAC, Ensemble, RandomK, coassociation

X = load_iris().data
partitions = RandomK(8, k_min=3, k_max=5, random_state=0).fit_transform(X)
ensemble = Ensemble.from_partitions(partitions)
reduced = ensemble.compress()
print(f"{ensemble.n_rows} samples have {reduced.n_rows} distinct rows of labels")

order = np.lexsort(np.asarray(partitions).T)
full = coassociation(partitions)[np.ix_(order, order)]
small = coassociation(partitions, expand=False)
root = np.sqrt(reduced.weights)
print("largest eigenvalues, all samples:  ", np.linalg.eigvalsh(full)[-3:].round(6))
print(
    "largest eigenvalues, distinct rows:",
    np.linalg.eigvalsh(small * np.outer(root, root))[-3:].round(6),
)
same = (EAC(n_clusters=3).fit_predict(partitions) == EAC(n_clusters=3).fit(reduced).labels_).all()
print("equal labels:", bool(same))

figure = Figure(figsize=(9, 3.4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 0.6])
left.imshow(full, cmap="Blues")
left.set_title(f"all samples: {len(full)} x {len(full)}")
middle.imshow(small, cmap="Blues")
middle.set_title(f"distinct rows: {len(small)} x {len(small)}")
right.barh(np.arange(len(small)), reduced.weights, color="0.4")
right.invert_yaxis()
right.set_title("weight: samples per row")
