"""Where labels come from: each kind of file as names, categories and blocks of codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.containers import label_columns
from partita.config import report_progress
from partita.exceptions import MissingPackageError
from partita.io._delimited import Sheet
from partita.io._reading import DELIMITERS, open_text, read_labels
from partita.io._table import choose_columns, without_tokens
from partita.io._vocabulary import TextVocabulary, ValueVocabulary
from partita.io.npy import NpyRows
from partita.io.store import LabelStore

__all__ = ["Block", "LabelSource", "ReadOptions", "pyarrow_parquet", "source_of"]

_CELLS = 1 << 19  # of a block
Block = tuple[list[Any] | None, NDArray[np.int64]]


@dataclass(frozen=True)
class ReadOptions:
    """How the cells of a file are to be understood."""

    columns: Sequence[str] | None
    id_column: str | None
    missing: Sequence[str]
    noise: str
    header: bool


class LabelSource(ABC):
    """Labels of one file.

    Attributes
    ----------
    names : list of str
        Of the partitions.
    categories : list of arrays
        The label of every code, per partition.
    n_samples : int
    id_name : str or None
        Name of the column of sample ids; None: there are no ids.
    provenance : dict
    """

    names: list[str]
    categories: list[NDArray[Any]]
    n_samples: int
    id_name: str | None
    provenance: dict[str, Any]

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Ids and codes of consecutive samples, -1 where a label is missing."""


def source_of(path: Path, options: ReadOptions) -> LabelSource:
    """The reader for a path: by its ending, or a store if it is a folder."""
    suffix = path.suffix.lower()
    if path.is_dir():
        return StoreSource(path, options)
    if not path.exists():
        raise FileNotFoundError(f"No file or folder {str(path)!r}.")
    if suffix in DELIMITERS:
        return TextSource(path, options)
    if suffix in (".parquet", ".pq"):
        return ParquetSource(path, options)
    if suffix == ".npy":
        return NpySource(path, options)
    if suffix in (".npz", ".h5ad"):
        return TableSource(path, options)
    raise ValueError(
        f"Cannot read labels from {str(path)!r}; expected a label store or a file ending in "
        f"{', '.join([*DELIMITERS, '.parquet', '.pq', '.npy', '.npz', '.h5ad'])}."
    )


class StoreSource(LabelSource):
    """A label store."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._store = store = LabelStore.open(path)
        store.require_complete()
        named = store.partition_names
        names = (
            [f"partition_{i}" for i in range(store.n_partitions)] if named is None else list(named)
        )
        self.names = choose_columns(names, options.columns, None, str(path))
        self._places = [names.index(name) for name in self.names]
        self.categories = [store.categories[i] for i in self._places]
        self.n_samples = store.n_samples
        self.id_name = "id" if store.has_sample_ids else None
        self.provenance = store.provenance

    def blocks(self) -> Iterator[Block]:
        rows = _rows_at_once(self._store.n_partitions)
        ids = self._store.iter_sample_ids(rows) if self.id_name else None
        out = np.empty((rows, self._store.n_partitions), self._store.dtype)
        for start, stop in self._store.blocks(rows):
            codes = self._store.read(start, stop, out)[:, self._places].astype(np.int64)
            codes[codes == self._store.missing_code] = -1
            yield (None if ids is None else next(ids)), codes
        if ids is not None:
            next(ids, None)  # compares their checksum


class TextSource(LabelSource):
    """CSV or TSV, read twice."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._options = options
        self._vocabularies: list[TextVocabulary] = []
        self.provenance = {"source": path.name}
        self.n_samples = 0
        for sheet, ids, block in self._read():
            if not self._vocabularies:
                self.names, self.id_name = list(sheet.chosen), sheet.id_name if ids else None
                self._vocabularies = [
                    TextVocabulary(name, options.noise, options.missing) for name in self.names
                ]
            for vocabulary, cells in zip(self._vocabularies, block, strict=True):
                vocabulary.see(cells)
            self.n_samples += len(block[0])
        for vocabulary in self._vocabularies:
            vocabulary.settle()
        self.categories = [vocabulary.categories for vocabulary in self._vocabularies]

    def _read(self) -> Iterator[tuple[Sheet, list[str], list[tuple[str, ...]]]]:
        options = self._options
        with open_text(self._path) as (file, name):
            sheet = Sheet(
                file,
                name,
                DELIMITERS[self._path.suffix.lower()],
                options.header,
                options.columns,
                options.id_column,
            )
            for block in sheet.blocks():
                ids, sheet.ids = sheet.ids, []  # gathered there, and needed no longer
                yield sheet, ids, block

    def blocks(self) -> Iterator[Block]:
        for _, ids, block in self._read():
            codes = [v.codes(cells) for v, cells in zip(self._vocabularies, block, strict=True)]
            yield (ids if self.id_name is not None else None), np.column_stack(codes)


