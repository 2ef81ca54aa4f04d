"""How much each of several balanced parts may hold, and vertices put into them by weight alone."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Seats", "repacked", "seat", "take_seats"]

_ROUNDING = 1e-9


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


def take_seats(groups: NDArray[np.int64], seats: Seats) -> NDArray[np.int64]:
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


def repacked(
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
