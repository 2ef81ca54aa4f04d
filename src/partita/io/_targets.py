"""Where labels go: each kind of file written block by block, whole or not at all."""

from __future__ import annotations

import csv
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import atomic_path
from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError, PartitaWarning
from partita.io import MISSING
from partita.io._sources import Block, LabelSource, pyarrow_parquet
from partita.io.store import LabelStore
from partita.io.store._files import bytes_of, npy_header

__all__ = ["write_npy", "write_parquet", "write_store", "write_text"]

_ROW_GROUP = 1 << 16


def write_store(path: Path, source: LabelSource) -> None:
    """A new label store; a failure leaves none behind."""
    writer = LabelStore.create(
        path,
        source.n_samples,
        source.categories,
        partition_names=source.names,
        provenance=source.provenance,
    )
    try:
        start = 0
        for ids, codes in _blocks(source):
            writer.write(start, codes)
            if ids is not None:
                writer.append_sample_ids(ids)
            start += len(codes)
        writer.finish()
    except BaseException:
        shutil.rmtree(path)
        raise


def write_text(path: Path, source: LabelSource, delimiter: str) -> None:
    """CSV or TSV, ids first, an empty cell where a label is missing."""
    named = {name for known in source.categories for name in known.tolist()}
    if like_missing := sorted(named.intersection(MISSING), key=str):
        warnings.warn(
            f"A cluster is called {like_missing[0]!r}, which text files use for a missing label: "
            "say what is missing when you read this file.",
            PartitaWarning,
            stacklevel=3,
        )
    tables = [np.asarray([*known.tolist(), ""], object) for known in source.categories]
    with atomic_path(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([*_id_names(source), *source.names])
        for ids, codes in _blocks(source):
            columns = [table[codes[:, i]].tolist() for i, table in enumerate(tables)]
            writer.writerows(zip(*([] if ids is None else [ids]), *columns, strict=True))


def write_parquet(path: Path, source: LabelSource) -> None:
    """Columns of numbers or text, null where a label is missing."""
    parquet = pyarrow_parquet()
    import pyarrow

    tables = _label_tables(source)
    names = [*_id_names(source), *source.names]
    writer: Any = None
    group: list[Any] = []
    with atomic_path(path) as partial:
        try:
            for ids, codes in _blocks(source):
                # code -1 takes the last label, which the mask hides
                arrays = [
                    pyarrow.array(table[codes[:, i]], mask=codes[:, i] < 0)
                    for i, table in enumerate(tables)
                ]
                if ids is not None:
                    arrays.insert(0, pyarrow.array(_plain_ids(ids)))
                group.append(pyarrow.table(arrays, names))
                if writer is None:
                    writer = parquet.ParquetWriter(partial, group[0].schema)
                # few large groups: the file lists every one of them at its end
                if sum(map(len, group)) >= _ROW_GROUP:
                    writer.write_table(pyarrow.concat_tables(group))
                    group.clear()
            if group:
                writer.write_table(pyarrow.concat_tables(group))
        finally:
            if writer is not None:
                writer.close()


def write_npy(path: Path, source: LabelSource) -> None:
    """A matrix: whole numbers with -1, numbers with NaN, or text with "" where one is missing."""
    if source.id_name is not None:
        warnings.warn(
            "An .npy file holds neither sample ids nor names of partitions; a store, parquet and "
            "CSV do.",
            PartitaWarning,
            stacklevel=3,
        )
    tables, missing = _matrix_labels(source)
    dtype = np.result_type(*tables, missing)
    padded = [np.append(table, missing).astype(dtype) for table in tables]
    with atomic_path(path) as partial, open(partial, "wb") as file:
        file.write(npy_header(dtype, (source.n_samples, len(padded))))
        for _, codes in _blocks(source):
            columns = [table[codes[:, i]] for i, table in enumerate(padded)]
            file.write(bytes_of(np.column_stack(columns)))


def _matrix_labels(source: LabelSource) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Labels of all partitions as arrays that share a kind, and what stands for a missing one."""
    tables = _label_tables(source)
    kinds = {table.dtype.kind for table in tables}
    if kinds <= {"i"} and not any((table == -1).any() for table in tables):
        largest = max(int(np.abs(table).max()) for table in tables)
        narrow = np.int32 if largest < 2**31 else np.int64
        return [table.astype(narrow) for table in tables], np.asarray(-1, narrow)
    if kinds <= {"i", "f"}:
        return [table.astype(np.float64) for table in tables], np.asarray(np.nan)
    texts = [np.asarray([str(v) for v in table.tolist()]) for table in tables]
    if any((text == "").any() for text in texts):
        raise InvalidEnsembleError(
            "A cluster is called '', which a matrix of text needs for missing labels. Convert to a "
            "store or to parquet."
        )
    return texts, np.asarray("")


def _label_tables(source: LabelSource) -> list[NDArray[Any]]:
    named = zip(source.categories, source.names, strict=True)
    return [_one_kind(known, name) for known, name in named]


def _one_kind(known: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels of one partition as whole numbers, numbers, truth values or text."""
    if known.dtype.kind in "ifb":
        return known
    values = known.tolist()
    if all(isinstance(v, float) or (type(v) is int and abs(v) < 2**53) for v in values):
        return np.asarray(values, np.float64)
    texts = [str(value) for value in values]
    if len(set(texts)) < len(texts):
        raise InvalidEnsembleError(
            f"Partition {name!r} has labels of different types that read the same as text, such as "
            "1 and '1'. Only a label store keeps them apart."
        )
    return np.asarray(texts, object)


def _plain_ids(ids: list[Any]) -> list[Any]:
    """Whole numbers as they are, anything else as text."""
    if all(isinstance(name, int) and not isinstance(name, bool) for name in ids):
        return ids
    return [str(name) for name in ids]


def _id_names(source: LabelSource) -> list[str]:
    """The name of the column of ids, unlike any partition's; none where there are no ids."""
    if source.id_name is None:
        return []
    name = source.id_name
    while name in source.names:
        name = f"sample_{name}"
    return [name]


def _blocks(source: LabelSource) -> Iterator[Block]:
    done = 0
    for ids, codes in source.blocks():
        yield ids, codes
        done += len(codes)
        report_progress("convert", done, source.n_samples)
    if done != source.n_samples:
        raise InvalidEnsembleError(
            f"The source has changed while it was read: {done} samples instead of "
            f"{source.n_samples}."
        )
