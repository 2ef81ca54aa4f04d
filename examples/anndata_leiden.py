"""Leiden at many resolutions in `adata.obs`: one clustering of them all, beside them.

The clusterings here are made up: each is the same four cell types, seen at its own resolution and
with its own mistakes.
"""

from __future__ import annotations

import anndata
import numpy as np
import pandas

from partita import add_consensus

rng = np.random.default_rng(0)
cell_type = rng.integers(4, size=400)
obs = pandas.DataFrame(index=[f"cell{i}" for i in range(400)])
for resolution in np.arange(0.4, 2.0, 0.1):
    split = rng.integers(1 + int(resolution * 2), size=400)  # finer clusters inside a type
    labels = cell_type * 5 + split
    wrong = rng.random(400) < 0.15
    labels[wrong] = rng.permutation(labels)[wrong]
    obs[f"leiden_{resolution:.1f}"] = pandas.Categorical(labels.astype(str))
adata = anndata.AnnData(X=np.zeros((400, 1)), obs=obs)

add_consensus(adata, columns="leiden_*", n_clusters=4, name="consensus", random_state=0)

print(pandas.crosstab(adata.obs["consensus"], cell_type))
print("least certain cells:")
print(adata.obs["consensus_confidence"].nsmallest(5).round(3))
print("made by:", adata.uns["consensus"]["method"], adata.uns["consensus"]["versions"])
