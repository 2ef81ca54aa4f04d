"""Write a table that is in memory, or labels that are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita.io._blocks import Block, TableHeader
from partita.io._formats import write_blocks
from partita.io._table import Table

__all__ = ["write_labels", "write_table"]

_BLOCK_ROWS = 1 << 20


def write_table(
    target: str | Path | IO[str],
    table: Table,
    *,
    base: Path | None = None,
    uns: Mapping[str, Any] | None = None,
) -> None:
    """Write columns with the ids of the samples. The file appears when it is complete.

    Parameters
    ----------
    target : path, or open text file for CSV
        The suffix names the format: .csv, .tsv, .parquet, .npy (no ids), .npz or .h5ad.
    table : Table
        Columns and, if it has any, the ids of the samples.
    base : path, optional
        An .h5ad file to whose copy the columns are added if `target` is a new .h5ad file. An
        existing .h5ad target always gets the columns added to its own.
    uns : dict, optional
        Entries for the `uns` of an .h5ad file; other formats leave them out. By default none.
    """
    columns = list(table.columns.values())
    ids = None if table.ids is None else table.ids.tolist()
    header = TableHeader(
        list(table.columns), columns, table.n_samples, None if ids is None else table.id_name
    )
    write_blocks(target, header, [Block(columns, ids)], base=base, uns=uns)


def write_labels(
    target: str | Path,
    labels: Any,
    n_clusters: int,
    *,
    name: str = "consensus",
    ids: Iterable[Any] | None = None,
) -> None:
    """Write labels 0..n_clusters-1 that are not all in memory, block by block.

    Parameters
    ----------
    target : path
        The suffix names the format, as in `write_table`.
    labels : array of shape (n_samples,), or any object with a length and slices
        A label of -1 is written as missing.
    n_clusters : int
        Number of clusters.
    name : str, default="consensus"
        Name of the column.
    ids : iterable, optional
        Names of the samples, in order. By default none are written.
    """
    names = None if ids is None else iter(ids)

    def blocks() -> Iterator[Block]:
        for start in range(0, len(labels), _BLOCK_ROWS):
            block = np.ma.masked_equal(np.asarray(labels[start : start + _BLOCK_ROWS]), -1)
            yield Block([block], None if names is None else [next(names) for _ in block])

    header = TableHeader(
        [name], [np.arange(n_clusters)], len(labels), None if names is None else "id"
    )
    write_blocks(target, header, blocks())
