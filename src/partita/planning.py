"""`plan`: how much memory and time a fit will take, from what this machine does on a small one."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.table_coding import code_dtype
from partita._memory import describe_bytes, memory_budget
from partita.config import Progress, config_context
from partita.consensus import BaseConsensus, Size
from partita.ensemble import Ensemble
from partita.exceptions import PartitaWarning
from partita.io.store import LabelStore
from partita.registry import all_methods, get_method, prepare

__all__ = ["Plan", "plan"]

_STORE_ROWS = 1 << 17  # of the small fit from a store: more than the sample that seeds come from
_STORE_ITERATIONS = 8
_FIRST_ROWS = 256  # of the first small fit in memory, doubled until it takes long enough
_LONG_ENOUGH = 0.5  # seconds
_CHUNK_BYTES = 1 << 28  # two chunks of rows and what is computed of them, at most
_NOISE = 0.2
_POWERS = {"": 1, "²": 2, "³": 3}


@dataclass(frozen=True)
class Plan:
    """What a fit will need.

    Attributes
    ----------
    method, rows, partitions, clusters, base_clusters, missing, distinct, iterations
        What was asked for.
    where : {"memory", "store"}
        Whether all labels are held in memory, or read from a store pass by pass.
    fits : bool
        Whether `peak_bytes` is within `budget`.
    peak_bytes, disk_bytes, budget : int
        Resident memory at most; labels and what is remembered of them on disk; the memory budget.
    seconds, seconds_per_iteration : float
        Predicted; the second is None where a method does not work in passes over the rows.
    measured : dict
        The small fit that the prediction stands on.
    methods : list of dict
        Every method with the bytes it would need and whether it fits, here and from a store.
    """

    method: str
    rows: int
    partitions: int
    clusters: int
    base_clusters: int
    missing: float
    distinct: int
    iterations: int
    where: str
    fits: bool
    peak_bytes: int
    disk_bytes: int
    budget: int
    seconds: float
    seconds_per_iteration: float | None
    measured: dict[str, float]
    methods: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain types."""
        return asdict(self)

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        lines = [
            f"{self.method} on {self.rows:,} x {self.partitions}, from {self.where}: about "
            f"{_duration(self.seconds)}, {describe_bytes(self.peak_bytes)} of memory, which "
            f"{verdict} the budget of {describe_bytes(self.budget)}"
        ]
        if self.seconds_per_iteration is not None:
            lines.append(
                f"{_duration(self.seconds_per_iteration)} per iteration, {self.iterations} assumed"
            )
        if self.where == "store":
            lines.append(f"{describe_bytes(self.disk_bytes)} on disk")
        names = ", ".join(m["method"] for m in self.methods if m["fits"])
        lines.append(f"methods that fit: {names or 'none'}")
        return "\n".join(lines)


def plan(
    rows: float,
    partitions: int,
    clusters: int,
    method: str = "sec",
    *,
    base_clusters: int | None = None,
    missing: float = 0.0,
    distinct: float | None = None,
    iterations: int = 30,
    random_state: int = 0,
) -> Plan:
    """Predict bytes and seconds of a fit from a small one on this machine.

    Parameters
    ----------
    rows, partitions, clusters : int
        Samples, base partitions, and clusters wanted.
    method : str
        Key of the method.
    base_clusters : int, optional
        Clusters of a base partition; as many as are wanted by default.
    missing : float
        Share of the labels that is missing.
    distinct : int, optional
        Distinct rows of labels, where that is known; all rows by default.
    iterations : int
        Passes over the rows assumed of a method that iterates, over all its starts.
    random_state : int

    Returns
    -------
    Plan

    Notes
    -----
    A method that is `out_of_core` is fitted to a small store if the labels do not fit in memory,
    and the seconds of a pass grow with the rows. Other methods are fitted to ever larger ensembles
    in memory until that takes half a second, and the rest follows the power of n in their cost.
    Both take some seconds. Read the answer as an order of magnitude: within a factor of two on
    planted labels.

    Examples
    --------
    >>> import partita
    >>> found = partita.plan(5_000, 10, 4, "eac")
    >>> found.where, found.fits
    ('memory', True)
    """
    rows = _whole("rows", rows)
    distinct = rows if distinct is None else min(rows, _whole("distinct", distinct))
    for name, value in (("partitions", partitions), ("clusters", clusters)):
        _whole(name, value)
    if not 0 <= missing < 1:
        raise ValueError(f"missing must be a share from 0 to below 1, got {missing!r}")
    k = clusters if base_clusters is None else _whole("base_clusters", base_clusters)
    shape = _Shape(rows, partitions, clusters, k, missing, distinct, random_state)
    chosen = get_method(method)
    budget = memory_budget()
    needed = shape.bytes_in_memory(chosen)
    if needed <= budget or not chosen.info.out_of_core:
        seconds, per_iteration, measured = _in_memory(chosen, shape)
        where, peak, disk = "memory", needed, 0
    else:
        seconds, per_iteration, measured = _from_store(chosen, shape, iterations)
        where, peak, disk = "store", shape.bytes_from_store(chosen), shape.bytes_on_disk
    return Plan(
        method=chosen.info.key,
        rows=rows,
        partitions=partitions,
        clusters=clusters,
        base_clusters=k,
        missing=missing,
        distinct=distinct,
        iterations=iterations,
        where=where,
        fits=peak <= budget,
        peak_bytes=peak,
        disk_bytes=disk,
        budget=budget,
        seconds=seconds,
        seconds_per_iteration=per_iteration,
        measured=measured,
        methods=[_outlook(cls, shape, budget) for cls in all_methods()],
    )


