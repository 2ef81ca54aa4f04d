"""Fusing a store that does not fit into memory: labels only, written in blocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._messages import Talk, print_json

if TYPE_CHECKING:
    from partita.io.store import LabelStore

__all__ = ["fuse_large", "large_store"]

_BLOCK = 1 << 20
_BYTES_PER_SAMPLE_AND_CLUSTER = 32  # of the diagnosis: four tables of samples by clusters


def large_store(path: str, n_clusters: int) -> LabelStore | None:
    """The store at `path`, if it is one whose labels and diagnosis exceed the memory budget."""
    from partita._memory import memory_budget
    from partita.io import LabelStore

    if not Path(path).is_dir():
        return None
    store = LabelStore.open(path)
    labels = store.n_partitions * store.dtype.itemsize
    diagnosis = _BYTES_PER_SAMPLE_AND_CLUSTER * n_clusters
    return store if store.n_samples * (labels + diagnosis) > memory_budget() else None


def fuse_large(
    store: LabelStore,
    method: Any,
    ks: range,
    output: str | None,
    report: Path | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit from the store; the result is an .npy file, one label per sample."""
    from partita.cli._progress import progress_bars

    name = type(method).__name__
    if len(ks) > 1 or report is not None:
        raise ValueError(
            f"{store.path} does not fit into memory, and choosing the number of clusters or "
            "writing a report needs it there. Give a number, -k 5, and no --report."
        )
    if output is None or not output.endswith(".npy"):
        raise ValueError(
            f"{store.path} does not fit into memory: its result is written in blocks, to --output "
            "NAME.npy."
        )
    if not method.info.out_of_core:
        raise ValueError(
            f"{store.path} does not fit into memory, and {name} needs it there. Methods "
            f"that do not: {', '.join(_out_of_core())}."
        )
    with progress_bars(name, quiet=quiet):
        fitted = method.set_params(n_clusters=ks[0], random_state=seed).fit(store)
        sizes = _write(fitted.labels_, Path(output), fitted.n_clusters_)
    if as_json:
        print_json(
            {
                "n_samples": store.n_samples,
                "n_partitions": store.n_partitions,
                "method": method.info.key,
                "parameters": fitted.get_params(deep=False),
                "seed": seed,
                "n_clusters": fitted.n_clusters_,
                "sizes": sizes,
                "converged": fitted.converged_,
                "output": output,
            }
        )
    Talk(quiet).say(
        f"wrote {output}: {fitted.n_clusters_} clusters of {store.n_samples} samples by "
        f"{name}, {min(sizes)} to {max(sizes)} samples each"
    )


def _out_of_core() -> list[str]:
    from partita.registry import all_methods

    return [c.info.key for c in all_methods() if c.info.out_of_core]


def _write(labels: Any, target: Path, n_clusters: int) -> list[int]:
    """Labels to a file, block by block; returns how many samples each cluster has."""
    import numpy as np

    from partita._atomic import atomic_path

    sizes = np.zeros(n_clusters, np.int64)
    with atomic_path(target) as partial:
        result = np.lib.format.open_memmap(partial, "w+", np.int32, (len(labels),))
        for start in range(0, len(labels), _BLOCK):
            block = np.asarray(labels[start : start + _BLOCK])
            result[start : start + _BLOCK] = block
            sizes += np.bincount(block[block >= 0], minlength=n_clusters)
        result.flush()
        del result
    return sizes.tolist()
