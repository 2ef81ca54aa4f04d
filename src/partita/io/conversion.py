"""One call for all conversions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.io import MISSING
from partita.io._sources import ReadOptions, source_of
from partita.io._targets import write_npy, write_parquet, write_store, write_text

__all__ = ["Conversion", "convert"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_STORES = ("", ".store")


@dataclass(frozen=True)
class Conversion:
    """What was written, and where."""

    target: Path
    n_samples: int
    n_partitions: int
    has_sample_ids: bool


def convert(
    source: str | Path,
    target: str | Path,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing: Sequence[str] = MISSING,
    noise: str = "missing",
    header: bool = True,
) -> Conversion:
    """Copy labels from one kind of file to another, block by block.

    A folder is a label store; files are told apart by their endings: .csv, .tsv, .parquet, .npy,
    and .npz or .h5ad (columns of `obs`) as a source. Files are read twice, once to learn the labels
    and once to copy them, so memory holds a block of rows and the names of the clusters, however
    many samples there are; only the columns of .npz and .h5ad are held as a whole. The target
    appears when it is whole; a failure leaves what was there before.

    Parameters
    ----------
    source : path
    target : path
        A store is a new folder, without an ending or with .store; a file is replaced.
    columns : sequence of str, optional
        Names or patterns such as "leiden_*" of the partitions; all but the ids by default, required
        for .h5ad.
    id_column : str, optional
        Column with the samples' names; not needed for a store or .h5ad.
    missing : sequence of str
        Text that stands for a missing label.
    noise : {"missing", "cluster"}
        Whether a label of -1 is no label or a cluster.
    header : bool
        Whether the first line of a text file holds names.

    Returns
    -------
    Conversion

    Notes
    -----
    Types: a store and parquet keep them. Text files do not say them; see `partita.io`. A .npy
    file holds whole numbers with -1 where a label is missing, numbers with NaN or text with "", and
    neither ids nor names. Samples without any label are kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita import LabelStore, convert
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "labels.csv").write_text("cell,a,b\\nx,1,red\\ny,2,\\n")
    >>> done = convert(folder / "labels.csv", folder / "labels.store", id_column="cell")
    >>> LabelStore.open(done.target).sample_ids
    array(['x', 'y'], dtype=object)
    >>> _ = convert(done.target, folder / "back.csv")
    >>> print((folder / "back.csv").read_text().strip())
    id,a,b
    x,1,red
    y,2,
    """
    if noise not in ("missing", "cluster"):
        raise ValueError(
            f'noise must be "missing" or "cluster", got {noise!r}: a cluster per noise sample '
            "needs all of them in memory, see `Ensemble.from_partitions` and "
            "`LabelStore.from_partitions`."
        )
    start, end = Path(source), Path(target)
    _check_target(start, end)
    labels = source_of(start, ReadOptions(columns, id_column, missing, noise, header))
    suffix = end.suffix.lower()
    if suffix in _STORES:
        write_store(end, labels)
    elif suffix in _DELIMITERS:
        write_text(end, labels, _DELIMITERS[suffix])
    elif suffix == ".parquet":
        write_parquet(end, labels)
    else:
        write_npy(end, labels)
    return Conversion(end, labels.n_samples, len(labels.names), labels.id_name is not None)


def _check_target(source: Path, target: Path) -> None:
    """Refuse before the work, not after it, what could not be written."""
    suffix = target.suffix.lower()
    known = (*_DELIMITERS, ".parquet", ".npy")
    if suffix not in (*_STORES, *known):
        raise ValueError(
            f"{str(target)!r} must end in one of {', '.join(known)}, or in .store or nothing for a "
            "label store."
        )
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(target.absolute().parent)!r} to write into.")
    if suffix in known and target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder.")
    if source.exists() and target.exists() and source.samefile(target):
        raise ValueError(f"{str(target)!r} is both source and target.")
