"""How much weight each of several balanced parts may hold."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

__all__ = ["PartLimits", "number_parts", "repack"]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class PartLimits:
    """Shares and capacities of balanced parts.

    Attributes
    ----------
    share : array of shape (n_parts,)
        Weight that a part should hold: an equal share. A vertex heavier than an equal share
        cannot be split. It gets a part with a share of its own weight, and the other parts divide
        the rest.
    capacity : array of shape (n_parts,)
        Weight that a part may hold: (1 + balance) share, or more where whole vertices cannot be
        packed into that.
    heavy : array
        The vertices with a share of their own. The i-th of them stays in part i.
    packing : array of shape (n_vertices,)
        A partition within the capacities: heaviest vertex first, into the emptiest part.
    """

    share: NDArray[np.float64]
    capacity: NDArray[np.float64]
    heavy: NDArray[np.int64]
    packing: NDArray[np.int64]

    @classmethod
    def of(cls, weights: NDArray[np.float64], n_parts: int, balance: float) -> PartLimits:
        """Compute the limits of `n_parts` parts, fewer than there are vertices."""
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
        return cls(share, capacity * (1 + _ROUNDING), order[:n_heavy], packing)


def number_parts(groups: NDArray[np.int64], limits: PartLimits) -> NDArray[np.int64]:
    """Turn any groups into parts: groups of heavy vertices come first, and no part is empty."""
    n_parts = len(limits.share)
    part_of: dict[int, int] = {}
    for part, v in enumerate(limits.heavy):
        part_of.setdefault(int(groups[v]), part)
    free = iter(range(len(limits.heavy), n_parts))
    for group in dict.fromkeys(groups.tolist()):
        if group not in part_of:
            part_of[group] = next(free, n_parts - 1)
    parts = np.asarray([part_of[g] for g in groups.tolist()], np.int64)
    parts[limits.heavy] = np.arange(len(limits.heavy))
    for empty in np.flatnonzero(np.bincount(parts, minlength=n_parts) == 0):
        largest = np.bincount(parts, minlength=n_parts).argmax()
        movable = np.setdiff1d(np.flatnonzero(parts == largest), limits.heavy)
        parts[movable[-1]] = empty
    return parts


def repack(
    parts: NDArray[np.int64], weights: NDArray[np.float64], limits: PartLimits
) -> NDArray[np.int64]:
    """Return parts within the capacities that stay close to `parts`.

    Heaviest vertex first, each stays in its part if it fits there, else it goes to the emptiest
    part. If the result exceeds a capacity, return `limits.packing`, which never does.
    """
    packed = parts.copy()
    loads = np.zeros(len(limits.share))
    for v in np.argsort(-weights, kind="stable"):
        if loads[packed[v]] + weights[v] > limits.capacity[packed[v]]:
            packed[v] = np.argmax(limits.capacity - loads)
        loads[packed[v]] += weights[v]
    is_valid = np.all(loads > 0) and np.all(loads <= limits.capacity)
    return packed if is_valid else limits.packing.copy()
