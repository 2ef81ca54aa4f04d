"""The table of file formats: which module reads and writes files of a suffix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from partita._atomic import atomic_path
from partita._damage import explained_reading
from partita.exceptions import InvalidEnsembleError
from partita.io import _delimited, _h5ad, _npz, _parquet, _xlsx, npy
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader

__all__ = ["STORE_SUFFIXES", "check_target", "open_blocks", "write_blocks"]


class _Format(NamedTuple):
    """Functions of one format: (path, Selection, cells_per_block) and (path, header, blocks)."""

    read_blocks: Callable[..., AbstractContextManager[TableBlocks]]
    write_blocks: Callable[..., None]


def _delimited_format(reads: str | None, writes: str) -> _Format:
    return _Format(
        partial(_delimited.read_blocks, delimiter=reads),
        partial(_delimited.write_blocks, delimiter=writes),
    )


_CSV = _delimited_format(None, ",")
_TSV = _delimited_format("\t", "\t")
_PARQUET = _Format(_parquet.read_blocks, _parquet.write_blocks)
_FORMATS = {
    ".csv": _CSV,
    ".tsv": _TSV,
    ".parquet": _PARQUET,
    ".npy": _Format(npy.read_blocks, npy.write_blocks),
    ".npz": _Format(_npz.read_blocks, _npz.write_blocks),
    ".h5ad": _Format(_h5ad.read_blocks, _h5ad.write_blocks),
    ".txt": _CSV,
    ".tab": _TSV,
    ".pq": _PARQUET,
}
STORE_SUFFIXES = ("", ".store")
_READERS = {suffix: form.read_blocks for suffix, form in _FORMATS.items()} | {
    ".xlsx": _xlsx.read_blocks  # only read
}


def open_blocks(
    source: str | Path | IO[str], selection: Selection, cells_per_block: int | None = None
) -> AbstractContextManager[TableBlocks]:
    """Open a table for one pass over its rows, by the suffix of its name.

    An open text file and a pipe without a suffix are read as CSV. Without `cells_per_block`, a
    table with types is one block; .npz, .h5ad and .xlsx files always are.
    """
    if not isinstance(source, str | Path):
        return _CSV.read_blocks(source, selection)
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".gz" and Path(path.stem).suffix.lower() in (".csv", ".tsv", ".txt", ".tab"):
        suffix = Path(path.stem).suffix.lower()
    if path.is_fifo() and suffix not in _READERS:
        suffix = ".csv"
    if suffix not in _READERS:
        raise InvalidEnsembleError(
            f"Cannot read {str(path)!r}: expected a label store or a file that ends in "
            f"{', '.join(_READERS)}, or .csv.gz."
        )
    if not path.exists():
        raise FileNotFoundError(f"No file {str(path)!r}.")
    return _explained_blocks(path, _READERS[suffix](path, selection, cells_per_block))


@contextmanager
def _explained_blocks(
    path: Path, opened: AbstractContextManager[TableBlocks]
) -> Iterator[TableBlocks]:
    """Open a table; an error of the package that reads it becomes an `InvalidFileError`."""
    with ExitStack() as stack:
        with explained_reading(path):
            table = stack.enter_context(opened)
        yield replace(table, blocks=_explained_iteration(path, table.blocks))


def _explained_iteration(path: Path, blocks: Iterable[Block]) -> Iterator[Block]:
    iterator = iter(blocks)
    while True:
        with explained_reading(path):
            try:
                block = next(iterator)
            except StopIteration:
                return
        yield block


def write_blocks(
    target: str | Path | IO[str],
    header: TableHeader,
    blocks: Iterable[Block],
    *,
    base: Path | None = None,
    uns: Mapping[str, Any] | None = None,
) -> None:
    """Write a table by the suffix of its name; an open text file gets CSV.

    The file appears when it is complete. `base` is an .h5ad file to whose copy the columns are
    added if `target` is a new .h5ad file; an existing one gets the columns itself. `uns` has
    entries for the `uns` of an .h5ad file.
    """
    header = replace(header, id_name=_distinct_name(header.id_name, header.names))
    if not isinstance(target, str | Path):
        _CSV.write_blocks(target, header, blocks)
        return
    path = check_target(target)
    suffix = path.suffix.lower()
    options: dict[str, Any] = {}
    if suffix == ".h5ad":
        options = {"base": path if path.exists() else base, "uns": uns}
    with atomic_path(path) as unfinished:
        _FORMATS[suffix].write_blocks(unfinished, header, blocks, **options)


def _distinct_name(id_name: str | None, names: list[str]) -> str | None:
    """Return a name for the column of ids that no other column has."""
    while id_name is not None and id_name in names:
        id_name = f"sample_{id_name}"
    return id_name


def check_target(
    target: str | Path, suffixes: Iterable[str] = tuple(_FORMATS), *, store: bool = False
) -> Path:
    """Raise an error if a file cannot be written, before anything is computed for it.

    Its name must have one of `suffixes`, or those of a label store if `store` is true.
    """
    path = Path(target)
    suffix = path.suffix.lower()
    is_store = store and suffix in STORE_SUFFIXES
    if not is_store and suffix not in suffixes:
        or_store = ", or in .store or nothing for a label store" if store else ""
        raise ValueError(f"{str(target)!r} must end in one of {', '.join(suffixes)}{or_store}.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(path.absolute().parent)!r} to write into.")
    if not is_store and path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder.")
    return path
