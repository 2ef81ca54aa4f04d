"""Files with the result of `partita fuse`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.fusion import Fusion

__all__ = ["check_files_of_large_store", "write_fusion"]


def check_files_of_large_store(
    store: Any, n_clusters: int, output: str | None, report: Path | None
) -> None:
    """Raise an error before the fit if it is out of core and its result cannot be written."""
    from partita.fusion import fits_in_memory

    if fits_in_memory(store, n_clusters):
        return
    if report is not None:
        raise ValueError(f"{store.path} does not fit into memory, as a report needs.")
    if output in (None, "-"):
        raise ValueError(f"{store.path} does not fit into memory. Name a file with --output.")


def write_fusion(
    fusion: Fusion, name: str, id_name: str, output: str | None, *, base: str, noise: str, seed: int
) -> None:
    """Write labels and confidence with the ids of the samples; a .npy file has labels only.

    An .h5ad file gets what `partita.tl.consensus` adds.
    """
    import numpy as np

    from partita.cli._tables import write
    from partita.io import LabelStore, Table, write_labels

    if isinstance(fusion.partitions, LabelStore):  # out of core
        store = fusion.partitions
        ids = (i for block in store.iter_sample_ids() for i in block)
        write_labels(
            str(output),
            fusion.labels,
            fusion.n_clusters,
            name=name,
            ids=ids if store.has_sample_ids else None,
        )
        return
    if (output or "").endswith(".h5ad"):
        _write_h5ad(fusion, name, id_name, str(output), base=base, noise=noise, seed=seed)
        return
    columns: dict[str, Any] = {name: np.ma.masked_equal(fusion.labels, -1)}
    if fusion.confidence is not None and not (output or "").endswith(".npy"):
        columns[f"{name}_confidence"] = np.round(fusion.confidence, 6)
    write(Table(columns, fusion.partitions.sample_ids, id_name), output, base=base)


def _write_h5ad(
    fusion: Fusion, name: str, id_name: str, output: str, *, base: str, noise: str, seed: int
) -> None:
    """Write labels, confidence, margin and runner-up into `obs`; parameters and colors, `uns`."""
    import numpy as np

    from partita.cli._tables import write
    from partita.fusion import anndata_results
    from partita.io import Table
    from partita.plotting import cluster_colors

    e = fusion.partitions
    names = np.asarray([*map(str, range(e.n_partitions))])
    if e.partition_names is not None:
        names = np.asarray(e.partition_names).astype(str)
    results, record = anndata_results(
        fusion, name, noise=str(noise), random_state=seed, columns=names, source=base
    )
    columns = {
        column: np.ma.masked_equal(values.codes, -1) if hasattr(values, "codes") else values
        for column, values in results.items()
    }
    uns = {name: record, f"{name}_colors": np.asarray(cluster_colors(fusion.n_clusters))}
    write(Table(columns, e.sample_ids, id_name), output, base=base, uns=uns)
