"""CSV and TSV files."""

from __future__ import annotations

import codecs
import csv
import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper, UnsupportedOperation
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from partita._warn import warn_user
from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader
from partita.io._vocabulary import MISSING_VALUES

__all__ = ["read_blocks", "write_blocks"]

_BLOCK_LINES = 1_000  # larger blocks leave the processor's cache and are slower
_DELIMITERS = (",", "\t", ";", "|")
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_START_BYTES = 4096  # of a file, read to guess its encoding


@contextmanager
def read_blocks(
    source: str | Path | IO[str],
    selection: Selection,
    cells_per_block: int | None = None,
    *,
    delimiter: str | None,
) -> Iterator[TableBlocks]:
    """Open a text file as blocks of 1000 rows of text cells.

    A delimiter of None is chosen by the first line: comma, tab, semicolon or bar. A first column
    without a name, as pandas writes an index, holds the sample ids.
    """
    with _open_text(source, selection.encoding) as (file, name):
        first = file.readline()
        if not first.strip():
            raise InvalidEnsembleError(f"{name} is empty.")
        delimiter = delimiter or _guess_delimiter(first, selection.decimal)
        # One reader for all lines: a quoted column name may continue in the second line.
        rows = csv.reader(chain([first], file), delimiter=delimiter, skipinitialspace=True)
        names = next(rows)
        if not selection.header:
            rows = chain([names], rows)  # type: ignore[assignment]
            names = [f"partition_{i}" for i in range(len(names))]
        id_column = selection.id_column
        if id_column is None and names[0] == "":
            id_column = ""
        chosen = Selection(selection.columns, id_column).choose(names, name)
        place_of = {name: place for place, name in enumerate(names)}
        places = [place_of[column] for column in chosen]
        id_place = None if id_column is None else place_of[id_column]
        blocks = (
            Block([c[i] for i in places], None if id_place is None else list(c[id_place]))
            for c in _column_blocks(rows, len(names), file, name)
        )
        id_name = None if id_column is None else id_column or "id"
        yield TableBlocks(chosen, blocks, id_name, is_text=True)


def _guess_delimiter(line: str, decimal: str) -> str:
    """Return the most frequent delimiter; a decimal comma is one only if there is no other."""
    others = [mark for mark in _DELIMITERS if mark != decimal and mark in line]
    return max(others or _DELIMITERS, key=line.count)


def _column_blocks(
    lines: Iterator[list[str]], width: int, file: IO[str], source: str
) -> Iterator[list[tuple[str, ...]]]:
    """Iterate over blocks of lines, as columns of cells."""
    n_bytes = _size(file)
    done = 0
    while rows := list(islice(lines, _BLOCK_LINES)):
        # In a file of one column, an empty line is an empty cell.
        rows = [row or [""] for row in rows] if width == 1 else list(filter(None, rows))
        for place, row in enumerate(rows):
            if len(row) != width:
                raise InvalidEnsembleError(
                    f"{source}: row {done + place + 1} has {len(row)} cells, {width} were expected."
                )
        if rows:
            yield list(zip(*rows, strict=True))
        done += len(rows)
        if n_bytes:
            report_progress("reading", file.buffer.tell(), n_bytes)  # type: ignore[attr-defined]
    if not done:
        raise InvalidEnsembleError(f"{source} has a header and no rows.")


@contextmanager
def _open_text(source: str | Path | IO[str], encoding: str | None) -> Iterator[tuple[IO[str], str]]:
    if not isinstance(source, str | Path):
        yield source, getattr(source, "name", "the input")
        return
    with _open_bytes(source) as binary:
        # The file is opened once and its start only looked at, so that it may be a named pipe.
        encoding = encoding or _guess_encoding(binary.peek(_START_BYTES), str(source))
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise InvalidEnsembleError(
                f"No encoding {encoding!r}. There are, for example, utf-8, utf-16 and latin-1."
            ) from None
        with TextIOWrapper(binary, encoding=encoding, newline="") as file:
            try:
                yield file, str(source)
            except UnicodeError as error:
                raise InvalidEnsembleError(
                    f"{source} is not text in {encoding.removesuffix('-sig').upper()}: {error}. "
                    "Pass its encoding (on the command line --encoding), for example latin-1 or "
                    "cp1252."
                ) from error


def _open_bytes(path: str | Path) -> Any:
    return gzip.open(path) if str(path).lower().endswith(".gz") else open(path, "rb")


def _guess_encoding(start: bytes, source: str) -> str:
    """Return the encoding of a file that begins with these bytes."""
    if start[:2] in _UTF_16_MARKS:
        return "utf-16"
    if b"\0" in start:
        likely = "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
        raise InvalidEnsembleError(
            f"{source} is not text in UTF-8: it has zero bytes, as text in UTF-16 has. Pass its "
            f"encoding (on the command line --encoding), for example {likely}."
        )
    return "utf-8-sig"  # reads UTF-8 with and without a byte order mark


def _size(file: IO[str]) -> int:
    """Return the size of a file on disk in bytes; 0 for a pipe, text in memory, compressed text."""
    if isinstance(getattr(file, "buffer", None), gzip.GzipFile):
        return 0
    try:
        return os.fstat(file.fileno()).st_size
    except UnsupportedOperation:  # text in memory
        return 0


def write_blocks(
    target: Path | IO[str], header: TableHeader, blocks: Iterable[Block], *, delimiter: str
) -> None:
    """Write a header line and a line per sample, ids first; a missing value is an empty cell."""
    if isinstance(target, Path):
        with open(target, "w", encoding="utf-8", newline="") as file:
            write_blocks(file, header, blocks, delimiter=delimiter)
        return
    texts = {v for c in header.values if c.dtype.kind in "OU" for v in c.tolist()}
    if like_missing := sorted(texts.intersection(MISSING_VALUES)):
        warn_user(
            f"A cluster is called {like_missing[0]!r}, which text files use for a missing label. "
            "Pass other missing_values when you read this file."
        )
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*([] if header.id_name is None else [header.id_name]), *header.names])
    for block in blocks:
        columns = [_cells(column) for column in block.columns]
        if block.ids is not None:
            columns.insert(0, block.ids)
        writer.writerows(zip(*columns, strict=True))


def _cells(column: NDArray[Any]) -> list[Any]:
    """Return what `csv` writes; it writes nothing for None, which also replaces NaN."""
    values: list[Any] = column.tolist()  # a masked entry becomes None
    return [None if v != v else v for v in values] if column.dtype.kind == "f" else values
