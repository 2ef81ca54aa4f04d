"""AnnData files: columns of `obs`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.containers import label_columns
from partita._packages import require_package
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader, collect

__all__ = ["read_blocks", "write_blocks"]


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Read columns of `obs` in one block; by default the ids are the names of the observations."""
    adata = _anndata().read_h5ad(path, backed="r")
    try:
        obs = adata.obs
    finally:
        adata.file.close()
    names = [str(name) for name in obs.columns]
    if selection.columns is None:
        raise InvalidEnsembleError(
            f"{path} has {len(names)} columns in obs; say which are partitions, for example "
            f"'leiden_*'. They are: {', '.join(names)}."
        )
    chosen = selection.choose(names, str(path))
    columns, _ = label_columns(obs[chosen])
    id_column = selection.id_column
    ids = obs.index if id_column is None else obs[id_column]
    block = Block(list(columns), ids.tolist())
    yield TableBlocks(chosen, iter([block]), id_column or str(obs.index.name or "cell"), len(ids))


def write_blocks(
    path: Path, header: TableHeader, blocks: Iterable[Block], base: Path | None = None
) -> None:
    """Write a copy of `base` with the columns added to its `obs`, matched by id.

    X is copied, not read. Without `base` the file holds nothing but the ids and the columns.
    """
    import pandas

    anndata = _anndata()
    table = collect(blocks)
    added = pandas.DataFrame(dict(zip(header.names, map(_series, table.columns), strict=True)))
    if table.ids is not None:
        added.index = pandas.Index([str(name) for name in table.ids])
    if base is None:
        added.index = added.index.astype(str)
        anndata.AnnData(obs=added).write_h5ad(path)
        return
    shutil.copyfile(base, path)
    adata = anndata.read_h5ad(path, backed="r+")
    try:
        if table.ids is None:
            added.index = adata.obs_names
        if not adata.obs_names.isin(added.index).all() or len(added) != adata.n_obs:
            raise InvalidEnsembleError(
                f"{base} has {adata.n_obs} observations that do not match the {len(added)} sample "
                "ids of the labels."
            )
        for name in added.columns:
            adata.obs[name] = added[name].reindex(adata.obs_names)
        adata.write_h5ad()
    finally:
        adata.file.close()


def _series(column: NDArray[Any]) -> Any:
    """Return labels as a categorical, which is usual in AnnData, and measurements as numbers."""
    import pandas

    if column.dtype.kind == "f":
        return np.ma.filled(column, np.nan)
    values = [None if v is None else str(v) for v in column.tolist()]
    return pandas.Categorical(values, sorted({v for v in values if v is not None}, key=_natural))


def _natural(text: str) -> tuple[int, str]:
    """Return a sort key that puts numbers first, in the order of their size."""
    return (len(text), text) if text.lstrip("-").isdigit() else (2**31, text)


def _anndata() -> Any:
    return require_package("anndata", ".h5ad files", "partita[anndata]")
