"""Tools for AnnData and MuData, named and shaped as the tools of scanpy.

A function changes the object that it gets and returns None. `partita.pl` draws the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from partita._input.checks import random_generator
from partita.ensemble import Ensemble
from partita.ensemble.view_names import name_partitions
from partita.exceptions import InvalidEnsembleError
from partita.fusion import add_consensus, anndata_results, fuse
from partita.generators import make_generator
from partita.generators.generation import marked_names
from partita.multiview import scan_k_views
from partita.plotting import cluster_colors
from partita.registry import prepare
from partita.select_k import KScan, needs_number, scan_k_features, suggested_number

__all__ = ["consensus", "partitions"]


def consensus(
    data: Any,
    columns: Sequence[str] | str | None = None,
    n_clusters: int | None = None,
    *,
    use: str | None = None,
    generator: Any = None,
    n_partitions: int = 100,
    method: Any = "ccgp",
    name: str = "consensus",
    noise: str = "missing",
    k_range: Iterable[int] | None = None,
    random_state: int | None = 0,
    copy: bool = False,
) -> Any:
    """Add a consensus to an AnnData or a MuData.

    The partitions are columns of `obs`, or are made here: Leiden communities of the graph of
    neighbors at many resolutions, or clusterings of features. A MuData gets partitions of every
    modality and one consensus of them all; a modality says nothing about cells that it lacks.

    Parameters
    ----------
    data : AnnData or MuData
        The cells. It is changed unless `copy`.
    columns : str or sequence of str, optional
        Columns of `obs` that are partitions, by name or pattern such as "leiden_*". By default the
        partitions are made from `use`.
    n_clusters : int, optional
        Number of clusters. By default the number that `method` was given, or the choice of a method
        that needs none. Otherwise it is chosen over `k_range`: for features by
        `partita.scan_k_features`, for those of several modalities by
        `partita.multiview.scan_k_views`, otherwise by `partita.scan_k`, which warns about
        partitions that were made from a graph.
    use : str, optional
        What the partitions are made from: a key of `obsp`, "X" or a key of `obsm`, in every
        modality of a MuData. By default "connectivities", which `scanpy.pp.neighbors` writes, or
        else "X_pca".
    generator : str, class or generator, optional
        What makes the partitions: for a graph a `RandomLeiden`, for features any generator. By
        default `RandomLeiden`, which needs `pip install 'partita[leiden]'`, or `LandmarkSpectral`.
    n_partitions : int, default=100
        Number of partitions to make, of every modality. A generator object keeps its own number.
    method : str, class or estimator, default="ccgp"
        Consensus method: its key, class or estimator.
    name : str, default="consensus"
        Name of the result.
    noise : {"missing", "cluster", "singletons"}, default="missing"
        What a label of -1 means in `columns`.
    k_range : iterable of int, optional
        Numbers of clusters to choose from. By default 2 to 10, or 2 to 30 if there may be
        more, or the choice of a method that needs no number.
    random_state : int or None, default=0
        Seed, as in scanpy. The same number gives the same result.
    copy : bool, default=False
        Return a changed copy instead.

    Returns
    -------
    None, AnnData or MuData
        A copy if `copy`. The object gets

        - `obs[name]`: categorical, "0" is the largest cluster;
        - `obs[name + "_confidence"]`, `obs[name + "_margin"]`, `obs[name + "_runner_up"]`;
        - `uns[name]`: "params", "versions" and, if K was chosen, "scan";
        - `uns[name + "_colors"]`: one color per cluster, which scanpy uses;
        - `obsm[name + "_partitions"]`: the partitions, if they were made here.

    Examples
    --------
    >>> import anndata, numpy, pandas, partita
    >>> obs = pandas.DataFrame({"leiden_0": list("aabb"), "leiden_1": list("xxyy")}, list("pqrs"))
    >>> adata = anndata.AnnData(numpy.zeros((4, 1)), obs)
    >>> partita.tl.consensus(adata, "leiden_*", n_clusters=2)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '1', '1']
    """
    if not (hasattr(data, "obs") and hasattr(data, "obsm")):
        raise TypeError(
            f"Expected an AnnData or a MuData, got an object of class {type(data).__name__}. Use "
            "`partita.fuse` for a table of labels, `partita.EnsembleClustering` for features."
        )
    data = data.copy() if copy else data
    if columns is not None:
        options: dict[str, Any] = {"method": method, "k_range": k_range, "noise": noise}
        add_consensus(data, columns, n_clusters, name=name, random_state=random_state, **options)
    else:
        made = _Source(data, use, generator, n_partitions, random_state)
        scan = None
        scans = k_range is not None or needs_number(prepare(method))
        if n_clusters is None and made.has_features and scans:
            scan = made.scan(k_range, method)
            n_clusters = suggested_number(scan, "data without clusters")
        ensemble = made.ensemble(n_clusters)
        fusion = fuse(
            ensemble, n_clusters, method=method, k_range=k_range, random_state=random_state
        )
        fusion = fusion if scan is None else replace(fusion, scan=scan)
        key = f"{name}_partitions"
        data.obsm[key] = made.labels
        results, record = anndata_results(
            fusion, name, random_state=random_state, use=made.use, partitions=key,
            partition_names=np.asarray(ensemble.partition_names).astype(str),
        )  # fmt: skip
        for column, values in results.items():
            data.obs[column] = values
        data.uns[name] = record
    n_colors = len(data.obs[name].cat.categories)
    data.uns[f"{name}_colors"] = np.asarray(cluster_colors(n_colors))
    return data if copy else None


def partitions(data: Any, name: str = "consensus") -> Ensemble:
    """Return the partitions that a consensus was made from.

    Parameters
    ----------
    data : AnnData or MuData
        The cells, after `partita.tl.consensus` or `partita.add_consensus`.
    name : str, default="consensus"
        Name of the consensus.

    Returns
    -------
    Ensemble
        For `partita.report`, `partita.diagnose` and the displays. The names of the cells are the
        sample ids.

    Examples
    --------
    >>> import anndata, numpy, pandas, partita
    >>> obs = pandas.DataFrame({"leiden_0": list("aabb"), "leiden_1": list("xxyy")}, list("pqrs"))
    >>> adata = anndata.AnnData(numpy.zeros((4, 1)), obs)
    >>> partita.tl.consensus(adata, "leiden_*", n_clusters=2)
    >>> partita.tl.partitions(adata)
    Ensemble(4 samples, 2 partitions, 2 clusters each)
    """
    if name not in data.uns or "params" not in data.uns[name]:
        raise KeyError(f"No consensus {name!r} in uns. Call `partita.tl.consensus` first.")
    params = data.uns[name]["params"]
    if "columns" in params:
        columns = [str(column) for column in params["columns"]]
        return Ensemble.from_frame(
            data.obs, columns=columns, noise=params["noise"], unlabeled="keep"
        )
    return _ensemble_of(
        np.asarray(data.obsm[params["partitions"]]),
        [str(label) for label in params["partition_names"]],
        data.obs_names,
    )


def _ensemble_of(labels: Any, names: list[str], ids: Any) -> Ensemble:
    return Ensemble.from_partitions(
        labels, partition_names=names, sample_ids=np.asarray(ids, object), unlabeled="keep"
    )


class _Source:
    """The graphs or features of the cells, from which partitions are made."""

    def __init__(
        self,
        data: Any,
        use: str | None,
        generator: Any,
        n_partitions: int,
        random_state: int | None,
    ) -> None:
        self._data = data
        self._modalities = dict(data.mod) if hasattr(data, "mod") else {"": data}
        self._generator, self._n_partitions = generator, n_partitions
        self._random_state = random_state
        places = {part: _place(cells, use) for part, cells in self._modalities.items()}
        self.use = next(iter(places.values()))
        self._values = {part: _values(self._modalities[part], places[part]) for part in places}
        self.has_features = not any(is_graph for _, is_graph in self._values.values())

    def scan(self, k_range: Iterable[int] | None, method: Any) -> KScan:
        """Choose the number of clusters of features, of all modalities together."""
        options: dict[str, Any] = {
            "generator": self._generator, "method": method, "random_state": self._random_state
        }  # fmt: skip
        features = {part: matrix for part, (matrix, _) in self._values.items()}
        if len(features) == 1:
            (matrix,) = features.values()
            return scan_k_features(matrix, k_range, **options)
        ids = list(self._data.obs_names)
        present = {part: cells.obs_names for part, cells in self._modalities.items()}
        return scan_k_views(features, k_range, present=present, sample_ids=ids, **options)

    def ensemble(self, n_clusters: int | None) -> Ensemble:
        """Make the partitions; `labels` then has them, with -1 for cells that a modality lacks."""
        n_cells = len(self._data.obs_names)
        rng = random_generator(self._random_state)
        columns, names = [], []
        for part, (matrix, is_graph) in self._values.items():
            made = self._make(is_graph, n_clusters, rng).fit(matrix)
            labels = np.full((n_cells, made.labels_.shape[1]), -1, np.int32)
            rows = self._data.obs_names.get_indexer(self._modalities[part].obs_names)
            labels[rows] = made.labels_
            columns.append(labels)
            count = labels.shape[1]
            names += name_partitions(part, count) if part else marked_names(made, count)
        self.labels = np.concatenate(columns, axis=1)
        return _ensemble_of(self.labels, names, self._data.obs_names)

    def _make(self, is_graph: bool, n_clusters: int | None, rng: Any) -> Any:
        chosen: Any = self._generator or ("random_leiden" if is_graph else "landmark_spectral")
        own = isinstance(chosen, str | type)
        made = make_generator(chosen, **({"n_partitions": self._n_partitions} if own else {}))
        if is_graph and type(made).__name__ != "RandomLeiden":
            raise ValueError(
                f"generator must be a RandomLeiden for the graph {self.use!r}, got "
                f'{type(made).__name__}. For features pass use="X_pca" or another key of obsm.'
            )
        if is_graph:
            made.set_params(metric="precomputed")
        return prepare(made, n_clusters, rng, keep_n_clusters=True)


def _place(cells: Any, use: str | None) -> str:
    """Return the key to use: the one that was passed, or the first default that there is."""
    keys = [*cells.obsp, *cells.obsm, *(["X"] if cells.X is not None else [])]
    places = [use] if use is not None else ["connectivities", "X_pca"]
    for key in places:
        if key in keys:
            return key
    raise InvalidEnsembleError(
        f"Expected partitions in obs (columns) or {' or '.join(map(repr, places))} to make them "
        f"from, got an object with {', '.join(keys) or 'neither'}. Pass columns, or use."
    )


def _values(cells: Any, key: str) -> tuple[Any, bool]:
    """Return a graph or features, and whether it is a graph."""
    if key in cells.obsp:
        return cells.obsp[key], True
    return (cells.X if key == "X" else np.asarray(cells.obsm[key])), False
