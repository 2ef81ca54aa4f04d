"""Labels of a file or a store as blocks of codes, which are not all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.ensemble import LabelLayout
from partita.io._blocks import Selection, choose_columns
from partita.io._formats import open_blocks
from partita.io._vocabulary import Coding, TextVocabulary, ValueVocabulary
from partita.io.store import LabelStore

__all__ = ["CodedBlock", "LabelBlocks", "open_labels"]

CodedBlock = tuple[list[Any] | None, NDArray[Any]]  # sample ids and codes of consecutive samples

_BLOCK_CELLS = 1 << 19
_MAX_LABELS = 1 << 20  # distinct labels of a column


@dataclass(frozen=True)
class LabelBlocks:
    """Labels of many samples, for one pass over the rows."""

    names: list[str]  # of the partitions
    layout: LabelLayout
    n_samples: int
    blocks: Iterator[CodedBlock]
    id_name: str | None  # None: there are no sample ids
    provenance: dict[str, Any]


def open_labels(
    path: Path, selection: Selection, missing_values: Sequence[str], noise: str
) -> LabelBlocks:
    """Open a store if `path` is a folder, otherwise a file by its suffix."""
    if path.is_dir():
        return _open_store(path, selection.columns)
    return _open_file(path, selection, missing_values, noise)


def _open_store(path: Path, columns: Sequence[str] | None) -> LabelBlocks:
    store = LabelStore.open(path)
    store.require_complete()
    names = [f"partition_{i}" for i in range(store.n_partitions)]
    if store.partition_names is not None:
        names = store.partition_names.tolist()
    chosen = choose_columns(names, columns, None, str(path))
    place_of = {name: place for place, name in enumerate(names)}
    places = np.asarray([place_of[name] for name in chosen])

    def blocks() -> Iterator[CodedBlock]:
        rows = max(1, _BLOCK_CELLS // store.n_partitions)
        ids = store.iter_sample_ids(rows) if store.has_sample_ids else None
        out = np.empty((rows, store.n_partitions), store.dtype)
        for start, stop in store.blocks(rows):
            codes = store.read(start, stop, out)[:, places]
            yield (None if ids is None else next(ids)), codes
        if ids is not None:
            next(ids, None)  # the end of the ids is compared with their checksum

    id_name = "id" if store.has_sample_ids else None
    layout = store.layout.select(places)
    return LabelBlocks(chosen, layout, store.n_samples, blocks(), id_name, store.provenance)


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

    def blocks() -> Iterator[CodedBlock]:
        with open_blocks(path, selection, _BLOCK_CELLS) as table:
            for block in table.blocks:
                pairs = zip(vocabularies, block.columns, strict=True)
                yield block.ids, coding.encode([v.number(cells) for v, cells in pairs])

    provenance = {"source": path.name}
    return LabelBlocks(table.names, coding.layout, n_samples, blocks(), table.id_name, provenance)
