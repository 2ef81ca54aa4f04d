"""`fuse`, in memory or out of core."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import html_of_records
from partita._input.label_vector import code_labels
from partita._memory import memory_budget
from partita.alignment import align_labels
from partita.consensus import BaseConsensus
from partita.diagnostics import Diagnosis, diagnose
from partita.ensemble import Ensemble, as_ensemble, as_soft
from partita.exceptions import MemoryBudgetError, NotSupportedError
from partita.fusion._joining import join_partitions
from partita.io import LabelStore
from partita.registry import all_methods, prepare
from partita.select_k import KScan, needs_number, scan_k, suggested_number

__all__ = ["Fusion", "fits_in_memory", "fuse", "update_consensus"]

_BYTES_PER_SAMPLE_AND_CLUSTER = 32  # four tables of samples by clusters in a diagnosis
_MANY_CLUSTERS = 30  # that a scan may suggest


@dataclass(frozen=True, eq=False, repr=False)
class Fusion:
    """A consensus and how far to trust it. Returned by `fuse`.

    Attributes
    ----------
    partitions : Ensemble or LabelStore
        The base partitions; a `LabelStore` if the fit was out of core.
    labels : array of shape (n_samples,)
        Cluster of every sample, -1 for a sample without any label. If the fit was out of core, an
        array that is mapped from a temporary file.
    confidence : array of shape (n_samples,) or None
        Item consensus of every sample with its own cluster; NaN for a sample without a label or
        alone in its cluster. None if the fit was out of core.
    method : consensus method
        The fitted estimator.
    diagnosis : Diagnosis or None
        Confidence of samples, clusters and partitions. None if the fit was out of core.
    scan : KScan or None
        The scan that chose the number of clusters; None if it was passed.
    previous : array of shape (n_samples,) or None
        After an update, the labels of the consensus before it.
    """

    partitions: Ensemble | LabelStore
    labels: NDArray[np.int64]
    confidence: NDArray[np.float64] | None
    method: BaseConsensus
    diagnosis: Diagnosis | None
    scan: KScan | None
    previous: NDArray[np.int64] | None = None

    @property
    def changed(self) -> NDArray[np.int64] | None:
        """Samples that an update moved to another cluster; None without an update.

        Clusters are matched by their samples, as in `partita.align_labels`. Samples without a label
        before or after the update are not counted.
        """
        if self.previous is None:
            return None
        aligned = align_labels(self.previous, self.labels).labels
        both = (self.previous >= 0) & (self.labels >= 0)
        return np.flatnonzero(both & (aligned != self.previous))

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the consensus."""
        return int(self.method.n_clusters_)

    def update(self, partitions: Any) -> Fusion:
        """Add partitions of the same samples, without starting anew.

        The number of clusters stays, so that no scan is repeated. `SEC`, `KCC`, `CCC` and `KC`
        start from the labels of this consensus: the result is that of
        `SEC(n_clusters, init=fusion.labels)` on all partitions, one restart instead of ten, and its
        objective is no worse than that of these labels. Other methods are fitted to all partitions
        with the same parameters.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors or Ensemble
            The new partitions. Samples are matched by id if both have ids, otherwise they are in
            the same order.

        Returns
        -------
        Fusion
            A new result, whose `previous` are the labels of this one. This one is not changed.

        Examples
        --------
        >>> from partita import fuse
        >>> from partita.datasets import make_partitions
        >>> partitions, y = make_partitions(90, 30, 3, noise=0.3)
        >>> fusion = fuse(partitions[:, :20], 3, method="sec", random_state=0)
        >>> fusion.update(partitions[:, 20:])
        Fusion of 30 partitions of 90 samples into 3 clusters by SEC
        """
        if isinstance(self.partitions, LabelStore):
            raise NotSupportedError(
                "A consensus that was computed out of core cannot be updated: add the partitions "
                "to a new store and fit it."
            )
        return update_consensus(self.partitions, self.labels, partitions, method=self.method)

    def __repr__(self) -> str:
        chosen = "" if self.scan is None else " (chosen by a scan)"
        return (
            f"Fusion of {self.partitions.n_partitions} partitions of {len(self.labels)} samples "
            f"into {self.n_clusters} clusters{chosen} by {type(self.method).__name__}"
        )

    def to_frame(self) -> Any:
        """Return one row per sample as a data frame, as `Diagnosis.to_frame` does.

        A fusion that was computed out of core has no diagnosis and raises an error.
        """
        if self.diagnosis is None:
            raise NotSupportedError(
                "A consensus that was computed out of core has no table of samples: read `labels`."
            )
        return self.diagnosis.to_frame()

    def _repr_html_(self) -> str:
        if self.diagnosis is None:
            return html_of_records([], caption=repr(self))
        return self.diagnosis.to_html(repr(self))


