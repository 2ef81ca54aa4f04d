"""Balanced parts of a graph: how much a part may hold, and refinement that cuts less.

Shared by `graph_cut` (pairs of vertices are cut) and `hypergraph_cut` (nets are cut), which differ
in what a cut costs and in where they start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heapreplace
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.config import report_progress

__all__ = [
    "Cut",
    "Links",
    "Seats",
    "best_cut",
    "choose_partitioner",
    "nothing_to_choose",
    "refine",
    "seat",
]

EDGES, CLIQUES, NETS = 0, 1, 2  # as in the kernels
_ROUNDING = 1e-9
_PATIENCE = 100  # moves without a better state after which a pass ends
_WORK = 2e8  # look-ups that bound the moves of a pass, and the passes over large graphs
_KICKS = 30  # times the best partition is disturbed and refined again
_KICKS_WORK = 2e5  # vertices times parts, beyond which it is done less often
_SCATTERED = 0.1  # share of the vertices that a kick scatters
_SCATTERED_FEW = 4  # and their number in small graphs
_MODULES = {"metis": "pymetis", "kahypar": "kahypar"}


@dataclass(frozen=True)
class Links:
    """What joins vertices: edges, or nets seen as cliques or as wholes (see the kernels)."""

    kind: int
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    value: NDArray[np.float64]
    pin_start: NDArray[np.int64]
    pin: NDArray[np.int32]
    mass: NDArray[np.float64]

    @classmethod
    def of_edges(cls, graph: Any) -> Links:
        """Edges of a symmetric non-negative matrix, dense or sparse; its diagonal is ignored."""
        matrix = sp.csr_matrix(graph, copy=True)
        matrix.setdiag(0.0)
        matrix.eliminate_zeros()
        none = np.zeros(1, np.int64)
        start, other = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        mass = np.ones(matrix.shape[0])
        return cls(EDGES, start, other, matrix.data, none, none[:0].astype(np.int32), mass)

    @classmethod
    def of_nets(cls, incidence: Any, mass: NDArray[np.float64], *, whole: bool) -> Links:
        """Nets are the columns of a 0/1 incidence matrix of vertices and nets."""
        rows, columns = sp.csr_matrix(incidence), sp.csc_matrix(incidence)
        start, other = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        pin_start, pin = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        kind = NETS if whole else CLIQUES
        return cls(kind, start, other, np.empty(0), pin_start, pin, mass)

    @property
    def n_vertices(self) -> int:
        return len(self.start) - 1

    def tally(self, parts: NDArray[np.int64], n_parts: int) -> NDArray[np.float64]:
        """Mass (or number) of the pins of every net in every part."""
        tally = np.empty((len(self.pin_start) - 1, n_parts))
        _kernels.graph_refinement.count(self.kind, self.start, self.other, self.mass, parts, tally)
        return tally

    def cut(self, parts: NDArray[np.int64], n_parts: int) -> float:
        """Weight of the edges, weighted number of the pairs, or number of the nets cut."""
        if self.kind == EDGES:
            apart = np.repeat(parts, np.diff(self.start)) != parts[self.other]
            return float(self.value[apart].sum() / 2)
        tally = self.tally(parts, n_parts)
        if self.kind == NETS:
            return float(np.count_nonzero(np.count_nonzero(tally, axis=1) > 1))
        return float((tally.sum(axis=1) ** 2 - (tally**2).sum(axis=1)).sum() / 2)

    def pulls(
        self, parts: NDArray[np.int64], tally: NDArray[np.float64], n_parts: int
    ) -> NDArray[np.float64]:
        """What joins every vertex to every part, itself left out, shape (n_vertices, n_parts)."""
        out = np.empty((self.n_vertices, n_parts))
        kernel = _kernels.graph_refinement.pulls
        graph = (self.kind, self.start, self.other, self.value, self.pin_start, self.mass)
        run_blocks(lambda a, b: kernel(*graph, tally, parts, a, b, out), self.n_vertices, 1024)
        return out

    def work_of_a_move(self, n_parts: int) -> float:
        """Look-ups that choosing a move and correcting the pulls takes, on average."""
        pins = np.diff(self.pin_start).astype(np.float64)
        touched = len(self.other) if self.kind == EDGES else float(pins @ pins)
        return self.n_vertices * n_parts + touched / self.n_vertices


@dataclass(frozen=True)
class Seats:
    """How much each part may hold.

    Attributes
    ----------
    share : array of shape (n_parts,)
        Even shares of the weight. A vertex heavier than an even share cannot be split: it gets a
        part with a share of its size, and the others divide the rest.
    capacity : array of shape (n_parts,)
        (1 + balance) share, or what an even packing of whole vertices needs if that is more.
    heavy : array
        The vertices with a part of their own size: the i-th stays in part i.
    packing : array of shape (n_vertices,)
        Heaviest first into the emptiest part: a partition within the capacities.
    """

    share: NDArray[np.float64]
    capacity: NDArray[np.float64]
    heavy: NDArray[np.int64]
    packing: NDArray[np.int64]


def seat(weights: NDArray[np.float64], n_parts: int, balance: float) -> Seats:
    """Shares and capacities of `n_parts` parts of fewer parts than vertices."""
    order = np.argsort(-weights, kind="stable")
    rest, n_heavy = float(weights.sum()), 0
    while n_heavy < n_parts - 1 and weights[order[n_heavy]] > rest / (n_parts - n_heavy):
        rest -= float(weights[order[n_heavy]])
        n_heavy += 1
    share = np.full(n_parts, rest / (n_parts - n_heavy))
    share[:n_heavy] = weights[order[:n_heavy]]
    packing = np.empty(len(weights), np.int64)
    packing[order[:n_heavy]] = np.arange(n_heavy)
    emptiest = [(0.0, k) for k in range(n_heavy, n_parts)]
    heapify(emptiest)
    for v in order[n_heavy:]:
        load, k = emptiest[0]
        packing[v] = k
        heapreplace(emptiest, (load + float(weights[v]), k))
    capacity = (1 + balance) * share
    capacity[n_heavy:] = np.maximum(capacity[n_heavy:], max(load for load, _ in emptiest))
    return Seats(share, capacity * (1 + _ROUNDING), order[:n_heavy], packing)


def _take_seats(groups: NDArray[np.int64], seats: Seats) -> NDArray[np.int64]:
    """Groups numbered as parts: those around heavy vertices first, and no part empty."""
    n_parts = len(seats.share)
    part_of: dict[int, int] = {}
    for part, v in enumerate(seats.heavy):
        part_of.setdefault(int(groups[v]), part)
    free = iter(range(len(seats.heavy), n_parts))
    for group in dict.fromkeys(groups.tolist()):
        if group not in part_of:
            part_of[group] = next(free, n_parts - 1)
    parts = np.asarray([part_of[g] for g in groups.tolist()], np.int64)
    parts[seats.heavy] = np.arange(len(seats.heavy))
    for empty in np.flatnonzero(np.bincount(parts, minlength=n_parts) == 0):
        donor = np.bincount(parts, minlength=n_parts).argmax()
        members = np.setdiff1d(np.flatnonzero(parts == donor), seats.heavy)
        parts[members[-1]] = empty
    return parts


def _repacked(
    parts: NDArray[np.int64], weights: NDArray[np.float64], seats: Seats
) -> NDArray[np.int64]:
    """Parts within the capacities: heaviest first, each where it is if it fits, else the emptiest.

    Where that does not fit either, the even packing, which does.
    """
    packed = parts.copy()
    loads = np.zeros(len(seats.share))
    for v in np.argsort(-weights, kind="stable"):
        if loads[packed[v]] + weights[v] > seats.capacity[packed[v]]:
            packed[v] = np.argmax(seats.capacity - loads)
        loads[packed[v]] += weights[v]
    filled = np.all(loads > 0) and np.all(loads <= seats.capacity)
    return packed if filled else seats.packing.copy()


def refine(
    links: Links, groups: NDArray[np.int64], weights: NDArray[np.float64], seats: Seats
) -> tuple[NDArray[np.int64], list[float]]:
    """Parts within their capacities from any groups, and the cut after every pass.

    Sweeps over all vertices until none moves, then Fiduccia-Mattheyses passes until one finds
    nothing better, or a few on graphs so large that a pass looks at a small share of the vertices.
    """
    n_parts = len(seats.share)
    parts = _take_seats(groups, seats)
    state = _State(links, weights, seats, parts)
    state.sweep_until_still()
    if state.overloaded:  # whole vertices block each other
        state = _State(links, weights, seats, _repacked(state.parts, weights, seats))
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


@dataclass(frozen=True)
class Cut:
    """Parts, numbered by their first vertex, and what they cut.

    `history` is the cut after every pass from the start that won, `partitioner` made the starts.
    """

    labels: NDArray[np.int64]
    cut: float
    history: NDArray[np.float64]
    partitioner: str


def best_cut(
    links: Links,
    starts: Iterable[NDArray[np.int64]],
    weights: NDArray[np.float64],
    seats: Seats,
    rng: np.random.Generator,
    *,
    n_starts: int,
    partitioner: str,
    task: str,
) -> Cut:
    """Refine every start, then kicks of the best so far; keep the smallest cut."""
    n_parts = len(seats.share)
    n_kicks = int(min(_KICKS, _KICKS_WORK / (links.n_vertices * n_parts)))
    best, history = seats.packing, [np.inf]

    def attempts() -> Iterator[NDArray[np.int64]]:
        yield from starts
        for i in range(n_kicks):
            yield _kicked(best, n_parts, rng, mix=i % 2 == 1)

    for done, groups in enumerate(attempts(), 1):
        parts, passes = refine(links, groups, weights, seats)
        if passes[-1] < history[-1] * (1 - _ROUNDING):
            best, history = parts, passes
        report_progress(task, done, n_starts + n_kicks)
    _, first, codes = np.unique(best, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[codes.reshape(-1)]
    return Cut(labels, history[-1], np.asarray(history), partitioner)


def _kicked(
    parts: NDArray[np.int64], n_parts: int, rng: np.random.Generator, *, mix: bool
) -> NDArray[np.int64]:
    """A partition disturbed: two parts mixed up, or some vertices scattered over all parts."""
    if mix:
        pair = rng.choice(n_parts, 2, replace=False)
        return np.where(np.isin(parts, pair), rng.choice(pair, len(parts)), parts)
    scattered = rng.random(len(parts)) < max(_SCATTERED, _SCATTERED_FEW / len(parts))
    return np.where(scattered, rng.integers(n_parts, size=len(parts)), parts)


def nothing_to_choose(links: Links, n_parts: int) -> Cut:
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
