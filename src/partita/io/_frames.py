"""Parquet, through whichever of pyarrow and polars is there, and the observations of an AnnData."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.containers import label_columns
from partita.exceptions import InvalidEnsembleError, MissingPackageError
from partita.io._table import Table, choose_columns, without_tokens

__all__ = ["read_h5ad", "read_parquet", "write_h5ad", "write_parquet"]


# -- parquet ---------------------------------------------------------------------------------


def _parquet_library() -> Any:
    for library in ("pyarrow", "polars"):
        if find_spec(library) is not None:
            return library
    raise MissingPackageError(
        "Parquet files need the package pyarrow (or polars): pip install pyarrow"
    )


def read_parquet(
    path: Path, missing: Sequence[str], patterns: Sequence[str] | None, id_column: str | None
) -> Table:
    """Columns of a parquet file; only those asked for are read."""
    native: Any
    if _parquet_library() == "pyarrow":
        import pyarrow.parquet as pq

        names = pq.read_schema(path).names
        chosen = choose_columns(names, patterns, id_column, str(path))
        native = pq.read_table(path, columns=[*chosen, *([id_column] if id_column else [])])
    else:
        import polars

        names = list(polars.read_parquet_schema(path))
        chosen = choose_columns(names, patterns, id_column, str(path))
        native = polars.read_parquet(path, columns=[*chosen, *([id_column] if id_column else [])])
    frame = nw.from_native(native, eager_only=True)
    columns, _ = label_columns(frame.select(chosen).to_native())
    ids = None if id_column is None else np.asarray(frame[id_column].to_list(), object)
    found = {n: without_tokens(c, missing) for n, c in zip(chosen, columns, strict=True)}
    return Table(found, ids, id_column or "id", str(path))


def write_parquet(path: Path, table: Table) -> None:
    """Columns by name, ids first."""
    columns = {name: column.tolist() for name, column in table.columns.items()}
    if table.ids is not None:
        columns = {table.id_name: table.ids.tolist(), **columns}
    nw.from_dict(columns, backend=_parquet_library()).write_parquet(path)


# -- AnnData ---------------------------------------------------------------------------------


def _anndata() -> Any:
    if find_spec("anndata") is None:
        raise MissingPackageError(".h5ad files need the package anndata: pip install anndata")
    import anndata

    return anndata


def read_h5ad(
    path: Path, missing: Sequence[str], patterns: Sequence[str] | None, id_column: str | None
) -> Table:
    """Columns of `obs` by pattern; the names of the observations are the ids unless told."""
    adata = _anndata().read_h5ad(path, backed="r")
    try:
        obs = adata.obs
    finally:
        adata.file.close()
    names = [str(name) for name in obs.columns]
    if patterns is None:
        raise InvalidEnsembleError(
            f"{path} has {len(names)} columns in obs; say which are partitions, for example "
            f"'leiden_*'. They are: {', '.join(names)}."
        )
    chosen = choose_columns(names, patterns, id_column, str(path))
    columns, _ = label_columns(obs[chosen])
    ids = obs.index if id_column is None else obs[id_column]
    found = {n: without_tokens(c, missing) for n, c in zip(chosen, columns, strict=True)}
    id_name = id_column or str(obs.index.name or "cell")
    return Table(found, np.asarray(ids.tolist(), object), id_name, str(path))


def write_h5ad(path: Path, table: Table, base: Path | None) -> None:
    """`base` with the columns added to its `obs`, matched by id; X is copied, not read.

    Without `base` the file holds the ids and the columns, nothing else.
    """
    import pandas

    anndata = _anndata()
    added = pandas.DataFrame({name: _series(column) for name, column in table.columns.items()})
    if table.ids is not None:
        added.index = pandas.Index(table.ids.astype(str))
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
    """Labels as a categorical, as AnnData's users expect; measurements as numbers."""
    import pandas

    if column.dtype.kind == "f":
        return np.asarray(column)
    values = [None if v is None else str(v) for v in column.tolist()]
    return pandas.Categorical(values, sorted({v for v in values if v is not None}, key=_natural))


def _natural(text: str) -> tuple[int, str]:
    return (len(text), text) if text.lstrip("-").isdigit() else (2**31, text)
