"""AnnData: the consensus of Leiden at many resolutions
====================================================

Add the consensus of Leiden at many resolutions to an AnnData object.

The clusterings are simulated. Each one splits the same four cell types into smaller clusters,
according to its resolution, and puts 15 % of the cells into a random cluster.
"""

from __future__ import annotations

import anndata
import numpy as np
import pandas

from partita import add_consensus
from partita.plotting import ConsensusDisplay

rng = np.random.default_rng(0)
cell_type = rng.integers(4, size=400)
obs = pandas.DataFrame(index=[f"cell{i}" for i in range(400)])
for resolution in np.arange(0.4, 2.0, 0.1):
    subtype = rng.integers(1 + int(resolution * 2), size=400)
    clusters = cell_type * 5 + subtype
    is_wrong = rng.random(400) < 0.15
    clusters[is_wrong] = rng.permutation(clusters)[is_wrong]
    obs[f"leiden_{resolution:.1f}"] = pandas.Categorical(clusters.astype(str))
adata = anndata.AnnData(X=np.zeros((400, 1)), obs=obs)

add_consensus(adata, columns="leiden_*", n_clusters=4, name="consensus", random_state=0)

print("cells of each type (columns) in each cluster of the consensus (rows):")
print(pandas.crosstab(adata.obs["consensus"], pandas.Series(cell_type, obs.index, name="type")))
print("\ncells with the lowest confidence:")
print(adata.obs["consensus_confidence"].nsmallest(5).round(3).to_string())
print("\nmethod:", adata.uns["consensus"]["params"]["method"])
print("versions:", adata.uns["consensus"]["versions"])

columns = [name for name in adata.obs if name.startswith("leiden_")]
display = ConsensusDisplay.from_labels(adata.obs[columns], adata.obs["consensus"]).plot()
