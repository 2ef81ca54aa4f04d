"""Refine a partition of a graph: move single vertices until the cut falls no more."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita.solvers.graph_cut._adjacency import Adjacency
from partita.solvers.graph_cut._part_limits import PartLimits, number_parts, repack

__all__ = ["ROUNDING", "refine"]

ROUNDING = 1e-9  # relative changes of a cut up to this are rounding errors
_PATIENCE = 100  # moves without a smaller cut after which a pass ends
_WORK = 2e8  # look-ups that bound the moves of a pass, and the passes over large graphs


def refine(
    adjacency: Adjacency,
    groups: NDArray[np.int64],
    weights: NDArray[np.float64],
    limits: PartLimits,
    work: float = 0.0,
    visited: dict[bytes, int] | None = None,
) -> tuple[NDArray[np.int64], list[float]]:
    """Turn any groups into parts within the capacities, with a cut that no pass makes smaller.

    Sweeps over all vertices until none moves, then Fiduccia-Mattheyses passes until one does not
    lower the cut. On graphs so large that a pass visits only a small share of the vertices, the
    number of passes is limited. `work` is that of all refinements, by which the kernels' form is
    chosen. `visited` has the states that earlier refinements passed through. In one of them this
    refinement ends, because it would go the same way, and its last cut is infinite.

    Returns
    -------
    parts : array of shape (n_vertices,)
    history : list of float
        Cut after every pass.
    """
    n_parts, visited = len(limits.share), {} if visited is None else visited
    state = _PartitionState(adjacency, weights, limits, number_parts(groups, limits), work)
    if state.is_repeated(visited, 0):
        return state.parts, [np.inf]
    state.sweep()
    if state.is_overloaded:  # no single vertex fits anywhere else
        parts = repack(state.parts, weights, limits)
        state = _PartitionState(adjacency, weights, limits, parts, work)
        state.sweep()
    history = [state.cut()]
    n_passes = max(1, int(_WORK / (_PATIENCE * adjacency.move_cost(n_parts))))
    while len(history) <= n_passes:
        if state.is_repeated(visited, len(history)):
            return state.parts, [*history, np.inf]
        gain = state.run_pass()
        if gain == 0.0:
            break
        history.append(history[-1] - gain)
    return state.parts, history


class _Limits(NamedTuple):
    """Weights of the vertices, capacities of the parts, and which vertices may move."""

    weights: NDArray[np.float64]
    capacity: NDArray[np.float64]
    is_movable: NDArray[np.bool_]


class _StateArrays(NamedTuple):
    """Part of every vertex; weight and number of the vertices of every part; tally of the nets."""

    parts: NDArray[np.int64]
    loads: NDArray[np.float64]
    sizes: NDArray[np.int64]
    tally: NDArray[np.float64]


class _PartitionState:
    """A partition under refinement, with the load of every part and the tally of every net."""

    def __init__(
        self,
        adjacency: Adjacency,
        weights: NDArray[np.float64],
        limits: PartLimits,
        parts: NDArray[np.int64],
        work: float,
    ) -> None:
        self.n_parts = len(limits.share)
        self.adjacency, self.parts, self.work = adjacency, parts, work
        self._latest: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
        is_movable = np.ones(len(parts), np.bool_)
        is_movable[limits.heavy] = False
        fixed = weights.view()
        fixed.flags.writeable = False  # always: kernels would be compiled for both kinds
        self.limits = _Limits(fixed, limits.capacity, is_movable)
        self.arrays = _StateArrays(
            parts,
            np.bincount(parts, weights, minlength=self.n_parts).astype(np.float64, copy=False),
            np.bincount(parts, minlength=self.n_parts),
            adjacency.tally(parts, self.n_parts, work),
        )

    @property
    def is_overloaded(self) -> bool:
        """Whether a part holds more than its capacity."""
        return bool(np.any(self.arrays.loads > self.limits.capacity))

    def is_repeated(self, visited: dict[bytes, int], n_passes: int) -> bool:
        """Return whether this state was visited after as many passes or fewer; record it.

        `n_passes` counts the sweeps as one pass. A state before and after them is not the same.
        """
        digest = blake2b(b"swept" if n_passes else b"start", digest_size=16)
        for array in (self.parts, self.arrays.loads, self.arrays.tally):
            digest.update(array.tobytes())
        key = digest.digest()
        is_repeated = visited.get(key, n_passes + 1) <= n_passes
        if not is_repeated:
            visited[key] = n_passes
        return is_repeated

    def _pulls(self) -> tuple[NDArray[np.float64], float]:
        """Return pulls that kernels may overwrite, and the gain that is a rounding error."""
        if self._latest is None:
            pull = self.adjacency.pulls(self.parts, self.arrays.tally, self.n_parts, self.work)
        else:
            before, pull = self._latest
            self.adjacency.correct_pulls(before, self.parts, pull)
        if self.adjacency.is_complete:  # sums are exact: a correction gives the same bits
            self._latest = self.parts.copy(), pull.copy()
        return pull, ROUNDING * float(pull.max(initial=0.0))

    def cut(self) -> float:
        """Return the cost of the partition."""
        if not self.adjacency.is_complete:
            return self.adjacency.cut(self.parts, self.n_parts, self.work)
        pull, _ = self._pulls()
        return float(pull.sum() - pull[np.arange(len(pull)), self.parts].sum()) / 2

    def sweep(self) -> None:
        """Visit all vertices and move each to the part that pulls most, until none moves."""
        sweep = _kernels.graph_moves.sweep.at(self.work)
        rows = np.arange(len(self.parts))
        n_moves, was_overloaded = 1, True
        while n_moves and (was_overloaded or not self.is_overloaded):
            pull, tolerance = self._pulls()
            others = pull.copy()
            others[rows, self.parts] = -np.inf
            # Vertices that lose least come first: an overloaded part gives those away.
            order = np.argsort(pull[rows, self.parts] - others.max(axis=1), kind="stable")
            was_overloaded = self.is_overloaded
            n_moves = sweep(self.adjacency, self.limits, order, tolerance, pull, self.arrays)

    def run_pass(self) -> float:
        """Run one Fiduccia-Mattheyses pass; return by how much the cut falls."""
        pull, tolerance = self._pulls()
        slack = float(self.limits.weights[self.limits.is_movable].max())
        max_moves = int(max(_PATIENCE, _WORK / self.adjacency.move_cost(self.n_parts)))
        climb = _kernels.graph_moves.climb.at(self.work)
        return float(
            climb(
                *(self.adjacency, self.limits, slack, tolerance, _PATIENCE, max_moves),
                *(pull, self.arrays),
            )
        )
