"""Comparing methods on one ensemble
=================================

Compare several methods on one ensemble: scores, time, memory and agreement."""

from __future__ import annotations

from sklearn.datasets import load_iris

from partita import EAC, RandomK, compare
from partita.plotting import ComparisonDisplay

iris = load_iris()
partitions = RandomK(n_partitions=30, n_clusters=3, random_state=0).fit_transform(iris.data)
methods = ["eac", "ccgp", "sec", EAC(linkage="single")]
comparison = compare(partitions, methods, n_clusters=3, y=iris.target)

print(comparison)
print("\nadjusted Rand index between the methods, in the same order:")
print(comparison.agreement.round(2))

display = ComparisonDisplay.from_comparison(comparison).plot()
