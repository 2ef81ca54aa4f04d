"""`convert`: copy labels from one kind of file to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import atomic_folder
from partita._input.coding import warn_of_sample_ids
from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableHeader
from partita.io._formats import STORE_SUFFIXES, check_target, write_blocks
from partita.io._label_blocks import CodedBlock, LabelBlocks, open_labels
from partita.io._vocabulary import MISSING_VALUES
from partita.io.store import LabelStore, require_new_folder

__all__ = ["Conversion", "convert"]

_CHECKED_IDS = 1_000_000  # ids that are compared with each other


@dataclass(frozen=True)
class Conversion:
    """What `convert` wrote.

    Attributes
    ----------
    target : Path
        The file or folder.
    n_samples, n_partitions : int
        Number of samples and of partitions.
    has_sample_ids : bool
        Whether the source has names of the samples.
    """

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
    missing_values: Sequence[str] = MISSING_VALUES,
    noise: str = "missing",
    header: bool = True,
    encoding: str | None = None,
) -> Conversion:
    """Copy labels from one kind of file to another, block by block.

    A folder is a label store. The suffix of a file names its format: .csv, .tsv, .parquet, .npy,
    .npz or .h5ad (columns of `obs`). A file is read twice, once to learn the labels and once to
    copy them, so memory holds a block of rows and the names of the clusters, for any number of
    samples. Only .npz and .h5ad files are read and written as a whole. The target appears when it
    is complete; after a failure the old target is still there.

    Parameters
    ----------
    source : path
        File or store to read.
    target : path
        A new folder for a store, whose name has no suffix or .store, or a file. An existing file
        is replaced; an existing .h5ad file gets the columns added.
    columns : sequence of str, optional
        Names or patterns such as "leiden_*" of the partitions. By default all columns but the ids;
        required for .h5ad.
    id_column : str, optional
        Column with the names of the samples. A store and .h5ad do not need it. By default samples
        of other files have no names.
    missing_values : sequence of str, default=("", "NA", "NaN", "nan", "None", "null")
        Text that stands for a missing label.
    noise : {"missing", "cluster"}, default="missing"
        Whether a label of -1 is a missing label or a cluster.
    header : bool, default=True
        Whether the first line of a text file holds the column names.
    encoding : str, optional
        Encoding of a text file, as in `read_labels`. By default UTF-8 or UTF-16.

    Returns
    -------
    Conversion

    Notes
    -----
    A store and parquet keep the types of labels. Text files have no types, see `read_labels`. An
    .npy file holds whole numbers with -1 where a label is missing, numbers with NaN or text with
    "", and neither ids nor names. Samples without any label are kept. Repeated ids are an error;
    only the first million ids are compared, so that memory does not grow with the samples.

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
    start, end = Path(source), check_target(target, store=True)
    if start.exists() and end.exists() and start.samefile(end):
        raise ValueError(f"{str(target)!r} is both source and target.")
    labels = open_labels(
        start, Selection(columns, id_column, header, encoding), missing_values, noise
    )
    warn_of_sample_ids(labels.layout.categories, labels.names, labels.n_samples)
    write = _write_store if end.suffix.lower() in STORE_SUFFIXES else _write_file
    write(end, labels)
    return Conversion(end, labels.n_samples, len(labels.names), labels.id_name is not None)


def _write_store(path: Path, labels: LabelBlocks) -> None:
    """Write a new label store, which appears when it is complete."""
    require_new_folder(path)
    with atomic_folder(path) as partial:
        writer = LabelStore.create(
            partial,
            labels.n_samples,
            labels.layout.categories,
            partition_names=labels.names,
            provenance=labels.provenance,
        )
        with writer:
            start = 0
            for ids, codes in _counted(labels):
                writer.write(start, codes)
                if ids is not None:
                    writer.append_sample_ids(ids)
                start += len(codes)
            writer.finish()


def _write_file(path: Path, labels: LabelBlocks) -> None:
    categories = list(map(_one_type, labels.layout.categories, labels.names))
    header = TableHeader(labels.names, categories, labels.n_samples, labels.id_name)
    blocks = (
        Block([_decode(codes[:, i], c) for i, c in enumerate(categories)], ids)
        for ids, codes in _counted(labels)
    )
    write_blocks(path, header, blocks)


def _one_type(categories: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the labels of one partition as numbers, truth values or text."""
    if categories.dtype.kind in "iufb":
        return categories
    values = categories.tolist()
    if all(isinstance(v, float) or (type(v) is int and abs(v) < 2**53) for v in values):
        return np.asarray(values, np.float64)
    texts = [str(value) for value in values]
    if len(set(texts)) < len(texts):
        raise InvalidEnsembleError(
            f"Partition {name!r} has labels of different types that read the same as text, such as "
            "1 and '1'. Only a label store keeps them apart."
        )
    return np.asarray(texts, object)


def _decode(codes: NDArray[Any], categories: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of codes; missing ones are masked, or None among text."""
    is_missing = codes >= len(categories)
    values = categories[np.where(is_missing, 0, codes)]
    if categories.dtype.kind == "O":
        values[is_missing] = None
        return values
    return np.ma.masked_array(values, is_missing) if is_missing.any() else values


def _check_repeated(ids: Sequence[Any], seen: set[int]) -> None:
    """Raise an error for an id that was seen before, in this block or an earlier one."""
    for name in ids:
        key = hash(name)
        if key in seen:
            raise InvalidEnsembleError(
                f"The id {name!r} occurs more than once. An id names one sample: make the ids "
                "different, or name another column."
            )
        seen.add(key)


def _counted(labels: LabelBlocks) -> Iterator[CodedBlock]:
    """Iterate over the blocks, report progress and check the number of samples."""
    done = 0
    seen: set[int] = set()
    for ids, codes in labels.blocks:
        if ids is not None and done < _CHECKED_IDS:
            _check_repeated(ids, seen)
        yield ids, codes
        done += len(codes)
        report_progress("convert", done, labels.n_samples)
    if done != labels.n_samples:
        raise InvalidEnsembleError(
            f"The source has changed while it was read: {done} samples instead of "
            f"{labels.n_samples}."
        )
