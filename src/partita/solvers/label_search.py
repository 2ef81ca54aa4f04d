"""The cheapest group of every row by look-up: coarse tables first, exact ones where it is close.

Bounds on a row's costs are kept from one iteration to the next. When the tables change, the cost of
a row with a labels can rise or fall by no more than the sum over its labels of the largest change
in their partitions, and the a largest of these bound that for any row with a labels. After the
first iterations it is a few restless groups that make most bounds fail; these are looked at first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.rows import Chunk

__all__ = ["Search", "Tables", "Typical"]

_LANES = 8  # single-precision numbers in a vector register: coarse tables have whole registers
_MANY_GROUPS = 3 * _LANES  # from here on looking at a few restless groups first saves time
_LITTLE = 0.02  # of the largest move
_ROWS = 4096
_HALF_STEP = 2.0**-24  # relative error of rounding to single precision
_SMALL_TABLE = 1 << 18  # entries below which a second thread is not worth waking


@dataclass(frozen=True)
class Tables:
    """Look-ups that give the cost of a row in a group.

    f(x, k) = constant[x] + Σ_{i: x labelled} ( lookup[c_i(x), k] + scale[x] slope[i, k] )

    lookup : (n_all_clusters, K), slope : (n_partitions, K).
    """

    lookup: NDArray[np.float64]
    slope: NDArray[np.float64]


@dataclass(frozen=True)
class Typical:
    """A row that stands for many: how many labels it has, and its scale."""

    n_labelled: int
    scale: float


@dataclass(frozen=True)
class Coarse:
    """Tables in single precision, in some unit, padded, with a row of zeros at the end."""

    lookup: NDArray[np.float32]
    slope: NDArray[np.float32]
    base: NDArray[np.float32]  # the sum of the slopes

    def columns(self, chosen: NDArray[np.int64]) -> Coarse:
        return Coarse(
            *(np.ascontiguousarray(t[..., chosen]) for t in (self.lookup, self.slope, self.base))
        )


@dataclass(frozen=True)
class Search:
    """Tables, their coarse copies, and how far costs can have changed since the tables before.

    `slack` and what follows it are looked up by a row's number of labels (by 0 where none is
    missing); the last axis holds the part of the look-ups and the part that a row's scale
    multiplies.
    """

    tables: Tables
    offsets: NDArray[np.int64]
    complete: bool
    typical: Typical
    unit: float
    coarse: Coarse
    restless: NDArray[np.int64]
    narrow: Coarse
    slack: NDArray[np.float64]
    rise: NDArray[np.float64]
    fall: NDArray[np.float64]
    next_fall: NDArray[np.float64]
    steepest: NDArray[np.int64]
    calm_fall: NDArray[np.float64]

    @classmethod
    def start(
        cls, tables: Tables, offsets: NDArray[np.int64], complete: bool, typical: Typical
    ) -> Self:
        """The first search, before anything is known of any row."""
        largest = float(np.abs(tables.lookup).max())
        # a power of two near the size of the costs: nothing is lost, nothing too small for a float
        unit = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0 else 1.0
        return cls._make(tables, tables, offsets, complete, typical, float(unit))

    def next(self, tables: Tables) -> Self:
        """The search in new tables, which knows how far they are from these."""
        return self._make(tables, self.tables, self.offsets, self.complete, self.typical, self.unit)

    @classmethod
    def _make(
        cls,
        tables: Tables,
        previous: Tables,
        offsets: NDArray[np.int64],
        complete: bool,
        typical: Typical,
        unit: float,
    ) -> Self:
        n_groups = tables.lookup.shape[1]
        m = len(offsets) - 1
        coarse, highest, most, least = _coarsened(tables, previous, offsets, unit)
        slope, change = unit * tables.slope, unit * (tables.slope - previous.slope)
        reach = _largest_sums(np.stack([highest, np.abs(slope)], -1), complete).max(axis=1)
        falls = -_largest_sums(np.stack([-least, -change], -1), complete)
        in_order = np.argsort(falls, axis=1)[:, :2]
        lowest = np.take_along_axis(falls, in_order, axis=1)
        if n_groups == 1:  # there is no other group
            lowest = np.concatenate([lowest, np.full_like(lowest, np.inf)], axis=1)
        place = 0 if complete else typical.n_labelled
        restless = np.empty(0, np.int64)
        calm_fall = lowest[:, 0]
        if n_groups >= _MANY_GROUPS:
            restless = _most_restless(falls[place] @ [1.0, typical.scale])
            calm_fall = np.delete(falls, restless, axis=1).min(axis=1)
        return cls(
            tables,
            offsets,
            complete,
            typical,
            unit,
            coarse,
            restless,
            coarse.columns(restless),
            slack=_roundings(m, complete)[:, None] * _HALF_STEP * reach + 1e-30,
            rise=_largest_sums(np.stack([most, change], -1), complete),
            fall=np.ascontiguousarray(lowest[:, 0]),
            next_fall=np.ascontiguousarray(lowest[:, 1]),
            steepest=np.ascontiguousarray(in_order[:, 0]),
            calm_fall=np.ascontiguousarray(calm_fall),
        )

    def assign(self, chunk: Chunk, missing: int, parts: Any) -> int:
        """Put the rows of a chunk into their cheapest groups; how many moved."""
        kernel = _kernels.label_kmeans.assign
        coarse, narrow = self.coarse, self.narrow
        moved: list[int] = []

        def block(start: int, stop: int) -> None:
            moved.append(
                kernel(
                    chunk.labels, missing, self.complete, self.offsets, self.tables.lookup,
                    self.tables.slope, coarse.lookup, coarse.slope, coarse.base, self.restless,
                    narrow.lookup, narrow.slope, narrow.base, self.unit, parts.scale,
                    parts.n_labelled, self.slack, self.rise, self.fall, self.next_fall,
                    self.steepest, self.calm_fall, chunk.groups, chunk.upper, chunk.lower, start,
                    stop,
                )
            )  # fmt: skip

        run_blocks(block, len(chunk.labels), _ROWS)
        return sum(moved)


def _coarsened(
    tables: Tables, previous: Tables, offsets: NDArray[np.int64], unit: float
) -> tuple[Coarse, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Coarse tables; the largest look-up and the extreme changes by partition and group."""
    length, n_groups = tables.lookup.shape
    m = len(offsets) - 1
    width = -(-n_groups // _LANES) * _LANES
    coarse = Coarse(
        np.zeros((length + 1, width), np.float32),
        np.zeros((m + 1, width), np.float32),
        np.zeros(width, np.float32),
    )
    coarse.slope[:m, :n_groups] = unit * tables.slope
    coarse.base[:n_groups] = unit * tables.slope.sum(axis=0)
    highest, most, least = np.empty((3, m, n_groups))
    kernel = _kernels.label_kmeans.coarsen
    run_blocks(
        lambda first, last: kernel(
            tables.lookup, previous.lookup, offsets, unit, first, last, coarse.lookup, highest,
            most, least,
        ),
        m,
        -(-m // 2) if tables.lookup.size > _SMALL_TABLE else m,
    )  # fmt: skip
    return coarse, highest, most, least


def _most_restless(falls: NDArray[np.float64]) -> NDArray[np.int64]:
    """The groups that have moved more than a little, in whole registers, at most half of all."""
    moving = int(np.count_nonzero(falls < _LITTLE * falls.min()))
    wanted = max(1, -(-moving // _LANES)) * _LANES
    most = len(falls) // (2 * _LANES) * _LANES
    return np.argsort(falls, kind="stable")[: min(wanted, most)]


def _roundings(m: int, complete: bool) -> NDArray[np.float64]:
    """How many roundings a coarse cost and its bounds have met at most, by number of labels."""
    sums = np.asarray([m // 8 + m % 8]) if complete else np.arange(m + 1)
    return np.asarray(sums + 16.0, np.float64)


def _largest_sums(values: NDArray[np.float64], complete: bool) -> NDArray[np.float64]:
    """The sum of the a largest values over the partitions (first axis), for a = 0..m.

    Where no label is missing, the sum of all values is all that is asked for.
    """
    if complete:
        return np.asarray(values.sum(axis=0, keepdims=True))
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(np.sort(values, axis=0)[::-1], axis=0, out=sums[1:])
    return sums