def fuse(
    partitions: Any,
    n_clusters: int | None = None,
    *,
    method: Any = "ccgp",
    k_range: Iterable[int] | None = None,
    random_state: int | None = None,
) -> Fusion:
    """Fuse partitions and say how far to trust the result.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions. A store whose labels and diagnosis exceed the memory budget is fitted
        out of core, without a diagnosis. A list of membership matrices (n_samples, K_i) or a
        `SoftEnsemble` is fitted as it is by a method that is `soft`; the scan and the diagnosis use
        the most likely labels.
    n_clusters : int, optional
        Number of clusters. By default the number that `method` was given, or the choice of a method
        that needs none (`MedianPartition`, `EAC(n_clusters=None)`), and otherwise the suggestion of
        `partita.scan_k` over `k_range`.
    method : str, class or estimator, default="ccgp"
        Consensus method: its key, class or estimator. An estimator is cloned; `n_clusters` is set,
        and the seed if it has none.
    k_range : iterable of int, optional
        Numbers of clusters to choose from if `n_clusters` is None. By default 2 to 10, or 2 to
        30 if the suggestion is 10. If it is passed, it decides and not `method`.
    random_state : int or None, default=None
        Seed of the scan and of a method that has none.

    Returns
    -------
    Fusion

    Raises
    ------
    NoStructureError
        If `n_clusters` is None and no number of clusters does better than the null.
    MemoryBudgetError
        If a store exceeds the memory budget and `n_clusters` is None, or the method is not
        `out_of_core`.

    Examples
    --------
    >>> from partita import fuse
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(90, 20, 3, noise=0.2)
    >>> fusion = fuse(partitions, k_range=range(2, 5), random_state=0)
    >>> fusion.n_clusters, round(float(fusion.confidence.mean()), 1)
    (3, 0.7)
    """
    scans = n_clusters is None and (k_range is not None or needs_number(prepare(method)))
    soft = None
    if isinstance(partitions, LabelStore):
        estimator = prepare(method, n_clusters, random_state)
        most = _MANY_CLUSTERS if scans else estimator.get_params().get("n_clusters")
        if not fits_in_memory(partitions, most or _MANY_CLUSTERS):
            return _fuse_out_of_core(partitions, estimator, scans)
        ensemble = partitions.to_ensemble(unlabeled="keep")
    else:
        soft = as_soft(partitions)
        ensemble = as_ensemble(partitions) if soft is None else soft.to_ensemble()
    scan = None
    if scans:
        scan = scan_k(ensemble, k_range, random_state=random_state)
        n_clusters = suggested_number(scan, "labels in random order")
    estimator = prepare(method, n_clusters, random_state)
    estimator.fit(ensemble if soft is None else soft)
    return _result(ensemble, estimator, scan)


def update_consensus(
    partitions: Any,
    labels: Any,
    new_partitions: Any,
    *,
    method: Any = "ccgp",
    random_state: int | None = None,
) -> Fusion:
    """Add partitions to a consensus, without starting anew.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors or Ensemble
        The partitions of the consensus so far.
    labels : array-like of shape (n_samples,)
        The consensus so far. Its number of clusters stays. `SEC`, `KCC`, `CCC` and `KC` start from
        it; other methods are fitted to all partitions.
    new_partitions : table of labels, data frame, list of label vectors or Ensemble
        The new partitions. Samples are matched by id if both have ids, otherwise they are in the
        same order.
    method : str, class or estimator, default="ccgp"
        Consensus method: its key, class or estimator.
    random_state : int or None, default=None
        Seed of a method that has none.

    Returns
    -------
    Fusion
        Its `previous` are the labels before, its `changed` the samples in another cluster.

    Examples
    --------
    >>> from partita.datasets import make_partitions
    >>> from partita.fusion import update_consensus
    >>> partitions, y = make_partitions(90, 30, 3, noise=0.3)
    >>> updated = update_consensus(partitions[:, :20], y, partitions[:, 20:], random_state=0)
    >>> updated, len(updated.changed)
    (Fusion of 30 partitions of 90 samples into 3 clusters by CCGP, 0)
    """
    before = as_ensemble(partitions)
    codes, names = code_labels(labels, before.n_samples, sample_ids=before.sample_ids)
    ensemble = join_partitions(before, as_ensemble(new_partitions))
    estimator = prepare(method, None, random_state)
    parameters = estimator.get_params(deep=False)
    if parameters.get("n_clusters") is not None:
        estimator.set_params(n_clusters=len(names))
    if "init" in parameters:
        estimator.set_params(init=codes)
    estimator.fit(ensemble)
    return replace(_result(ensemble, estimator, None), previous=codes)


def _result(ensemble: Ensemble, estimator: Any, scan: KScan | None) -> Fusion:
    diagnosis = diagnose(ensemble, estimator.labels_)
    return Fusion(
        partitions=ensemble,
        labels=estimator.labels_,
        confidence=diagnosis.confidence,
        method=estimator,
        diagnosis=diagnosis,
        scan=scan,
    )


def fits_in_memory(store: LabelStore, n_clusters: int) -> bool:
    """Return whether the labels of a store and the diagnosis fit the memory budget.

    If they do not, `fuse` works out of core.
    """
    labels = store.n_partitions * store.dtype.itemsize
    diagnosis = _BYTES_PER_SAMPLE_AND_CLUSTER * n_clusters
    return store.n_samples * (labels + diagnosis) <= memory_budget()


def _fuse_out_of_core(store: LabelStore, estimator: Any, scans: bool) -> Fusion:
    reason = f"{store.path} does not fit into memory"
    if scans:
        raise MemoryBudgetError(
            f"{reason}, as a scan over the number of clusters needs. Pass the number of clusters."
        )
    if not estimator.info.out_of_core:
        keys = ", ".join(c.info.key for c in all_methods() if c.info.out_of_core)
        raise MemoryBudgetError(
            f"{reason}, as {type(estimator).__name__} needs. Methods that work out of core: {keys}."
        )
    estimator.fit(store)
    return Fusion(
        partitions=store,
        labels=estimator.labels_,
        confidence=None,
        method=estimator,
        diagnosis=None,
        scan=None,
    )
