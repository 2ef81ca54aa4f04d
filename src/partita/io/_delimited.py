"""CSV and TSV: text in blocks of lines, so that memory holds codes and not a string per cell.

A file says nothing about types, so they follow from all labels of a column together: whole numbers
if every one is written as such, decimals if every one is a plain decimal number, text otherwise.
Text stays as it is written: in a column with "01" or "1e5" no label is a number.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from io import UnsupportedOperation
from itertools import chain, islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError
from partita.io._table import Table, choose_columns

__all__ = [
    "Sheet",
    "read_delimited_features",
    "read_delimited_labels",
    "typed_labels",
    "write_delimited",
]

_BLOCK = 1_000  # lines; more are slower, they leave the cache
_DELIMITERS = (",", "\t", ";")
# at most 15 digits, which floating point holds exactly
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?")


class _Codes(dict[str, int]):
    """Number of every distinct text in order of appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


class Sheet:
    """An open file of cells: its header, which columns are wanted, and the blocks of its rows."""

    def __init__(
        self,
        file: IO[str],
        source: str,
        delimiter: str | None,
        header: bool,
        patterns: Sequence[str] | None,
        id_column: str | None,
    ) -> None:
        first = file.readline()
        if not first.strip():
            raise InvalidEnsembleError(f"{source} is empty.")
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=first.count)
        self._source = source
        self._file, self._bytes = file, _size(file)
        # a quoted name may go on in the next line, hence one reader for both
        rows = csv.reader(chain([first], file), delimiter=delimiter, skipinitialspace=True)
        names = next(rows)
        self._rows = chain([] if header else [names], rows)
        if not header:
            names = [f"partition_{i}" for i in range(len(names))]
        if id_column is None and names[0] == "":
            id_column = ""  # the index of a data frame, as pandas writes it
        self.width = len(names)
        self.chosen = choose_columns(names, patterns, id_column, source)
        self._places = [names.index(name) for name in self.chosen]
        self._id_place = None if id_column is None else names.index(id_column)
        self.id_name = id_column or "id"
        self.ids: list[str] = []

    def blocks(self) -> Iterator[list[tuple[str, ...]]]:
        """The chosen columns, block by block; ids are gathered on the way."""
        done = 0
        while rows := list(islice(self._rows, _BLOCK)):
            # in a file of one column an empty line is an empty cell
            rows = [row or [""] for row in rows] if self.width == 1 else list(filter(None, rows))
            if any(len(row) != self.width for row in rows):
                place = next(i for i, row in enumerate(rows) if len(row) != self.width)
                raise InvalidEnsembleError(
                    f"{self._source}: row {done + place + 1} has {len(rows[place])} cells, "
                    f"{self.width} were expected."
                )
            if rows:
                columns = list(zip(*rows, strict=True))
                if self._id_place is not None:
                    self.ids += columns[self._id_place]
                yield [columns[place] for place in self._places]
            done += len(rows)
            if self._bytes:
                report_progress("reading", self._file.buffer.tell(), self._bytes)  # type: ignore[attr-defined]
        if not done:
            raise InvalidEnsembleError(f"{self._source} has a header and no rows.")

    def table(self, columns: Sequence[NDArray[Any]]) -> Table:
        return Table(
            dict(zip(self.chosen, columns, strict=True)),
            None if self._id_place is None else np.asarray(self.ids, object),
            self.id_name,
            self._source,
        )


def _size(file: IO[str]) -> int:
    """Bytes of a file on disk, of which one can say how far it has been read; 0 for a pipe."""
    try:
        return os.fstat(file.fileno()).st_size
    except UnsupportedOperation:  # text in memory
        return 0


def read_delimited_labels(
    file: IO[str], missing: Sequence[str], source: str, delimiter: str | None, **options: Any
) -> Table:
    """Columns of labels, whole numbers, decimals or text; O(cells) time."""
    sheet = Sheet(file, source, delimiter, **options)
    codes = [_Codes() for _ in sheet.chosen]
    parts: list[list[NDArray[np.int32]]] = [[] for _ in sheet.chosen]
    for block in sheet.blocks():
        for column, code, part in zip(block, codes, parts, strict=True):
            numbers = map(code.__getitem__, column)
            part.append(np.fromiter(numbers, np.int32, len(column)))
    columns = [
        typed_labels(list(code), np.concatenate(part), missing)
        for code, part in zip(codes, parts, strict=True)
    ]
    return sheet.table(columns)


def typed_labels(
    texts: list[str], codes: NDArray[np.int32], missing: Sequence[str]
) -> NDArray[Any]:
    """The column: masked whole numbers, floats with NaN, or text with None."""
    absent = np.asarray([text in missing for text in texts])
    labels = [text for text in texts if text not in missing]
    for pattern, kind, filler in ((_WHOLE, int, "0"), (_DECIMAL, float, "nan")):
        if labels and all(map(pattern.fullmatch, labels)):
            numbers: Any = [kind(filler if m else t) for t, m in zip(texts, absent, strict=True)]
            values = np.asarray(numbers)[codes]
            return np.ma.masked_array(values, absent[codes]) if kind is int else values
    return np.asarray([None if m else t for t, m in zip(texts, absent, strict=True)], object)[codes]


def read_delimited_features(
    file: IO[str], missing: Sequence[str], source: str, delimiter: str | None, **options: Any
) -> Table:
    """Columns of numbers."""
    sheet = Sheet(file, source, delimiter, **options)
    parts: list[list[NDArray[np.float64]]] = [[] for _ in sheet.chosen]
    done = 0
    for block in sheet.blocks():
        for name, column, part in zip(sheet.chosen, block, parts, strict=True):
            try:
                part.append(np.asarray(column, np.float64))
            except ValueError:
                row = next(i for i, cell in enumerate(column) if not _is_number(cell))
                what = "no value" if column[row] in missing else repr(column[row])
                raise ValueError(
                    f"{source}: column {name!r} has {what} in row {done + row + 1}, a number was "
                    "expected. Choose the columns with features, and say which holds the ids."
                ) from None
        done += len(block[0])
    return sheet.table([np.concatenate(part) for part in parts])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write_delimited(file: IO[str], table: Table, delimiter: str) -> None:
    """A header and a line per sample, ids first; what is missing is an empty cell."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    names, columns = list(table.columns), [_cells(c) for c in table.columns.values()]
    if table.ids is not None:
        names, columns = [table.id_name, *names], [table.ids.tolist(), *columns]
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))


def _cells(column: NDArray[Any]) -> list[Any]:
    """What csv writes: nothing for None and NaN."""
    values: list[Any] = column.tolist()  # a masked entry becomes None
    return ["" if v != v else v for v in values] if column.dtype.kind == "f" else values
