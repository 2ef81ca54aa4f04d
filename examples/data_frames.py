"""Any data frame in, the same library's frame out, consensus and confidence beside the rest."""

from __future__ import annotations

import pandas
import polars

from partita import add_consensus

vendors = {
    "customer": ["ann", "ben", "cem", "dan", "eva", "fay"],
    "vendor_a": ["gold", "gold", "gold", "basic", "basic", "basic"],
    "vendor_b": ["A", "A", "B", "B", None, "B"],  # one has never seen eva
    "vendor_c": [1, 1, 1, 2, 2, 2],
}

for library in (polars, pandas):
    frame = library.DataFrame(vendors)
    fused = add_consensus(frame, columns="vendor_*", n_clusters=2, random_state=0)
    print(type(fused).__module__)
    print(fused[["customer", "consensus", "consensus_confidence"]])
