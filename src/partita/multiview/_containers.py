"""Read one view: its matrix of features, and the ids of its rows where the container has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.containers import as_frame

__all__ = ["RawView", "name_views", "per_view", "read_view"]


@dataclass(frozen=True)
class RawView:
    """One view as its container has it.

    Attributes
    ----------
    name : str
        Name of the view.
    matrix : array or CSR array of shape (n_rows, n_features), float
        Features, with NaN for what the container has no value for.
    ids : list or range
        Id of every row, or its position among the samples.
    are_positions : bool
        Whether `ids` are positions.
    n_samples : int or None
        Number of samples, if the container implies it.
    mask : bool array of shape (n_rows,) or None
        Rows to use. None: all rows.
    """

    name: str
    matrix: Any
    ids: Sequence[Any]
    are_positions: bool = False
    n_samples: int | None = None
    mask: NDArray[np.bool_] | None = None


def name_views(views: Any, layer: Any) -> tuple[list[str], list[Any], list[Any], Any]:
    """Return names, containers and layers of the views, and the ids of all samples or None."""
    sample_ids = None
    if hasattr(views, "mod") and hasattr(views, "obs_names"):  # MuData
        sample_ids = [*views.obs_names]
        views = dict(views.mod)
    elif is_anndata(views):
        places = [layer] if isinstance(layer, str) or layer is None else [*layer]
        return ["X" if p is None else p for p in places], [views] * len(places), places, None
    if isinstance(views, Mapping):
        names, containers = [str(name) for name in views], [*views.values()]
    elif isinstance(views, (list, tuple)):
        names, containers = [f"view{i}" for i in range(1, len(views) + 1)], [*views]
    else:
        raise TypeError(
            "Expected a list or dict of views, an AnnData or a MuData, got "
            f"{type(views).__name__}. Pass a single matrix as [X]."
        )
    if not names:
        raise ValueError("Expected at least one view, got none.")
    if len(set(names)) < len(names):
        raise ValueError(f"Names of views must differ, got {names}.")
    return names, containers, _layers(layer, names), sample_ids


def _layers(layer: Any, names: list[str]) -> list[Any]:
    if layer is None or isinstance(layer, str):
        return [layer] * len(names)
    return per_view(layer, names, "layer")


def per_view(values: Any, names: list[str], parameter: str) -> list[Any]:
    """Return one value per view from a list or a dict by name; None for a name it lacks."""
    if isinstance(values, Mapping):
        if unknown := [name for name in values if name not in names]:
            raise ValueError(f"{parameter} names {unknown[0]!r}; the views are {names}.")
        return [values.get(name) for name in names]
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(f"{parameter} must be a list or a dict by view, got {values!r}.")
    if len(values) != len(names):
        raise ValueError(f"{parameter} must have {len(names)} entries, one per view: {names}.")
    return [*values]


def is_anndata(data: Any) -> bool:
    """Return whether the data has the parts of an AnnData."""
    return all(hasattr(data, part) for part in ("obs_names", "obsm", "layers", "X"))


def read_view(name: str, data: Any, layer: str | None, id_column: str | None) -> RawView:
    """Read one view from an array, a sparse matrix, a data frame or an AnnData."""
    if is_anndata(data):
        matrix = _matrix(name, _place(name, data, layer))
        return RawView(name, matrix, [*data.obs_names])
    frame = None if sp.issparse(data) else as_frame(data)
    if frame is None:
        return _by_position(name, _matrix(name, data))
    if id_column is not None:
        if id_column not in frame.columns:
            raise ValueError(
                f"View {name!r} has no column id_column={id_column!r}; it has {frame.columns[:10]}."
            )
        ids = frame[id_column].to_list()
        return RawView(name, _frame_matrix(name, frame.drop(id_column)), ids)
    matrix = _frame_matrix(name, frame)
    index: Any = nw.maybe_get_index(frame)
    # pandas gives a data frame without ids the index 0, 1, 2, ...
    is_default = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return (
        _by_position(name, matrix)
        if index is None or is_default
        else RawView(name, matrix, [*index])
    )


def _by_position(name: str, matrix: Any) -> RawView:
    n_rows = matrix.shape[0]
    return RawView(name, matrix, range(n_rows), are_positions=True, n_samples=n_rows)


def _place(name: str, data: Any, layer: str | None) -> Any:
    if layer is None or layer == "X":
        if data.X is None:
            raise ValueError(f"View {name!r}: X of the AnnData is None. Name a layer or an obsm.")
        return data.X
    for place in (data.layers, data.obsm):
        if layer in place:
            return place[layer]
    raise ValueError(
        f"View {name!r}: no layer or obsm {layer!r}; layers: {list(data.layers)}, obsm: "
        f"{list(data.obsm)}."
    )


def _matrix(name: str, data: Any) -> Any:
    """Return a dense or CSR matrix of floats with finite entries and NaN."""
    frame = None if sp.issparse(data) else as_frame(data)
    if frame is not None:
        return _frame_matrix(name, frame)
    if sp.issparse(data):
        matrix = sp.csr_array(data)
        return _checked(name, matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64))
    if getattr(data, "dtype", np.dtype(float)).kind == "c":
        raise ValueError(f"View {name!r} must have real numbers, got complex ones.")
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    array = np.asarray(data)
    if array.ndim != 2:
        raise ValueError(
            f"View {name!r} must be a matrix (n_samples, n_features), got {array.ndim} "
            f"dimension(s) of shape {array.shape}."
        )
    try:
        return _checked(name, array if array.dtype.kind == "f" else array.astype(np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"View {name!r}: {error}") from error


def _frame_matrix(name: str, frame: Any) -> NDArray[np.float64]:
    for column, kind in frame.schema.items():
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise ValueError(
                f"View {name!r}: column {column!r} has type {kind}, expected numbers. Drop it, or "
                "pass it as id_column if it holds the ids of the samples."
            )
    columns = [_column(series) for series in frame.iter_columns()]
    return _checked(name, np.column_stack(columns) if columns else np.empty((len(frame), 0)))


def _column(series: Any) -> NDArray[np.float64]:
    is_null = series.is_null().to_numpy()
    values = series.fill_null(0) if series.dtype != nw.Boolean else series.fill_null(False)
    return np.where(is_null, np.nan, values.to_numpy().astype(np.float64))


def _checked(name: str, matrix: Any) -> Any:
    if matrix.shape[1] == 0:
        raise ValueError(f"View {name!r} has no feature: its shape is {matrix.shape}.")
    if np.isinf(matrix.data if sp.issparse(matrix) else matrix).any():
        raise ValueError(f"View {name!r} contains infinity. Features must be finite or NaN.")
    return matrix
