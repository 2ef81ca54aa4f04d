"""`add_consensus`: fuse columns of an AnnData or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from partita._input.containers import as_frame
from partita.ensemble import Ensemble
from partita.exceptions import InvalidEnsembleError
from partita.fusion._anndata import anndata_results
from partita.fusion._fusing import Fusion, fuse
from partita.io import choose_columns

__all__ = ["add_consensus"]

_RESULTS = ("", "_confidence", "_margin", "_runner_up")  # columns that a call adds


def add_consensus(
    data: Any,
    columns: Sequence[str] | str | None = None,
    n_clusters: int | None = None,
    *,
    method: Any = "ccgp",
    name: str = "consensus",
    noise: str = "missing",
    k_range: Iterable[int] | None = None,
    random_state: int | None = None,
    copy: bool = False,
) -> Any:
    """Fuse partitions that are columns of an AnnData or a data frame.

    Parameters
    ----------
    data : AnnData, or data frame of any library
        Samples in rows.
    columns : str or sequence of str, optional
        Columns of `obs` or of the data frame, by name or pattern such as "leiden_*"; required for
        an AnnData. By default all columns of a data frame. Columns that an earlier call added under
        `name` are left out, and a pattern leaves out those of any earlier call.
    n_clusters : int, optional
        Number of clusters. By default the suggestion of `partita.scan_k` over `k_range`.
    method : str, class or estimator, default="ccgp"
        Consensus method: its key, class or estimator.
    name : str, default="consensus"
        Name of the column of labels; the confidence is in `name + "_confidence"`. An AnnData gets
        `name + "_margin"` and `name + "_runner_up"` too.
    noise : {"missing", "cluster", "singletons"}, default="missing"
        What a label of -1 means.
    k_range : iterable of int, optional
        Numbers of clusters to choose from if `n_clusters` is None. By default 2 to 10, or 2 to
        30 if the suggestion is 10, or the choice of a method that needs no number.
    random_state : int or None, default=None
        Seed of the scan and of a method that has none.
    copy : bool, default=False
        Return a changed copy of an AnnData instead of changing it. A data frame is never changed.

    Returns
    -------
    None, AnnData or data frame
        None for an AnnData, which gets `obs[name]` (categorical, "0" is the largest cluster), the
        confidence, the margin, the next best cluster, and `uns[name]` with `"params"` (method,
        columns and all options) and `"versions"`; a copy of it if `copy`. For a data frame, a frame
        of the same library with the labels and the confidence added, -1 for samples without any
        label.

    Examples
    --------
    >>> import polars
    >>> from partita import add_consensus
    >>> frame = polars.DataFrame({"a": [0, 0, 1, 1], "b": [2, 2, 3, 3], "c": ["x", "y", "y", "y"]})
    >>> add_consensus(frame, n_clusters=2, random_state=0)["consensus"].to_list()
    [0, 0, 1, 1]
    """
    options = {
        "method": method,
        "n_clusters": n_clusters,
        "k_range": k_range,
        "random_state": random_state,
    }
    if hasattr(data, "obs") and hasattr(data, "uns"):
        if columns is None:
            raise InvalidEnsembleError(
                f"columns must name the columns of obs that are partitions; there are "
                f"{', '.join(map(str, data.obs.columns))}."
            )
        data = data.copy() if copy else data
        names, fusion = _fuse_columns(data.obs, columns, name, noise, options)
        columns_of_obs, record = anndata_results(
            fusion, name, noise=noise, random_state=random_state, columns=np.asarray(names)
        )
        for column, values in columns_of_obs.items():
            data.obs[column] = values
        data.uns[name] = record
        return data if copy else None
    names, fusion = _fuse_columns(data, columns, name, noise, options)
    frame = nw.from_native(data, eager_only=True)
    backend = frame.implementation
    return frame.with_columns(
        nw.new_series(name, fusion.labels, nw.Int64, backend=backend),
        nw.new_series(f"{name}_confidence", fusion.confidence, nw.Float64, backend=backend),
    ).to_native()


def _fuse_columns(
    frame: Any,
    columns: Sequence[str] | str | None,
    name: str,
    noise: str,
    options: dict[str, Any],
) -> tuple[list[str], Fusion]:
    table = as_frame(frame)
    if table is None:
        raise InvalidEnsembleError(
            f"Expected an AnnData or a data frame, got {type(frame).__name__}. Use `partita.fuse` "
            "for a table of labels."
        )
    results = tuple(f"{name}{suffix}" for suffix in _RESULTS)
    names = [str(column) for column in table.columns if column not in results]
    patterns = [columns] if isinstance(columns, str) else columns
    names = choose_columns(names, patterns, None, "the data")
    ensemble = Ensemble.from_frame(frame, columns=names, noise=noise, unlabeled="keep")
    return names, fuse(ensemble, **options)
