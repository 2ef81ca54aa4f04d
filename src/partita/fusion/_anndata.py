"""A consensus as the columns of `obs` and the record in `uns` of an AnnData."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from partita.fusion._fusing import Fusion

__all__ = ["anndata_results"]

_PACKAGES = ("partita", "numpy", "scipy", "scikit-learn")  # whose versions are recorded


def anndata_results(
    fusion: Fusion,
    name: str = "consensus",
    *,
    noise: str = "missing",
    random_state: int | None = None,
    **sources: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns that an AnnData gets in `obs`, and the record that it gets in `uns[name]`.

    Parameters
    ----------
    fusion : Fusion
        Result of `fuse`, in memory.
    name : str, default="consensus"
        Name of the column of labels, and start of the names of the other columns.
    noise : {"missing", "cluster", "singletons"}, default="missing"
        What a label of -1 meant, for the record.
    random_state : int or None, default=None
        Seed, for the record.
    **sources
        Where the partitions come from, for the record, such as `columns`. An h5ad file must be able
        to hold the values.

    Returns
    -------
    columns : dict
        Labels and next best cluster as categoricals, "0" is the largest cluster; confidence and
        margin as numbers.
    record : dict
        "params", "versions", and "scan" if the number of clusters was chosen.

    Examples
    --------
    >>> from partita import fuse
    >>> from partita.fusion import anndata_results
    >>> fusion = fuse([[0, 1, 1, 1], [0, 1, 1, 1]], 2, random_state=0)
    >>> columns, record = anndata_results(fusion)
    >>> columns["consensus"].tolist()
    ['1', '0', '0', '0']
    """
    import pandas  # comes with anndata

    diagnosis = fusion.diagnosis
    if diagnosis is None:
        raise ValueError("The consensus was computed out of core and has no confidence to add.")
    # numbered by decreasing size, as scanpy numbers clusters; index -1 stays -1
    rank = np.full(fusion.n_clusters + 1, -1)
    rank[np.argsort(-diagnosis.sizes, kind="stable")] = np.arange(fusion.n_clusters)
    clusters = [str(k) for k in range(fusion.n_clusters)]
    columns = {
        name: pandas.Categorical.from_codes(rank[fusion.labels], clusters),
        f"{name}_confidence": diagnosis.confidence,
        f"{name}_margin": diagnosis.margin,
        f"{name}_runner_up": pandas.Categorical.from_codes(rank[diagnosis.runner_up], clusters),
    }
    params: dict[str, Any] = _storable(fusion.method.get_params(deep=False)) | {
        "method": fusion.method.info.key,
        "noise": noise,
        "n_clusters": fusion.n_clusters,
        **sources,
    }
    if random_state is not None:
        params["random_state"] = int(random_state)
    record: dict[str, Any] = {
        "params": params,
        "versions": {package: version(package) for package in _PACKAGES},
    }
    if fusion.scan is not None:
        record["scan"] = {
            "k": fusion.scan.k,
            "gain": fusion.scan.gain,
            "standard_error": fusion.scan.standard_error,
        }
    return columns, record


def _storable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as an h5ad file can hold them: numbers and text, without None."""
    return {
        name: value if isinstance(value, bool | int | float | str) else repr(value)
        for name, value in parameters.items()
        if value is not None
    }
