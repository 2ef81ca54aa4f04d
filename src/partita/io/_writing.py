"""Which writer a file gets: by its name. A file is there whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from partita._atomic import atomic_path
from partita.io._arrays import write_npy, write_npz
from partita.io._delimited import write_delimited
from partita.io._frames import write_h5ad, write_parquet
from partita.io._table import Table

__all__ = ["check_target", "write_table"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_KNOWN = (*_DELIMITERS, ".npy", ".npz", ".parquet", ".h5ad")


def check_target(target: str | Path) -> Path:
    """Refuse before the work, not after it, what could not be written."""
    path = Path(target)
    if path.suffix.lower() not in _KNOWN:
        raise ValueError(f"{str(target)!r} must end in one of {', '.join(_KNOWN)}.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(path.absolute().parent)!r} to write into.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder.")
    return path


def write_table(target: str | Path | IO[str], table: Table, *, base: Path | None = None) -> None:
    """Write columns with the samples' ids.

    Parameters
    ----------
    target : path, or open text file for CSV
        By its name .csv, .tsv, .parquet, .npy (no ids), .npz or .h5ad.
    table : Table
    base : path, optional
        An .h5ad file to whose copy the columns are added, if that is what `target` is. An .h5ad
        `target` that exists already gets the columns added, whatever `base` is.
    """
    if not isinstance(target, str | Path):
        write_delimited(target, table, ",")
        return
    path = check_target(target)
    suffix = path.suffix.lower()
    with atomic_path(path) as partial:
        if suffix in _DELIMITERS:
            with open(partial, "w", encoding="utf-8", newline="") as text:
                write_delimited(text, table, _DELIMITERS[suffix])
        elif suffix == ".parquet":
            write_parquet(partial, table)
        elif suffix == ".h5ad":
            write_h5ad(partial, table, path if path.exists() else base)
        else:
            with open(partial, "wb") as file:
                (write_npy if suffix == ".npy" else write_npz)(file, table)
