"""AnnData files: columns of `obs`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._damage import explained_reading
from partita._input.containers import label_columns
from partita._memory import require_memory
from partita._packages import require_package
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader, collect

__all__ = ["read_blocks", "read_graph", "read_matrix", "write_blocks"]


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Read columns of `obs` in one block; by default the ids are the names of the observations."""
    with _h5py().File(path, "r") as file:
        obs = _elements().read_elem(file["obs"])
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
    path: Path,
    header: TableHeader,
    blocks: Iterable[Block],
    base: Path | None = None,
    uns: Mapping[str, Any] | None = None,
) -> None:
    """Write a copy of `base` with the columns added to its `obs`, matched by id.

    Only `obs` is read and written anew; X, raw and the rest are copied as bytes. Without
    `base` the file holds nothing but the ids and the columns. `uns` has entries to add to the
    entries of the file.
    """
    import pandas

    table = collect(blocks)
    added = pandas.DataFrame(dict(zip(header.names, map(_series, table.columns), strict=True)))
    if table.ids is not None:
        added.index = pandas.Index([str(name) for name in table.ids])
    if base is None:
        added.index = added.index.astype(str)
        _anndata().AnnData(obs=added, uns=dict(uns or {})).write_h5ad(path)
        return
    shutil.copyfile(base, path)
    with _h5py().File(path, "r+") as file:
        obs = _elements().read_elem(file["obs"])
        if table.ids is None:
            added.index = obs.index
        if not obs.index.isin(added.index).all() or len(added) != len(obs):
            raise InvalidEnsembleError(
                f"{base} has {len(obs)} observations that do not match the {len(added)} sample "
                "ids of the labels."
            )
        for name in added.columns:
            obs[name] = added[name].reindex(obs.index)
        _elements().write_elem(file, "obs", obs)
        if uns and "uns" not in file:
            _elements().write_elem(file, "uns", {})
        for key, value in (uns or {}).items():
            _elements().write_elem(file["uns"], key, value)


def read_matrix(path: Path, use: str | None) -> tuple[list[str], NDArray[Any], list[Any]]:
    """Return names of features, the features, and the names of the observations.

    `use` is "X" or a key of `obsm`; None is "X_pca" if the file has it, otherwise "X".
    """
    read = _elements().read_elem
    with explained_reading(path), _h5py().File(path, "r") as file:
        keys = [*file.get("obsm", ()), *(["X"] if "X" in file else [])]
        name = use or ("X_pca" if "X_pca" in keys else "X")
        if name not in keys:
            raise InvalidEnsembleError(
                f"{path} has no features {name!r}; it has {', '.join(keys) or 'none'}"
                f"{_graphs(file)}."
            )
        element = file["X"] if name == "X" else file["obsm"][name]
        ids = read(file["obs"]).index
        n_features = int(_shape(element)[1])
        require_memory(8 * len(ids) * n_features, f"{name} of {path} as a dense table")
        values = read(element)
        names = read(file["var"]).index if name == "X" else range(1, n_features + 1)
    matrix = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    labels = [str(v) if name == "X" else f"{name}_{v}" for v in names]
    return labels, matrix.astype(np.float64), ids.tolist()


def read_graph(path: str | Path, use: str) -> tuple[Any, NDArray[Any]] | None:
    """Return a graph of an .h5ad file and the names of the observations.

    Parameters
    ----------
    path : path
        The file.
    use : str
        Key of `obsp`, such as "connectivities".

    Returns
    -------
    (sparse matrix, array) or None
        None if the file has no such graph.
    """
    read = _elements().read_elem
    with explained_reading(path), _h5py().File(path, "r") as file:
        if use not in file.get("obsp", ()):
            return None
        return sp.csr_matrix(read(file["obsp"][use])), np.asarray(read(file["obs"]).index, object)


def _graphs(file: Any) -> str:
    names = [*file.get("obsp", ())]
    return f", and the graphs {', '.join(names)}" if names else ""


def _shape(element: Any) -> Any:
    """Return the shape of a dense or sparse matrix or of a data frame in an open file."""
    if hasattr(element, "shape"):
        return element.shape
    if "shape" in element.attrs:
        return element.attrs["shape"]
    return 0, len(element.attrs["column-order"])


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


def _h5py() -> Any:
    return require_package("h5py", ".h5ad files", "partita[anndata]")


def _elements() -> Any:
    """Return the module with `read_elem` and `write_elem`."""
    anndata = _anndata()
    return anndata.io if hasattr(anndata, "io") else anndata.experimental  # before 0.11


def _anndata() -> Any:
    return require_package("anndata", ".h5ad files", "partita[anndata]")
