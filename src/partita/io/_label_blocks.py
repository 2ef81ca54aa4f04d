"""Labels of a file or a store as blocks of codes, which are not all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.ensemble import LabelLayout
from partita.io._blocks import Selection, choose_columns
from partita.io._formats import open_blocks, streams
from partita.io._reading import read_labels
from partita.io._vocabulary import Coding, TextVocabulary, ValueVocabulary
from partita.io.store import LabelStore

__all__ = ["LabelBlocks", "open_labels"]

_BLOCK_CELLS = 1 << 19
_MAX_LABELS = 1 << 20  # distinct labels of a column


@dataclass(frozen=True)
class LabelBlocks:
    """Labels of many samples, for one pass over the rows.

    Attributes
    ----------
    layout : LabelLayout
        How to read the codes.
    n_samples : int
    blocks : iterator of (ids, codes)
        Ids (a list or None) and codes of consecutive samples.
    id_name : str or None
        Name of the column of sample ids. None: there are no ids.
    provenance : dict
        Where the labels come from.
    """

    layout: LabelLayout
    n_samples: int
    blocks: Iterator[tuple[list[Any] | None, NDArray[Any]]]
    id_name: str | None = None
    provenance: dict[str, Any] = field(default_factory=dict)


def open_labels(
    path: Path, selection: Selection, missing_values: Sequence[str], noise: str
) -> LabelBlocks:
    """Open a store if `path` is a folder, otherwise a file by its suffix."""
    if path.is_dir():
        return _open_store(path, selection.columns)
    if streams(path):
        return _open_file(path, selection, missing_values, noise)
    return _open_table(path, selection, missing_values, noise)


def _open_store(path: Path, columns: Sequence[str] | None) -> LabelBlocks:
    store = LabelStore.open(path)
    store.require_complete()
    layout = store.layout
    if layout.partition_names is None:
        names = [f"partition_{i}" for i in range(store.n_partitions)]
        layout = LabelLayout(layout.dtype, layout.categories, np.asarray(names, object))
    assert layout.partition_names is not None
    names = layout.partition_names.tolist()
    places = np.asarray([names.index(n) for n in choose_columns(names, columns, None, str(path))])

    def blocks() -> Iterator[tuple[list[Any] | None, NDArray[Any]]]:
        rows = max(1, _BLOCK_CELLS // store.n_partitions)
        ids = store.iter_sample_ids(rows) if store.has_sample_ids else None
        out = np.empty((rows, store.n_partitions), store.dtype)
        for start, stop in store.blocks(rows):
            codes = store.read(start, stop, out)[:, places]
            yield (None if ids is None else next(ids)), codes
        if ids is not None:
            next(ids, None)  # the end of the ids is compared with their checksum

    return LabelBlocks(
        layout.select(places),
        store.n_samples,
        blocks(),
        "id" if store.has_sample_ids else None,
        store.provenance,
    )


def _open_file(
    path: Path, selection: Selection, missing_values: Sequence[str], noise: str
) -> LabelBlocks:
    """Read a file once to learn its labels; the blocks read it a second time."""
    with open_blocks(path, selection, _BLOCK_CELLS) as table:
        kind = TextVocabulary if table.is_text else ValueVocabulary
        vocabularies = [kind(name, missing_values, _MAX_LABELS) for name in table.names]
        n_samples = 0
        for block in table.blocks:
            for vocabulary, cells in zip(vocabularies, block.columns, strict=True):
                vocabulary.number(cells)
            n_samples += len(block)
            if table.n_samples is not None:
                report_progress("reading", n_samples, table.n_samples)
    coding = Coding(table.names, [v.values() for v in vocabularies], noise)

    def blocks() -> Iterator[tuple[list[Any] | None, NDArray[Any]]]:
        with open_blocks(path, selection, _BLOCK_CELLS) as table:
            for block in table.blocks:
                pairs = zip(vocabularies, block.columns, strict=True)
                yield block.ids, coding.encode([v.number(cells) for v, cells in pairs])

    return LabelBlocks(coding.layout, n_samples, blocks(), table.id_name, {"source": path.name})


def _open_table(
    path: Path, selection: Selection, missing_values: Sequence[str], noise: str
) -> LabelBlocks:
    """Read a file that cannot be read in blocks: .npz, or `obs` of .h5ad."""
    table = read_labels(
        path,
        columns=selection.columns,
        id_column=selection.id_column,
        missing_values=missing_values,
        header=selection.header,
    )
    codes, layout = table.codes(noise)
    ids = table.ids

    def blocks() -> Iterator[tuple[list[Any] | None, NDArray[Any]]]:
        rows = max(1, _BLOCK_CELLS // codes.shape[1])
        for start in range(0, len(codes), rows):
            part = slice(start, start + rows)
            yield (None if ids is None else ids[part].tolist()), codes[part]

    id_name = None if ids is None else table.id_name
    return LabelBlocks(layout, len(codes), blocks(), id_name, {"source": path.name})
