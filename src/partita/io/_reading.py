"""Read a table of labels or of features into memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from partita.io._blocks import Selection, TableBlocks, collect
from partita.io._formats import open_blocks
from partita.io._h5ad import read_matrix
from partita.io._table import NumberedColumns, Table
from partita.io._vocabulary import (
    MISSING_TOKENS,
    MISSING_VALUES,
    TextVocabulary,
    without_missing_values,
)

__all__ = ["read_features", "read_labels"]

_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(\.?\d{3})*,\d+([eE][+-]?\d+)?|[+-]?\d+,\d+")
_HINT = (
    "Choose the columns with features, and say which holds the ids (on the command line "
    '--columns "x*" and --id-column NAME).'
)


def read_labels(
    source: str | Path | IO[str],
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing_values: Sequence[str] = MISSING_VALUES,
    header: bool = True,
    encoding: str | None = None,
) -> Table:
    """Read a table of labels, one partition per column.

    Parameters
    ----------
    source : path, or open text file with CSV or TSV
        The suffix names the format: .csv, .tsv (also compressed, .csv.gz), .xlsx (the first sheet),
        .parquet, .npy, .npz or .h5ad (columns of `obs`).
    columns : sequence of str, optional
        Names or patterns such as "leiden_*". By default all columns but the ids; required for
        .h5ad.
    id_column : str, optional
        Column with the names of the samples. By default a first column of a CSV file that has no
        name, as data frames write their index, or the names of the observations of .h5ad.
    missing_values : sequence of str, default=("", "NA", "NaN", "nan", "None", "null")
        Text that stands for a missing label. A label of -1 is noise, see `Table.ensemble`.
    header : bool, default=True
        Whether the first line of a CSV file holds the column names. If not, they are partition_0,
        partition_1, ...
    encoding : str, optional
        Encoding of a text file, such as "latin-1". By default UTF-8, or UTF-16 if the file begins
        with its byte order mark.

    Returns
    -------
    Table

    Notes
    -----
    Types in CSV follow from all labels of a column together: whole numbers if every one is written
    as such, decimals if every one is a plain decimal number (1.0 and 1 are then one label), and
    text exactly as written otherwise: in a column with "01" or "1e5" no label is a number. The
    types of the other formats are kept.

    Examples
    --------
    >>> from io import StringIO
    >>> from partita.io import read_labels
    >>> table = read_labels(StringIO("cell,a,b\\nx,1,red\\ny,2,\\n"), id_column="cell")
    >>> table.ids
    array(['x', 'y'], dtype=object)
    >>> table.ensemble()
    Ensemble(2 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
    """
    selection = Selection(columns, id_column, header, encoding)
    return _read(source, selection, missing_values, _number_cells)


def _number_cells(
    table: TableBlocks, missing_values: Sequence[str], source: str
) -> tuple[NumberedColumns, list[Any]]:
    """Read labels from text; memory holds a number per cell, not its text."""
    vocabularies = [TextVocabulary(name, missing_values) for name in table.names]
    numbers, ids = _gather(table, lambda i, cells, _: vocabularies[i].number(cells))
    values = {vocabulary.name: vocabulary.values() for vocabulary in vocabularies}
    return NumberedColumns(numbers, values), ids


def read_features(
    source: str | Path | IO[str],
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing_values: Sequence[str] = MISSING_VALUES,
    header: bool = True,
    encoding: str | None = None,
    use: str | None = None,
    allow_missing: bool = False,
    allow_text: bool = False,
    decimal: str = ".",
) -> Table:
    """Read a table of numbers. The other parameters are those of `read_labels`.

    A cell that is not a number is an error that says where it is.

    Parameters
    ----------
    use : str, optional
        Features of an .h5ad file: "X" or a key of `obsm`. By default "X_pca" if the file has it,
        otherwise "X"; `columns` reads columns of `obs` instead.
    allow_missing : bool, default=False
        Read missing values as NaN. By default they are an error.
    allow_text : bool, default=False
        Keep columns of text, such as annotations of the samples; a missing value in them is None.
        A column in which most cells are numbers is still an error.
    decimal : {".", ","}, default="."
        Decimal sign of the numbers in a text file.
    """
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}.")
    is_h5ad = isinstance(source, str | Path) and Path(source).suffix.lower() == ".h5ad"
    if is_h5ad and columns is None and Path(str(source)).exists():
        names, matrix, ids = read_matrix(Path(str(source)), use)
        return Table(
            dict(zip(names, matrix.T, strict=True)), np.asarray(ids, object), "cell", str(source)
        )
    if use is not None:
        raise ValueError(f"use={use!r} is for .h5ad files without columns, got {source!s}.")
    parse = partial(_parse_numbers, allow_missing=allow_missing, allow_text=allow_text)
    selection = Selection(columns, id_column, header, encoding, decimal)
    table = _read(source, selection, missing_values, partial(parse, decimal=decimal))
    for name, column in table.columns.items():
        if column.dtype.kind not in "fiub" and not allow_text:
            raise ValueError(
                f"{table.source}: column {name!r} holds {column.dtype} where numbers were "
                f"expected. {_HINT}"
            )
    return table


def _parse_numbers(
    table: TableBlocks,
    missing_values: Sequence[str],
    source: str,
    *,
    allow_missing: bool,
    allow_text: bool,
    decimal: str,
) -> tuple[dict[str, NDArray[Any]], list[Any]]:
    """Read features from text; `read_features` documents the options."""
    missing = frozenset(missing_values)

    def parse(i: int, cells: tuple[str, ...], first_row: int) -> NDArray[Any]:
        is_missing = [cell in missing for cell in cells]
        row = is_missing.index(True) if any(is_missing) else -1
        if row >= 0 and not allow_missing:
            raise ValueError(
                f"{source}: column {table.names[i]!r} has no value in row {first_row + row + 1} "
                f"({sum(is_missing)} missing in this column), a number was expected. Fill or leave "
                "out such values (allow_missing=True; on the command line --impute median or "
                "--drop-missing)."
            )
        values = ["nan" if absent else cell for cell, absent in zip(cells, is_missing, strict=True)]
        if decimal == ",":
            values = [cell.replace(",", ".") for cell in values]
        try:
            return np.asarray(values, np.float64)
        except ValueError:
            others = [row for row, cell in enumerate(values) if not _is_number(cell)]
            row = others[0]
            is_text = 2 * len(others) > len(cells) - sum(is_missing)
            if allow_text and is_text and not _DECIMAL_COMMA.fullmatch(cells[row].strip()):
                return _texts(cells, is_missing)
            raise ValueError(
                f"{source}: column {table.names[i]!r} has {cells[row]!r} in row "
                f"{first_row + row + 1}, a number was expected. {_advice(cells[row]) or _HINT}"
            ) from None

    columns, ids = _gather(table, parse)
    return {name: _only_texts(values) for name, values in columns.items()}, ids


def _only_texts(values: NDArray[Any]) -> NDArray[Any]:
    """Write the numbers of earlier blocks as text if a later block has text."""
    if values.dtype != object:
        return values
    numbers = [i for i, value in enumerate(values) if isinstance(value, float)]
    values[numbers] = [None if values[i] != values[i] else f"{values[i]:.15g}" for i in numbers]
    return values


def _texts(cells: tuple[str, ...], is_missing: list[bool]) -> NDArray[Any]:
    values = np.empty(len(cells), object)
    values[:] = [None if absent else cell for cell, absent in zip(cells, is_missing, strict=True)]
    return values


def _gather(
    table: TableBlocks, convert: Callable[[int, tuple[str, ...], int], NDArray[Any]]
) -> tuple[dict[str, NDArray[Any]], list[Any]]:
    """Return columns and ids; `convert(column index, cells, first row)` makes arrays of cells."""
    parts: list[list[NDArray[Any]]] = [[] for _ in table.names]
    ids: list[Any] = []
    n_rows = 0
    for block in table.blocks:
        for i, cells in enumerate(block.columns):
            parts[i].append(convert(i, cells, n_rows))
        ids += block.ids or ()
        n_rows += len(block)
    return dict(zip(table.names, map(np.concatenate, parts), strict=True)), ids


def _advice(cell: str) -> str:
    """Return what to do about a cell that is not a number, if its form tells."""
    if _DECIMAL_COMMA.fullmatch(cell.strip()):
        return (
            "It has a decimal comma: pass decimal=',', on the command line --decimal , (if it also "
            "separates thousands by points, export the table without them)."
        )
    if cell.strip().lower() in MISSING_TOKENS:
        return f"If it means a missing value, say so: missing_values, --missing-values {cell!r}."
    return ""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read(
    source: str | Path | IO[str],
    selection: Selection,
    missing_values: Sequence[str],
    read_text: Callable[..., tuple[Mapping[str, NDArray[Any]], list[Any]]],
) -> Table:
    """Read a table; `read_text` reads the columns and ids of one that is text."""
    is_path = isinstance(source, str | Path)
    name = str(source) if is_path else getattr(source, "name", "the input")
    ids: list[Any] | None
    with open_blocks(source, selection) as table:
        if table.is_text:
            columns, ids = read_text(table, missing_values, name)
        else:
            block = collect(table.blocks)
            values = [without_missing_values(column, missing_values) for column in block.columns]
            columns, ids = dict(zip(table.names, values, strict=True)), block.ids
    sample_ids = None if table.id_name is None else np.asarray(ids, object)
    return Table(columns, sample_ids, table.id_name or "id", name)
