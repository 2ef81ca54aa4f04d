"""A feature matrix in, a clustering that does not hang on one seed out."""

from __future__ import annotations

from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import EnsembleClustering
from partita.metrics import adjusted_rand

wine = load_wine()
model = make_pipeline(StandardScaler(), EnsembleClustering(n_clusters=3, random_state=0))
labels = model.fit_predict(wine.data)
print(f"ARI to the three cultivars: {adjusted_rand(wine.target, labels):.3f}")

again = model.set_params(ensembleclustering__random_state=1).fit_predict(wine.data)
print(f"ARI between two seeds: {adjusted_rand(labels, again):.3f}")
