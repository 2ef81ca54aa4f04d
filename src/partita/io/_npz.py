"""Files of several NumPy arrays. Python objects are not read: unpickling can run any program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.exceptions import InvalidEnsembleError, MemoryBudgetError
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader, collect

__all__ = ["read_blocks", "write_blocks"]


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Read every array as a column of its name, in one block.

    A two-dimensional array `x` becomes the columns x_0, x_1, ...
    """
    columns = dict(_columns(path))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise InvalidEnsembleError(
            f"{path} holds columns of different lengths: {sorted(lengths)}. Expected one entry per "
            "sample in each."
        )
    names = selection.choose(list(columns), str(path))
    id_name = selection.id_column
    ids = None if id_name is None else columns[id_name].tolist()
    block = Block([columns[name] for name in names], ids)
    yield TableBlocks(names, iter([block]), id_name, lengths.pop())


def _columns(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    try:
        with open(path, "rb") as file:
            if is_zipfile(file):
                with ZipFile(file) as members:
                    size = sum(member.file_size for member in members.infolist())
                require_memory(size, f"Unpacking {path}")
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            arrays = {name: archive[name] for name in archive}
    except MemoryBudgetError:
        raise
    except MemoryError as error:  # although what the file has would fit
        raise InvalidEnsembleError(
            f"{path} promises an array that is larger than the file: {error}. It is damaged."
        ) from error
    except (ValueError, EOFError, TypeError) as error:
        if "pickle" in str(error):
            raise InvalidEnsembleError(
                f"{path} holds Python objects (a pickle), which could run any program when read "
                "and is therefore never opened. Save labels as numbers or text: "
                "np.savez(path, labels=labels.astype(str))."
            ) from error
        raise InvalidEnsembleError(f"{path} is not a file of NumPy arrays: {error}") from error
    for name, array in arrays.items():
        if array.ndim == 1:
            yield name, array
        elif array.ndim == 2:
            yield from ((f"{name}_{i}", array[:, i]) for i in range(array.shape[1]))
        else:
            raise InvalidEnsembleError(
                f"{path}: {name!r} has {array.ndim} dimensions, expected 1 (a column) or 2 "
                "(samples by columns)."
            )


def write_blocks(path: Path, header: TableHeader, blocks: Iterable[Block]) -> None:
    """Write one array per column, and the ids, each by its name."""
    table = collect(blocks)
    arrays = dict(zip(header.names, map(_storable, table.columns), strict=True))
    if header.id_name is not None and table.ids is not None:
        arrays[header.id_name] = _storable(np.asarray(table.ids, object))
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _storable(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers, with -1 or NaN for a missing one, or text, with "" for a missing one."""
    if isinstance(column, np.ma.MaskedArray):
        return np.asarray(column.filled(np.nan if column.dtype.kind == "f" else -1))
    if column.dtype.kind == "O":
        return np.asarray(["" if v is None else str(v) for v in column.tolist()])
    return column
