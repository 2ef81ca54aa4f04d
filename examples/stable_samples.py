"""Which samples are stable?
=========================

Element-centric consistency of handwritten digits: how much the cluster of a sample changes over
many clusterings. It needs neither a consensus nor a number of clusters.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from partita import EnsembleClustering, diagnose
from partita.metrics import element_centric_consistency
from partita.plotting import ConfidenceDisplay

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
model = EnsembleClustering(10, generator="random_k", random_state=0).fit(X)
consistency = element_centric_consistency(model.partitions_)

print("digit   consistency: mean, lowest")
for digit in np.argsort([-consistency[y == d].mean() for d in range(10)]):
    values = consistency[y == digit]
    print(f"{digit:5} {values.mean():15.3f} {values.min():8.3f}")

# Wrong samples are among the inconsistent ones: the classes are only used for this count.
diagnosis = diagnose(model.partitions_, model.labels_)
majority = np.array([np.bincount(y[model.labels_ == k]).argmax() for k in range(10)])
is_wrong = majority[model.labels_] != y
low = consistency <= np.quantile(consistency, 0.2)
print(f"\nin a cluster of another digit: {is_wrong[low].mean():.0%} of the least consistent fifth,")
print(f"{is_wrong[~low].mean():.0%} of the others")

display = ConfidenceDisplay.from_diagnosis(diagnosis).plot()
