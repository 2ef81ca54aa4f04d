"""Tables of labels or features in files: CSV, TSV, parquet, npy, npz and h5ad.

Sample ids and column names are kept. Nothing is unpickled. What a file's cells mean is the same
whatever packages are installed, see `read_labels`.
"""

from __future__ import annotations

from partita.files._reading import read_features, read_labels
from partita.files._table import MISSING, Table, choose_columns
from partita.files._writing import check_target, write_table

__all__ = [
    "MISSING",
    "Table",
    "check_target",
    "choose_columns",
    "read_features",
    "read_labels",
    "write_table",
]