def _whole(name: str, value: float) -> int:
    if not value >= 1 or value != int(value):
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


@dataclass(frozen=True)
class _Shape:
    """The labels that are planned for, and small ones like them."""

    rows: int
    partitions: int
    clusters: int
    base_clusters: int
    missing: float
    distinct: int
    random_state: int

    @property
    def label_bytes(self) -> int:
        return int(np.dtype(code_dtype(self.base_clusters)).itemsize)

    def size(self, n_rows: int) -> Size:
        length = self.partitions * self.base_clusters
        return Size(n_rows, self.partitions, length, self.clusters)

    def bytes_in_memory(self, method: type[BaseConsensus]) -> int:
        """The labels, a copy of them while they are reduced, and what the method needs."""
        labels = self.rows * (2 * self.partitions * self.label_bytes + 48)
        return labels + method.info.bytes_needed(self.size(self.distinct))

    def bytes_from_store(self, method: type[BaseConsensus]) -> int:
        """Two chunks of rows, the tables, and what the method needs whatever the rows."""
        size = self.size(0)
        tables = 8 * 8 * size.n_base_clusters * size.n_clusters
        clusters = 16 * size.n_base_clusters**2 if method.info.family == "graph" else 0
        return _CHUNK_BYTES + tables + clusters + method.info.bytes_needed(size)

    @property
    def bytes_on_disk(self) -> int:
        """Labels, groups, bounds and parts of the rows, and the result."""
        return self.rows * (self.partitions * self.label_bytes + 12 + 28 + 8)

    def small(self, n: int) -> NDArray[np.int64]:
        """Planted labels of this kind for n samples, -1 where they are missing."""
        rng = np.random.default_rng(self.random_state)
        truth = rng.integers(0, self.clusters, n)
        labels = np.empty((n, self.partitions), np.int64)
        for i in range(self.partitions):
            pieces = rng.integers(0, self.base_clusters, (self.clusters, 2))
            labels[:, i] = pieces[truth, rng.integers(0, 2, n)]
        blurred = rng.random(labels.shape) < _NOISE
        labels[blurred] = rng.integers(0, self.base_clusters, np.count_nonzero(blurred))
        if self.missing:
            absent = rng.random(labels.shape) < self.missing
            absent[np.arange(n), rng.integers(0, self.partitions, n)] = False
            labels[absent] = -1
        return labels


@contextmanager
def _passes() -> Iterator[list[float]]:
    """The seconds of all passes over the rows of a store that are made meanwhile."""
    began, seconds = [0.0], []

    def note(step: Progress) -> None:
        if step.task == "rows" and step.done == 0:
            began[0] = perf_counter()
        elif step.task == "rows" and step.done == step.total:
            seconds.append(perf_counter() - began[0])

    with config_context(progress=note):
        yield seconds


