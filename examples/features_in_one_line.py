"""Features in one line
====================

Cluster a feature matrix with one estimator, show that the seed matters little, and name the
features that distinguish the clusters."""

from __future__ import annotations

from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import EnsembleClustering, adjusted_rand
from partita.diagnostics import cluster_profiles
from partita.plotting import ConsensusDisplay

wine = load_wine()
model = make_pipeline(StandardScaler(), EnsembleClustering(n_clusters=3, random_state=0))
labels = model.fit_predict(wine.data)
print(f"adjusted Rand index with the three cultivars: {adjusted_rand(wine.target, labels):.3f}")

model.set_params(ensembleclustering__random_state=1)
other_labels = model.fit_predict(wine.data)
print(f"adjusted Rand index between two seeds: {adjusted_rand(labels, other_labels):.3f}")

for record in cluster_profiles(wine.data, labels, wine.feature_names, n_features=2).records:
    print(f"cluster {record['cluster']}: {record['feature']}, d = {record['effect']:+.1f}")

partitions = model[-1].partitions_
display = ConsensusDisplay.from_labels(partitions, other_labels).plot()