class _TypedSource(LabelSource):
    """A file that knows the types of its labels, read twice."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._missing = options.missing
        self.provenance = {"source": path.name}
        self._vocabularies = [ValueVocabulary(name, options.noise) for name in self.names]
        done = 0
        for _, columns in self._read():
            for vocabulary, column in zip(self._vocabularies, columns, strict=True):
                vocabulary.see(without_tokens(column, self._missing))
            done += len(columns[0])
            report_progress("reading", done, self.n_samples)
        for vocabulary in self._vocabularies:
            vocabulary.settle()
        self.categories = [vocabulary.categories for vocabulary in self._vocabularies]

    @abstractmethod
    def _read(self) -> Iterator[tuple[list[Any] | None, list[NDArray[Any]]]]:
        """Ids and columns of consecutive samples."""

    def blocks(self) -> Iterator[Block]:
        for ids, columns in self._read():
            codes = [
                vocabulary.codes(without_tokens(column, self._missing))
                for vocabulary, column in zip(self._vocabularies, columns, strict=True)
            ]
            yield ids, np.column_stack(codes)


class ParquetSource(_TypedSource):
    """Parquet, in batches of rows."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        # read ahead, it would gather the columns of the whole file
        self._file = pyarrow_parquet().ParquetFile(path, pre_buffer=False)
        self.names = choose_columns(
            self._file.schema_arrow.names, options.columns, options.id_column, str(path)
        )
        self.n_samples = self._file.metadata.num_rows
        self.id_name = options.id_column
        super().__init__(path, options)

    def _read(self) -> Iterator[tuple[list[Any] | None, list[NDArray[Any]]]]:
        import pyarrow

        wanted = [*self.names, *([] if self.id_name is None else [self.id_name])]
        for batch in self._file.iter_batches(_rows_at_once(len(wanted)), columns=wanted):
            table = pyarrow.Table.from_batches([batch])
            ids = None if self.id_name is None else table[self.id_name].to_pylist()
            yield ids, list(label_columns(table.select(self.names))[0])


class NpySource(_TypedSource):
    """A matrix of labels in a .npy file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._rows = NpyRows.of(path, vector_as_column=True)
        names = [f"partition_{i}" for i in range(self._rows.shape[1])]
        self.names = choose_columns(names, options.columns, options.id_column, str(path))
        self._places = [names.index(name) for name in self.names]
        self._id_place = None if options.id_column is None else names.index(options.id_column)
        self.id_name = options.id_column
        self.n_samples = self._rows.shape[0]
        super().__init__(path, options)

    def _read(self) -> Iterator[tuple[list[Any] | None, list[NDArray[Any]]]]:
        rows = _rows_at_once(self._rows.shape[1])
        for start in range(0, self.n_samples, rows):
            block = self._rows.read(start, min(start + rows, self.n_samples))
            ids = None if self._id_place is None else block[:, self._id_place].tolist()
            yield ids, [block[:, place] for place in self._places]


class TableSource(_TypedSource):
    """A file of named columns that is read as a whole: .npz, or `obs` of .h5ad."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._table = read_labels(
            path,
            columns=options.columns,
            id_column=options.id_column,
            missing=options.missing,
            header=options.header,
        )
        self.names = list(self._table.columns)
        self.n_samples = self._table.n_samples
        self.id_name = None if self._table.ids is None else self._table.id_name
        super().__init__(path, options)

    def _read(self) -> Iterator[tuple[list[Any] | None, list[NDArray[Any]]]]:
        ids, rows = self._table.ids, _rows_at_once(len(self.names))
        for start in range(0, self.n_samples, rows):
            here = slice(start, start + rows)
            columns = [column[here] for column in self._table.columns.values()]
            yield (None if ids is None else ids[here].tolist()), columns


def _rows_at_once(n_columns: int) -> int:
    return max(1, _CELLS // n_columns)


def pyarrow_parquet() -> Any:
    if find_spec("pyarrow") is None:
        raise MissingPackageError(
            "Streaming parquet files needs the package pyarrow: pip install 'partita[parquet]'"
        )
    import pyarrow.parquet

    return pyarrow.parquet