def _from_store(
    method: type[BaseConsensus], shape: _Shape, iterations: int
) -> tuple[float, float | None, dict[str, float]]:
    """Seconds in all and per iteration, from a small store."""
    n = min(shape.rows, _STORE_ROWS)
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        _fit_once(method, shape, _store(shape, 2_000, Path(folder, "tiny")))  # compilers first
        store = _store(shape, n, Path(folder, "small"))
        began = perf_counter()
        with _passes() as seconds:
            model = _fit_once(method, shape, store)
        whole = perf_counter() - began
    fixed = max(0.0, whole - sum(seconds))  # seeds, eigenvectors: whatever the rows
    # the passes of the iterations come last, but for the one that gives the labels
    iterates = hasattr(model, "max_iter")
    n_repeated = min(len(seconds) - 1, model.n_iter_ + model.converged_) if iterates else 0
    repeated = seconds[-n_repeated - 1 : -1]
    others = (sum(seconds) - sum(repeated)) / n
    per_row = float(np.mean(repeated if iterates else seconds)) / n
    total = fixed + shape.rows * (others + (iterations * per_row if iterates else 0.0))
    measured = {"rows": n, "seconds": whole, "seconds_per_row": per_row}
    return total, shape.rows * per_row if iterates else None, measured


def _store(shape: _Shape, n: int, folder: Path) -> LabelStore:
    return LabelStore.from_partitions(shape.small(n), folder)


def _in_memory(method: type[BaseConsensus], shape: _Shape) -> tuple[float, None, dict[str, float]]:
    """Seconds in all, from the largest fit that is quick enough."""
    samples = min(shape.distinct, max(_FIRST_ROWS, 2 * shape.clusters))
    _fit_once(method, shape, shape.small(samples))  # compilers first
    n, seconds, smaller = 0, 0.0, (0, 0.0)
    while True:
        labels = shape.small(samples)
        n_distinct = Ensemble.from_partitions(labels).compress().n_rows
        # there may be no more distinct rows than these, however many samples
        if n_distinct < 1.2 * n:
            break
        smaller = n, seconds
        n, seconds = n_distinct, min(_seconds(method, shape, labels) for _ in range(2))
        if seconds >= _LONG_ENOUGH or samples == shape.distinct:
            break
        samples = min(shape.distinct, 2 * samples)
    power = growth(method.info.time)
    predicted = _extrapolated(*smaller, n, seconds, shape.distinct, power)
    return predicted, None, {"rows": n, "seconds": seconds, "power": power}


def _extrapolated(
    n: int, seconds: float, larger: int, its_seconds: float, wanted: int, power: int
) -> float:
    """Seconds for `wanted` rows: a part that stays and one that grows, as two fits tell.

    Half of the larger fit grows at least, however noisy the two were.
    """
    grown = (its_seconds - seconds) / (1.0 - (n / larger) ** power)
    grown = min(max(grown, its_seconds / 2), its_seconds)
    return its_seconds - grown + grown * (wanted / larger) ** power


def _seconds(method: type[BaseConsensus], shape: _Shape, labels: NDArray[np.int64]) -> float:
    began = perf_counter()
    _fit_once(method, shape, labels)
    return perf_counter() - began


def growth(time: str) -> int:
    """The highest power of n or n' in a cost such as "n m² + n'² m"."""
    return max(_POWERS[power] for power in re.findall(r"\bn'?([²³]?)", time))


def _fit_once(method: type[BaseConsensus], shape: _Shape, labels: Any) -> BaseConsensus:
    model: BaseConsensus = prepare(method, shape.clusters, shape.random_state)
    if isinstance(labels, LabelStore):  # in memory a fit has the method's defaults
        settings = {"n_init": 1, "max_iter": _STORE_ITERATIONS}
        model.set_params(**{k: v for k, v in settings.items() if hasattr(model, k)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        return model.fit(labels)


def _outlook(method: type[BaseConsensus], shape: _Shape, budget: int) -> dict[str, Any]:
    in_memory = shape.bytes_in_memory(method)
    from_store = shape.bytes_from_store(method) if method.info.out_of_core else None
    refused = bool(shape.missing) and method.info.missing == "refused"
    return {
        "method": method.info.key,
        "bytes_in_memory": in_memory,
        "bytes_from_store": from_store,
        "fits": not refused
        and (in_memory <= budget or (from_store is not None and from_store <= budget)),
    }


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.2g} seconds"
