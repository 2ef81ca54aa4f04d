"""Which reader a file gets: by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from partita.exceptions import InvalidEnsembleError
from partita.io._arrays import read_arrays
from partita.io._delimited import read_delimited_features, read_delimited_labels
from partita.io._frames import read_h5ad, read_parquet
from partita.io._table import MISSING, Table

__all__ = ["DELIMITERS", "open_text", "read_features", "read_labels"]

DELIMITERS = {".csv": None, ".txt": None, ".tsv": "\t", ".tab": "\t"}  # None: see the first line
_READERS: dict[str, Callable[..., Table]] = {
    ".npy": read_arrays,
    ".npz": read_arrays,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".h5ad": read_h5ad,
}


def read_labels(
    source: str | Path | IO[str],
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing: Sequence[str] = MISSING,
    header: bool = True,
) -> Table:
    """Read a table of labels, one partition per column.

    Parameters
    ----------
    source : path, or open text file with CSV or TSV
        By its name .csv, .tsv, .parquet, .npy, .npz or .h5ad (columns of `obs`).
    columns : sequence of str, optional
        Names or patterns such as "leiden_*"; all but the ids by default, required for .h5ad.
    id_column : str, optional
        Column with the samples' names. In CSV a first column without a name, as data frames write
        their index, is taken for the ids; in .h5ad the names of the observations are.
    missing : sequence of str
        Text that stands for a missing label. A label of -1 is noise, which the ensemble decides on.
    header : bool
        Whether the first line of a CSV file holds names.

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
    return _read(source, read_delimited_labels, columns, id_column, missing, header)


def read_features(
    source: str | Path | IO[str],
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing: Sequence[str] = MISSING,
    header: bool = True,
) -> Table:
    """Read a table of numbers; parameters as in `read_labels`.

    Features have no missing values: a cell that is no number is an error that says where it is.
    """
    table = _read(source, read_delimited_features, columns, id_column, missing, header)
    for name, column in table.columns.items():
        if column.dtype.kind not in "fiub":
            raise ValueError(
                f"{table.source}: column {name!r} holds {column.dtype} where numbers were "
                "expected. Choose the columns with features, and say which holds the ids."
            )
    return table


def _read(
    source: str | Path | IO[str],
    read_delimited: Callable[..., Table],
    columns: Sequence[str] | None,
    id_column: str | None,
    missing: Sequence[str],
    header: bool,
) -> Table:
    suffix = ".csv" if hasattr(source, "read") else Path(source).suffix.lower()
    if suffix in DELIMITERS:
        with open_text(source) as (file, name):
            return read_delimited(
                file,
                missing,
                name,
                DELIMITERS[suffix],
                header=header,
                patterns=columns,
                id_column=id_column,
            )
    path = Path(str(source))
    if suffix not in _READERS:
        known = ", ".join([*DELIMITERS, *_READERS])
        raise InvalidEnsembleError(f"Cannot tell what {str(path)!r} is; known endings: {known}.")
    if not path.exists():
        raise FileNotFoundError(f"No file {str(path)!r}.")
    return _READERS[suffix](path, missing, columns, id_column)


@contextmanager
def open_text(source: str | Path | IO[str]) -> Iterator[tuple[Any, str]]:
    if hasattr(source, "read"):
        yield source, getattr(source, "name", "the input")
        return
    if not Path(source).exists():
        raise FileNotFoundError(f"No file {str(source)!r}.")
    with open(
        source, encoding="utf-8-sig", newline=""
    ) as file:  # with or without a byte order mark
        try:
            yield file, str(source)
        except UnicodeDecodeError as error:
            raise InvalidEnsembleError(f"{source} is not text in UTF-8: {error}.") from error
