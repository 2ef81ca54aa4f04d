"""Balanced parts of a graph: the best of several starts, each refined until less cannot be cut.

Shared by `graph_cut` (pairs of vertices are cut) and `hypergraph_cut` (nets are cut), which differ
in what a cut costs and in where they start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita.config import report_progress
from partita.solvers.graph_cut.capacities import Seats, repacked, seat, take_seats
from partita.solvers.graph_cut.links import Links
from partita.solvers.kmeans import weighted_kmeans

__all__ = ["Cut", "Starts", "balanced_cut", "choose_partitioner", "kmeans_starts", "refine"]

_ROUNDING = 1e-9
_PATIENCE = 100  # moves without a better state after which a pass ends
_WORK = 2e8  # look-ups that bound the moves of a pass, and the passes over large graphs
_KICKS = 30  # times the best partition is disturbed and refined again
_KICKS_WORK = 2e5  # vertices times parts, beyond which it is done less often
_SCATTERED = 0.1  # share of the vertices that a kick scatters
_SCATTERED_FEW = 4  # and their number in small graphs
_MODULES = {"metis": "pymetis", "kahypar": "kahypar"}


@dataclass(frozen=True)
class Cut:
    """Parts, numbered by their first vertex, and what they cut.

    `history` is the cut after every pass from the start that won, `partitioner` made the starts.
    """

    labels: NDArray[np.int64]
    cut: float
    history: NDArray[np.float64]
    partitioner: str


@dataclass(frozen=True)
class Starts:
    """Groups to start from: who makes them, how many, and a function that does, one by one."""

    partitioner: str
    number: int
    make: Callable[[Seats], Iterator[NDArray[np.int64]]]


def balanced_cut(
    links: Links,
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    *,
    outside: Starts,
    builtin: Starts,
    fits: bool,
    partitioner: str,
    balance: float,
    task: str,
) -> Cut:
    """Refine every start, then kicks of the best so far; keep the smallest cut.

    The starts are those of the `outside` program if `choose_partitioner` says so, else `builtin`.
    """
    name = choose_partitioner(partitioner, outside.partitioner, fits)
    if n_parts >= links.n_vertices or n_parts == 1:
        return _nothing_to_choose(links, n_parts)
    chosen = outside if name == outside.partitioner else builtin
    seats = seat(weights, n_parts, balance)
    n_kicks = int(min(_KICKS, _KICKS_WORK / (links.n_vertices * n_parts)))
    best, history = seats.packing, [np.inf]

    def attempts() -> Iterator[NDArray[np.int64]]:
        yield from chosen.make(seats)
        for i in range(n_kicks):
            yield _kicked(best, n_parts, rng, mix=i % 2 == 1)

    for done, groups in enumerate(attempts(), 1):
        parts, passes = refine(links, groups, weights, seats)
        if passes[-1] < history[-1] * (1 - _ROUNDING):
            best, history = parts, passes
        report_progress(task, done, chosen.number + n_kicks)
    _, first, codes = np.unique(best, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[codes.reshape(-1)]
    return Cut(labels, history[-1], np.asarray(history), name)


def kmeans_starts(
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    number: int,
) -> Iterator[NDArray[np.int64]]:
    """k-means of the rows of a spectral embedding, from different seeds."""
    for _ in range(number):
        yield weighted_kmeans(embedding, weights, n_parts, rng, n_init=1)[0]


def _kicked(
    parts: NDArray[np.int64], n_parts: int, rng: np.random.Generator, *, mix: bool
) -> NDArray[np.int64]:
    """A partition disturbed: two parts mixed up, or some vertices scattered over all parts."""
    if mix:
        pair = rng.choice(n_parts, 2, replace=False)
        return np.where(np.isin(parts, pair), rng.choice(pair, len(parts)), parts)
    scattered = rng.random(len(parts)) < max(_SCATTERED, _SCATTERED_FEW / len(parts))
    return np.where(scattered, rng.integers(n_parts, size=len(parts)), parts)


def _nothing_to_choose(links: Links, n_parts: int) -> Cut:
    """One part, or a part for every vertex."""
    n = links.n_vertices
    labels = np.zeros(n, np.int64) if n_parts == 1 else np.arange(n)
    cut = links.cut(labels, n)
    return Cut(labels, cut, np.asarray([cut]), "none")


def choose_partitioner(wanted: str, extra: str, fits: bool) -> str:
    """`extra` if it is asked for, or if it is installed and the graph fits it; else "builtin"."""
    installed = find_spec(_MODULES[extra]) is not None
    if wanted == extra and not installed:
        raise ImportError(
            f'partitioner="{extra}" needs {_MODULES[extra]}, which is not installed: '
            'pip install "partita[graph]", or pass partitioner="builtin".'
        )
    return extra if wanted == extra or (wanted == "auto" and installed and fits) else "builtin"


def refine(
    links: Links, groups: NDArray[np.int64], weights: NDArray[np.float64], seats: Seats
) -> tuple[NDArray[np.int64], list[float]]:
    """Parts within their capacities from any groups, and the cut after every pass.

    Sweeps over all vertices until none moves, then Fiduccia-Mattheyses passes until one finds
    nothing better, or a few on graphs so large that a pass looks at a small share of the vertices.
    """
    n_parts = len(seats.share)
    parts = take_seats(groups, seats)
    state = _State(links, weights, seats, parts)
    state.sweep_until_still()
    if state.overloaded:  # whole vertices block each other
        state = _State(links, weights, seats, repacked(state.parts, weights, seats))
        state.sweep_until_still()
    history = [links.cut(state.parts, n_parts)]
    n_passes = max(1, int(_WORK / (_PATIENCE * links.work_of_a_move(n_parts))))
    while len(history) <= n_passes and state.climb():
        history.append(links.cut(state.parts, n_parts))
    return state.parts, history


class _State:
    """A partition that is being refined, with its loads and tallies."""

    def __init__(
        self, links: Links, weights: NDArray[np.float64], seats: Seats, parts: NDArray[np.int64]
    ) -> None:
        self.n_parts = len(seats.share)
        self.links, self.weights, self.capacity, self.parts = links, weights, seats.capacity, parts
        self.loads = np.bincount(parts, weights, minlength=self.n_parts)
        self.sizes = np.bincount(parts, minlength=self.n_parts)
        self.tally = links.tally(parts, self.n_parts)
        self.movable = np.ones(len(parts), np.bool_)
        self.movable[seats.heavy] = False

    @property
    def overloaded(self) -> bool:
        return bool(np.any(self.loads > self.capacity))

    def _pulls(self) -> tuple[NDArray[np.float64], float]:
        pull = self.links.pulls(self.parts, self.tally, self.n_parts)
        return pull, _ROUNDING * float(pull.max(initial=0.0))

    def sweep_until_still(self) -> None:
        moved, was_overloaded = 1, True
        g = self.links
        while moved and (was_overloaded or not self.overloaded):
            pull, tolerance = self._pulls()
            rows = np.arange(len(self.parts))
            own = pull[rows, self.parts]
            pull[rows, self.parts] = -np.inf
            # who loses least goes first, so that an overloaded part sheds what hardly belongs
            order = np.argsort(own - pull.max(axis=1), kind="stable")
            was_overloaded = self.overloaded
            moved = _kernels.graph_refinement.sweep(
                g.kind, g.start, g.other, g.value, g.pin_start, g.mass, self.tally, self.weights,
                self.capacity, self.movable, order, tolerance, self.parts, self.loads, self.sizes,
            )  # fmt: skip

    def climb(self) -> bool:
        """One pass; whether it cuts less."""
        g = self.links
        pull, tolerance = self._pulls()
        slack = float(self.weights[self.movable].max())
        max_moves = int(max(_PATIENCE, _WORK / g.work_of_a_move(self.n_parts)))
        gain = _kernels.graph_refinement.climb(
            g.kind, g.start, g.other, g.value, g.pin_start, g.pin, g.mass, self.tally,
            self.weights, self.capacity, slack, self.movable, tolerance, _PATIENCE,
            max_moves, pull, self.parts, self.loads, self.sizes,
        )  # fmt: skip
        return bool(gain > 0)
