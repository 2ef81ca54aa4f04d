"""The whole way in one call: labels in, consensus, confidence and number of clusters out.

`fuse` does it for any table of labels; `add_consensus` where the labels are columns of
an AnnData or a data frame, and puts the result back beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.containers import as_frame
from partita.consensus import BaseConsensus
from partita.diagnostics import Diagnosis, diagnose
from partita.ensemble import Ensemble, as_ensemble
from partita.exceptions import InvalidEnsembleError, NoStructureError
from partita.io import choose_columns
from partita.registry import prepare
from partita.select_k import KScan, scan_k

__all__ = ["Fusion", "add_consensus", "fuse"]

_VERSIONS = ("partita", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Fusion:
    """What `fuse` found.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        -1 for samples without any label.
    confidence : array of shape (n_samples,)
        Item consensus with the own cluster; NaN where there is nothing to compare with.
    method : fitted consensus method
    diagnosis : Diagnosis
    scan : KScan or None
        Where the number of clusters was chosen.
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    method: BaseConsensus
    diagnosis: Diagnosis
    scan: KScan | None = None

    @property
    def n_clusters(self) -> int:
        return int(self.method.n_clusters_)


def fuse(
    partitions: Any,
    n_clusters: int | None = None,
    *,
    method: Any = "lwgp",
    k_range: Iterable[int] = range(2, 11),
    random_state: int | None = None,
) -> Fusion:
    """Fuse partitions and say how far to trust the result.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
    n_clusters : int, optional
        By default the suggestion of `partita.scan_k` over `k_range`.
    method : key, class or estimator of a consensus method
        An estimator is cloned; `n_clusters` is set, and the seed where it has none of its own.
    k_range : iterable of int
        Numbers of clusters to choose from; looked at only without `n_clusters`.
    random_state : int or None

    Returns
    -------
    Fusion

    Raises
    ------
    NoStructureError
        If the number of clusters is to be chosen and no K does better than the null.

    Examples
    --------
    >>> from partita.datasets import make_partitions
    >>> from partita import fuse
    >>> labels, truth = make_partitions(90, 20, 3, noise=0.2)
    >>> found = fuse(labels, k_range=range(2, 5), random_state=0)
    >>> found.n_clusters, round(float(found.confidence.mean()), 1)
    (3, 0.7)
    """
    ensemble = as_ensemble(partitions)
    scan = None
    if n_clusters is None:
        scan = scan_k(ensemble, k_range, random_state=random_state)
        if scan.best_k is None:
            raise NoStructureError(
                f"No structure found: no number of clusters from {scan.k[0]} to {scan.k[-1]} does "
                "better than labels in random order. Pass a number to get clusters all the same."
            )
        n_clusters = scan.best_k
    estimator = prepare(method, n_clusters, random_state).fit(ensemble)
    diagnosis = diagnose(ensemble, estimator.labels_)
    return Fusion(estimator.labels_, diagnosis.confidence, estimator, diagnosis, scan)


def add_consensus(
    data: Any,
    columns: Sequence[str] | str | None = None,
    n_clusters: int | None = None,
    *,
    method: Any = "lwgp",
    name: str = "consensus",
    noise: str = "missing",
    k_range: Iterable[int] = range(2, 11),
    random_state: int | None = None,
    copy: bool = False,
) -> Any:
    """Fuse clusterings that are columns of an AnnData or a data frame.

    Parameters
    ----------
    data : AnnData, or data frame of any library
    columns : str or sequence of str
        Columns of `obs` or of the frame, by name or pattern such as "leiden_*". All columns of a
        frame by default. What an earlier call added under `name` is left out.
    n_clusters : int, optional
        By default the suggestion of `partita.scan_k` over `k_range`.
    method : key, class or estimator of a consensus method
    name : str
        Name of the result; its confidence is `name + "_confidence"`.
    noise : {"missing", "cluster", "singletons"}
        What a label of -1 means.
    k_range : iterable of int
        Numbers of clusters to choose from; looked at only without `n_clusters`.
    random_state : int or None
    copy : bool
        Return a changed copy of an AnnData instead of changing it. A data frame is never changed.

    Returns
    -------
    None, AnnData or data frame
        None for an AnnData, which gets `obs[name]` (categorical), the confidence, and
        `uns[name]` (parameters, method, versions); a copy of it if `copy`. For a data frame, a
        frame of the same library with the two columns added, -1 for samples without any label.

    Examples
    --------
    >>> import polars
    >>> from partita import add_consensus
    >>> runs = polars.DataFrame({"a": [0, 0, 1, 1], "b": [2, 2, 3, 3], "c": ["x", "y", "y", "y"]})
    >>> add_consensus(runs, n_clusters=2, random_state=0)["consensus"].to_list()
    [0, 0, 1, 1]
    """
    chosen = {
        "method": method,
        "n_clusters": n_clusters,
        "k_range": k_range,
        "random_state": random_state,
    }
    if hasattr(data, "obs") and hasattr(data, "uns"):
        if columns is None:
            raise InvalidEnsembleError(
                f"columns must say which columns of obs are clusterings; there are "
                f"{', '.join(map(str, data.obs.columns))}."
            )
        data = data.copy() if copy else data
        names, found = _fuse_columns(data.obs, columns, name, noise, chosen)
        _add_to_anndata(data, name, names, found, noise, random_state)
        return data if copy else None
    names, found = _fuse_columns(data, columns, name, noise, chosen)
    frame = nw.from_native(data, eager_only=True)
    backend = frame.implementation
    return frame.with_columns(
        nw.new_series(name, found.labels, nw.Int64, backend=backend),
        nw.new_series(f"{name}_confidence", found.confidence, nw.Float64, backend=backend),
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
            f"Expected an AnnData or a data frame, got {type(frame).__name__}. For a plain table "
            "of labels there is `partita.fusion.fuse`."
        )
    own = (name, f"{name}_confidence")
    names = [str(name) for name in table.columns if name not in own]
    patterns = [columns] if isinstance(columns, str) else columns
    names = choose_columns(names, patterns, None, "the data")
    ensemble = Ensemble.from_frame(frame, columns=names, noise=noise, unlabeled="keep")
    return names, fuse(ensemble, **options)


def _add_to_anndata(
    adata: Any,
    name: str,
    names: list[str],
    found: Fusion,
    noise: str,
    random_state: int | None,
) -> None:
    import pandas  # comes with anndata

    adata.obs[name] = pandas.Categorical.from_codes(
        found.labels, [str(k) for k in range(found.n_clusters)]
    )
    adata.obs[f"{name}_confidence"] = found.confidence
    record: dict[str, Any] = {
        "method": found.method.info.key,
        "parameters": _storable(found.method.get_params(deep=False)),
        "columns": np.asarray(names),
        "noise": noise,
        "n_clusters": found.n_clusters,
        "versions": {package: version(package) for package in _VERSIONS},
    }
    if random_state is not None:
        record["random_state"] = int(random_state)
    if found.scan is not None:
        record["scan"] = {
            "k": found.scan.k,
            "gain": found.scan.gain,
            "standard_error": found.scan.standard_error,
        }
    adata.uns[name] = record


def _storable(parameters: dict[str, Any]) -> dict[str, Any]:
    """What an h5ad file can hold: numbers and text; None is left out, the rest becomes text."""
    return {
        name: value if isinstance(value, bool | int | float | str) else repr(value)
        for name, value in parameters.items()
        if value is not None
    }
