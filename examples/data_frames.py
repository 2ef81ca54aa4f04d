"""Data frames of any library
==========================

Add a consensus and its confidence to a data frame of any library."""

from __future__ import annotations

import pandas
import polars

from partita import add_consensus

segments = {
    "customer": ["ann", "ben", "cem", "dan", "eva", "fay"],
    "vendor_a": ["gold", "gold", "gold", "basic", "basic", "basic"],
    "vendor_b": ["A", "A", "B", "B", None, "B"],  # vendor b has no label for eva
    "vendor_c": [1, 1, 1, 2, 2, 2],
}

for library in (polars, pandas):
    frame = library.DataFrame(segments)
    fused = add_consensus(frame, columns="vendor_*", n_clusters=2, random_state=0)
    print(f"{library.__name__} in, {type(fused).__module__.split('.')[0]} out:")
    print(fused[["customer", "consensus", "consensus_confidence"]])
