"""Tables of labels or features in files: CSV, TSV, Excel, parquet, npy, npz, h5ad and stores.

One table, in `_formats`, says which module reads and writes files of a suffix. Each such module has
`read_blocks` and `write_blocks`. Sample ids and column names are kept, nothing is unpickled, and
the meaning of a cell does not depend on which packages are installed, see `read_labels`.
"""

from __future__ import annotations

from partita.io._blocks import choose_columns, did_you_mean
from partita.io._conversion import Conversion, convert
from partita.io._formats import check_target
from partita.io._h5ad import read_graph
from partita.io._reading import read_features, read_labels
from partita.io._table import Table
from partita.io._vocabulary import MISSING_TOKENS, MISSING_VALUES
from partita.io._writing import write_labels, write_table
from partita.io.store import LabelStore, LabelWriter

__all__ = [
    "MISSING_TOKENS",
    "MISSING_VALUES",
    "Conversion",
    "LabelStore",
    "LabelWriter",
    "Table",
    "check_target",
    "choose_columns",
    "convert",
    "did_you_mean",
    "read_features",
    "read_graph",
    "read_labels",
    "write_labels",
    "write_table",
]
