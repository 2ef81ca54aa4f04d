"""New samples and new partitions
==============================

Label samples that come later, and add partitions that come later, without starting anew.

`predict` passes new samples through every base partition and compares their labels with the
profiles of the consensus clusters. `predict_confidence` says how sure that is: digits in a wrong
cluster have less of it. `Fusion.update` adds partitions of the same samples; `SEC` then starts from
the labels that it has.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from partita import EnsembleClustering, RandomK, adjusted_rand, fuse

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=300, random_state=0)

clustering = EnsembleClustering(n_clusters=10, random_state=0).fit(X)
labels, confidence = clustering.predict(X_new), clustering.predict_confidence(X_new)
print(f"adjusted Rand index of {len(y)} samples: {adjusted_rand(y, clustering.labels_):.2f}")
print(f"adjusted Rand index of {len(y_new)} new samples: {adjusted_rand(y_new, labels):.2f}")

# The digit of a cluster is the most frequent one among the samples of the fit.
digit = np.asarray([np.bincount(y[clustering.labels_ == k]).argmax() for k in range(10)])
is_right = digit[labels] == y_new
for name, samples in [("right", is_right), ("wrong", ~is_right)]:
    median = np.median(confidence[samples])
    print(f"median confidence of {samples.sum():3} in a {name} cluster: {median:.2f}")

partitions = RandomK(n_partitions=40, n_clusters=10, random_state=0).fit_transform(X)
fusion = fuse(partitions[:, :20], 10, method="sec", random_state=0)
updated = fusion.update(partitions[:, 20:])
for name, result in [("20 partitions", fusion), ("20 more", updated)]:
    print(f"SEC, {name:>13}: adjusted Rand index {adjusted_rand(y, result.labels):.2f}")
print(f"samples in another cluster than before: {len(updated.changed)}")

fig, ax = plt.subplots(figsize=(6, 3))
ax.hist([confidence[is_right], confidence[~is_right]], 20, stacked=True, label=["right", "wrong"])
ax.set(xlabel="confidence of a new sample", ylabel="samples")
ax.legend(frameon=False)
fig.tight_layout()
