"""NumPy's own files, without objects: to unpickle one can run any program."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError, PartitaWarning
from partita.io._table import Table, choose_columns, without_tokens

__all__ = ["read_arrays", "write_npy", "write_npz"]


def read_arrays(
    path: Path, missing: Sequence[str], patterns: Sequence[str] | None, id_column: str | None
) -> Table:
    """A matrix from .npy, its columns called partition_0, ...; from .npz every array by its name.

    A two-dimensional array `x` of an .npz file becomes the columns x_0, x_1, ...
    """
    found = dict(_columns(path))
    lengths = {len(column) for column in found.values()}
    if len(lengths) != 1:
        raise InvalidEnsembleError(
            f"{path} holds columns of different lengths: {sorted(lengths)}. Expected one entry per "
            "sample in each."
        )
    chosen = choose_columns(list(found), patterns, id_column, str(path))
    return Table(
        {name: without_tokens(found[name], missing) for name in chosen},
        None if id_column is None else found[id_column],
        id_column or "id",
        str(path),
    )


def _columns(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            single = isinstance(loaded, np.ndarray)
            arrays = {"partition": loaded} if single else {name: loaded[name] for name in loaded}
    except (ValueError, EOFError) as error:
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise InvalidEnsembleError(
                f"{path} holds Python objects (a pickle), which could run any program when read "
                "and is therefore never opened. Save labels as numbers or text: "
                "np.save(path, labels.astype(str))."
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


def write_npz(file: BinaryIO, table: Table) -> None:
    """One array per column by its name, and the ids by theirs."""
    arrays = {name: _storable(column) for name, column in table.columns.items()}
    if table.ids is not None:
        arrays[table.id_name] = _storable(table.ids)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def write_npy(file: BinaryIO, table: Table) -> None:
    """The columns as a matrix, or a vector where there is one; there is no place for ids."""
    if table.ids is not None:
        warnings.warn("An .npy file holds no sample ids; .npz does.", PartitaWarning, stacklevel=2)
    columns = [_storable(column) for column in table.columns.values()]
    np.save(file, columns[0] if len(columns) == 1 else np.column_stack(columns))


def _storable(column: NDArray[Any]) -> NDArray[Any]:
    """Numbers, -1 where a whole number is missing; text, empty where it is missing."""
    if isinstance(column, np.ma.MaskedArray):
        return np.asarray(column.filled(-1))
    if column.dtype.kind == "O":
        return np.asarray(["" if v is None else str(v) for v in column.tolist()])
    return column
