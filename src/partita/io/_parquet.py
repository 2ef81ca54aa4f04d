"""Parquet files, in batches of rows by pyarrow, or as a whole by polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.containers import label_columns
from partita._packages import is_installed, require_package
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader, collect

__all__ = ["read_blocks", "write_blocks"]

_ROW_GROUP = 1 << 16


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Open a parquet file; only the selected columns are read."""
    id_column = selection.id_column
    ids = [] if id_column is None else [id_column]
    tables: Iterable[Any]
    if _has_only_polars():
        polars = require_package("polars", "Parquet files", "polars")
        names = selection.choose(list(polars.read_parquet_schema(path)), str(path))
        tables = [polars.read_parquet(path, columns=[*names, *ids])]
        n_samples = len(tables[0])
    else:
        parquet = _pyarrow_parquet()
        # pre_buffer would read the selected columns of the whole file at once
        file = parquet.ParquetFile(path, pre_buffer=False)
        names = selection.choose(file.schema_arrow.names, str(path))
        n_samples = file.metadata.num_rows
        tables = _tables(file, [*names, *ids], cells_per_block)
    yield TableBlocks(
        names, (_block(table, names, id_column) for table in tables), id_column, n_samples
    )


def _tables(file: Any, columns: list[str], cells_per_block: int | None) -> Iterator[Any]:
    if cells_per_block is None or file.metadata.num_rows == 0:
        yield file.read(columns=columns)
        return
    pyarrow = require_package("pyarrow", "Parquet files", "partita[parquet]")
    for batch in file.iter_batches(max(1, cells_per_block // len(columns)), columns=columns):
        yield pyarrow.Table.from_batches([batch])


def _block(table: Any, names: list[str], id_column: str | None) -> Block:
    frame = nw.from_native(table, eager_only=True)
    columns, _ = label_columns(frame.select(names).to_native())
    return Block(list(columns), None if id_column is None else frame[id_column].to_list())


def write_blocks(path: Path, header: TableHeader, blocks: Iterable[Block]) -> None:
    """Write columns of numbers or text, ids first; a missing value is null."""
    if _has_only_polars():
        _write_whole(path, header, collect(blocks))
        return
    parquet = _pyarrow_parquet()
    import pyarrow

    types = [
        pyarrow.string() if v.dtype.kind in "OU" else pyarrow.from_numpy_dtype(v.dtype)
        for v in header.values
    ]
    names = [*([] if header.id_name is None else [header.id_name]), *header.names]
    writer: Any = None
    group: list[Any] = []
    try:
        for block in blocks:
            arrays = [_array(c, kind) for c, kind in zip(block.columns, types, strict=True)]
            if block.ids is not None:
                arrays.insert(0, pyarrow.array(_numbers_or_text(block.ids)))
            group.append(pyarrow.table(arrays, names))
            if writer is None:
                writer = parquet.ParquetWriter(path, group[0].schema)
            # The end of the file lists all row groups, so there should be few.
            if sum(map(len, group)) >= _ROW_GROUP:
                writer.write_table(pyarrow.concat_tables(group))
                group.clear()
        if group:
            writer.write_table(pyarrow.concat_tables(group))
    finally:
        if writer is not None:
            writer.close()


def _array(column: NDArray[Any], kind: Any) -> Any:
    import pyarrow

    if column.dtype.kind in "OU":
        return pyarrow.array([None if v is None else str(v) for v in column.tolist()], kind)
    return pyarrow.array(np.ma.getdata(column), kind, mask=np.ma.getmaskarray(column))


def _write_whole(path: Path, header: TableHeader, table: Block) -> None:
    columns = dict(zip(header.names, (c.tolist() for c in table.columns), strict=True))
    if header.id_name is not None and table.ids is not None:
        columns = {header.id_name: _numbers_or_text(table.ids), **columns}
    nw.from_dict(columns, backend="polars").write_parquet(path)


def _numbers_or_text(ids: list[Any]) -> list[Any]:
    """Return ids that are all whole numbers as they are, others as text."""
    if all(isinstance(name, int) and not isinstance(name, bool) for name in ids):
        return ids
    return [str(name) for name in ids]


def _has_only_polars() -> bool:
    return not is_installed("pyarrow") and is_installed("polars")


def _pyarrow_parquet() -> Any:
    return require_package("pyarrow.parquet", "Parquet files", "partita[parquet]")
