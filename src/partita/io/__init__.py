"""Tables of labels or features in files: CSV, TSV, parquet, npy, npz and h5ad.

Sample ids and column names are kept. Nothing is unpickled. What a file's cells mean is the same
whatever packages are installed, see `read_labels`.
"""

from __future__ import annotations

from partita.io._reading import read_features, read_labels
from partita.io._table import MISSING, Table, choose_columns
from partita.io._writing import check_target, write_table
from partita.io.conversion import Conversion, convert
from partita.io.store import LabelStore, LabelWriter

__all__ = [
    "MISSING",
    "Conversion",
    "LabelStore",
    "LabelWriter",
    "Table",
    "check_target",
    "choose_columns",
    "convert",
    "read_features",
    "read_labels",
    "write_table",
]
