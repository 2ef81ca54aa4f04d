"""`plan`: predict memory and time of a fit, and say where it can run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from partita._memory import describe_bytes, memory_budget
from partita.consensus import BaseConsensus
from partita.planning._timing import time_from_store, time_in_memory
from partita.planning._workload import Workload
from partita.registry import all_methods, get_method

__all__ = ["Plan", "plan"]


@dataclass(frozen=True)
class Plan:
    """Predicted needs of a fit. Made by `plan`.

    Attributes
    ----------
    method : str
        Key of the method.
    n_samples, n_partitions, n_clusters, n_base_clusters, missing_ratio, n_distinct, max_iter
        The arguments of `plan`, defaults filled in.
    where : {"memory", "store"}
        Whether all labels are held in memory, or read from a store in each pass.
    fits : bool
        Whether `peak_bytes` is within `memory_budget`.
    peak_bytes : int
        Largest resident memory.
    disk_bytes : int
        Labels and intermediate results on disk; 0 for a fit in memory.
    memory_budget : int
        Bytes that the configuration allows.
    seconds : float
        Predicted time.
    seconds_per_iteration : float or None
        Predicted time of one iteration, if the method iterates over a store.
    measured : dict
        The small fit on which the prediction is based.
    methods : list of dict
        For each method: the bytes in memory and from a store, and whether it fits.
    """

    method: str
    n_samples: int
    n_partitions: int
    n_clusters: int
    n_base_clusters: int
    missing_ratio: float
    n_distinct: int
    max_iter: int
    where: str
    fits: bool
    peak_bytes: int
    disk_bytes: int
    memory_budget: int
    seconds: float
    seconds_per_iteration: float | None
    measured: dict[str, float]
    methods: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dictionary."""
        return asdict(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        lines = [
            f"{self.method} on {self.n_samples:,} samples x {self.n_partitions} partitions, from "
            f"{self.where}: about {_describe_seconds(self.seconds)}, "
            f"{describe_bytes(self.peak_bytes)} of memory, which {verdict} the budget of "
            f"{describe_bytes(self.memory_budget)}"
        ]
        if self.seconds_per_iteration is not None:
            lines.append(
                f"{_describe_seconds(self.seconds_per_iteration)} per iteration, {self.max_iter} "
                "assumed"
            )
        if self.where == "store":
            lines.append(f"{describe_bytes(self.disk_bytes)} on disk")
        names = ", ".join(m["method"] for m in self.methods if m["fits"])
        lines.append(f"methods that fit: {names or 'none'}")
        return "\n".join(lines)


def plan(
    n_samples: float,
    n_partitions: int,
    n_clusters: int,
    method: str = "sec",
    *,
    n_base_clusters: int | None = None,
    missing_ratio: float = 0.0,
    n_distinct: float | None = None,
    max_iter: int = 30,
    random_state: int = 0,
) -> Plan:
    """Predict memory and time of a fit from small fits on this machine.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_partitions : int
        Number of base partitions.
    n_clusters : int
        Number of clusters of the consensus.
    method : str, default="sec"
        Key of the consensus method.
    n_base_clusters : int, optional
        Number of clusters of each base partition. By default `n_clusters`.
    missing_ratio : float, default=0.0
        Share of the labels that are missing.
    n_distinct : int, optional
        Number of distinct rows of labels. By default `n_samples`.
    max_iter : int, default=30
        Number of passes over the rows to assume for a method that iterates, over all restarts.
    random_state : int, default=0
        Seed of the synthetic labels and of the small fits.

    Returns
    -------
    Plan

    Notes
    -----
    If the labels do not fit into memory, a method that works out of core is fitted to a small
    store, and the time of a pass is scaled by the number of rows. Other methods are fitted to
    larger and larger ensembles in memory until a fit takes half a second; the rest is extrapolated
    with the power of n in the cost of the method. Both take some seconds. The prediction is an
    order of magnitude: within a factor of two on planted labels.

    Examples
    --------
    >>> import partita
    >>> prediction = partita.plan(5_000, 10, 4, "eac")
    >>> prediction.where, prediction.fits
    ('memory', True)
    """
    n_samples = _positive_integer("n_samples", n_samples)
    _positive_integer("n_partitions", n_partitions)
    _positive_integer("n_clusters", n_clusters)
    n_distinct = n_samples if n_distinct is None else _positive_integer("n_distinct", n_distinct)
    if n_base_clusters is None:
        n_base_clusters = n_clusters
    _positive_integer("n_base_clusters", n_base_clusters)
    if not 0 <= missing_ratio < 1:
        raise ValueError(f"missing_ratio must be at least 0 and below 1, got {missing_ratio!r}")
    workload = Workload(
        n_samples=n_samples,
        n_partitions=n_partitions,
        n_clusters=n_clusters,
        n_base_clusters=n_base_clusters,
        missing_ratio=missing_ratio,
        n_distinct=min(n_samples, n_distinct),
        random_state=random_state,
    )
    estimator = get_method(method)
    budget = memory_budget()
    in_memory = workload.bytes_in_memory(estimator)
    if in_memory <= budget or not estimator.info.out_of_core:
        timing = time_in_memory(estimator, workload)
        where, peak_bytes, disk_bytes = "memory", in_memory, 0
    else:
        timing = time_from_store(estimator, workload, max_iter)
        where, peak_bytes = "store", workload.bytes_from_store(estimator)
        disk_bytes = workload.bytes_on_disk
    return Plan(
        method=estimator.info.key,
        n_samples=n_samples,
        n_partitions=n_partitions,
        n_clusters=n_clusters,
        n_base_clusters=n_base_clusters,
        missing_ratio=missing_ratio,
        n_distinct=workload.n_distinct,
        max_iter=max_iter,
        where=where,
        fits=peak_bytes <= budget,
        peak_bytes=peak_bytes,
        disk_bytes=disk_bytes,
        memory_budget=budget,
        seconds=timing.seconds,
        seconds_per_iteration=timing.seconds_per_iteration,
        measured=timing.measured,
        methods=[_needs_of_method(cls, workload, budget) for cls in all_methods()],
    )


def _positive_integer(name: str, value: float) -> int:
    if not value >= 1 or value != int(value):
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _needs_of_method(
    method: type[BaseConsensus], workload: Workload, budget: int
) -> dict[str, Any]:
    in_memory = workload.bytes_in_memory(method)
    from_store = workload.bytes_from_store(method) if method.info.out_of_core else None
    refused = bool(workload.missing_ratio) and method.info.missing == "refused"
    return {
        "method": method.info.key,
        "bytes_in_memory": in_memory,
        "bytes_from_store": from_store,
        "fits": not refused
        and (in_memory <= budget or (from_store is not None and from_store <= budget)),
    }


def _describe_seconds(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.2g} seconds"
