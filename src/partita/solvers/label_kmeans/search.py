"""The cheapest group of every row by look-up: coarse tables first, exact ones where it is close.

Bounds on a row's costs are kept from one iteration to the next. When the tables change, the cost of
a row with a labels can rise or fall by no more than the sum over its labels of the largest change
in their partitions, and the a largest of these bound that for any row with a labels. After the
first iterations it is a few restless groups that make most bounds fail; these are looked at first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks, run_shares
from partita.scale import Chunk

__all__ = ["Search", "Tables", "Typical"]

_LANES = 16  # numbers of 16 bits in a vector register: coarse tables have whole registers
_MANY_GROUPS = 3 * _LANES  # from here on looking at a few restless groups first saves time
_LITTLE = 0.02  # of the largest move
_ROWS = 2048
_GRAIN = 2.0**-40  # of the largest entry: more than rounding to double precision ever adds up to
_NEAR = 1 << 18  # bytes of tables that stay in the second-level cache, with fine steps or coarse
_NEVER = 1e30  # what groups cost that are there to fill a register


@dataclass(frozen=True)
class Tables:
    """Look-ups that give the cost of a row in a group.

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] )

    lookup : (n_base_clusters, K), slope : (n_partitions, K).
    """

    lookup: NDArray[np.float64]
    slope: NDArray[np.float64]


@dataclass(frozen=True)
class Typical:
    """A row that stands for many: how many labels it has, and its scale."""

    n_labeled: int
    scale: float


class Coarse(NamedTuple):
    """Tables in whole steps from the middle of each column, in some unit, padded.

    With q the sum of a row's a entries of a column of look-ups, and q' of slopes, its cost lies
    between

        a origin + step q + scale (a origin' + step' q')

    and 2 a (reach + scale reach') more. `columns` holds step, origin and reach of the columns of
    look-ups, and those of the columns of slopes.
    """

    lookup: NDArray[np.signedinteger]
    slope: NDArray[np.signedinteger]
    columns: NDArray[np.float32]

    def only(self, groups: Any) -> Coarse:
        """The tables of some groups."""
        return Coarse(*(np.ascontiguousarray(table[..., groups]) for table in self))


class Drift(NamedTuple):
    """How far costs can have changed since the tables before, rounding included.

    Looked up by a row's number of labels (by 0 where none is missing); the last axis holds the part
    of the look-ups and the part that a row's scale multiplies.
    """

    rise: NDArray[np.float64]  # by number of labels and group
    fall: NDArray[np.float64]  # of all groups but this one
    calm_fall: NDArray[np.float64]  # of all but the restless


@dataclass(frozen=True)
class Search:
    """Tables, their coarse copies, and how far costs can have changed since the tables before."""

    tables: Tables
    offsets: NDArray[np.int64]
    complete: bool
    typical: Typical
    unit: float
    changed: bool  # whether the tables differ from those before
    coarse: Coarse
    restless: NDArray[np.int64]
    narrow: Coarse
    drift: Drift

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
        survey = _surveyed(tables, previous, offsets)
        coarse = _coarsened(tables, survey, complete, unit)
        change = tables.slope - previous.slope
        rises = _largest_sums(unit * survey.most, unit * change, complete)
        falls = -_largest_sums(-unit * survey.least, -unit * change, complete)
        largest = max(survey.highest.max(), -survey.lowest.min()), np.abs(tables.slope).max()
        n_labels = [len(change)] if complete else np.arange(len(rises))
        grain = np.reshape(n_labels, (-1, 1, 1)) * (unit * _GRAIN * np.asarray(largest))
        rises += grain
        falls -= grain
        restless, calm_fall = np.empty(0, np.int64), falls.min(axis=1)
        if n_groups >= _MANY_GROUPS:
            place = 0 if complete else typical.n_labeled
            restless = _most_restless(falls[place] @ [1.0, typical.scale])
            calm_fall = np.delete(falls, restless, axis=1).min(axis=1)
        return cls(
            tables,
            offsets,
            complete,
            typical,
            unit,
            bool(survey.most.any() or survey.least.any() or change.any()),
            coarse,
            restless,
            coarse.only(restless),
            Drift(rises, _of_the_others(falls), calm_fall),
        )

    def assign(self, chunk: Chunk, missing: int, parts: Any) -> int:
        """Put the rows of a chunk into their cheapest groups; how many moved."""
        kernel = _kernels.label_search.assign
        code, offsets = chunk.codes.dtype.type(missing), self.offsets.astype(np.int32)
        moved: list[int] = []

        def block(start: int, stop: int) -> None:
            moved.append(
                kernel(
                    chunk.codes, code, self.complete, offsets, self.tables.lookup,
                    self.tables.slope, self.unit, self.coarse, self.restless, self.narrow,
                    self.drift, parts.scale, parts.n_labeled, chunk.groups, chunk.upper,
                    chunk.lower, start, stop,
                )
            )  # fmt: skip

        run_blocks(block, len(chunk.codes), _ROWS)
        return sum(moved)


class _Survey(NamedTuple):
    """By partition and group: the extreme look-ups, and their extreme changes."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    most: NDArray[np.float64]
    least: NDArray[np.float64]


def _surveyed(tables: Tables, previous: Tables, offsets: NDArray[np.int64]) -> _Survey:
    m = len(offsets) - 1
    survey = _Survey(*np.empty((4, m, tables.lookup.shape[1])))
    kernel = _kernels.label_search.survey
    run_shares(
        lambda first, last: kernel(tables.lookup, previous.lookup, offsets, first, last, *survey),
        m,
        tables.lookup.size,
    )
    return survey


def _coarsened(tables: Tables, survey: _Survey, complete: bool, unit: float) -> Coarse:
    m, n_groups = tables.slope.shape
    width = _kernels.label_search.whole_width(n_groups)
    near = 2 * width * len(tables.lookup) <= _NEAR
    slopes = tables.slope
    if complete:  # every row has all slopes: an entry stands for their mean
        slopes = slopes.sum(axis=0, keepdims=True) / m
    columns = np.zeros((2, 3, width), np.float32)
    columns[0, 1, n_groups:] = _NEVER
    lookup, slope = (
        _in_steps(table, lowest, highest, np.dtype(np.int16 if near else np.int8), unit, m, out)
        for table, lowest, highest, out in (
            (tables.lookup, survey.lowest.min(axis=0), survey.highest.max(axis=0), columns[0]),
            (slopes, slopes.min(axis=0), slopes.max(axis=0), columns[1]),
        )
    )
    return Coarse(lookup, slope, columns)


def _in_steps(
    table: NDArray[np.float64],
    lowest: NDArray[np.float64],
    highest: NDArray[np.float64],
    dtype: np.dtype[Any],
    unit: float,
    n_terms: int,
    columns: NDArray[np.float32],
) -> NDArray[np.signedinteger]:
    """A table in steps from the middle of each column, and padded.

    `n_terms` is how many entries a row can have; `columns` gets step, origin and reach of each.
    """
    length, n_groups = table.shape
    kernels = _kernels.label_search
    middle, per_step = np.empty((2, n_groups))
    roundings = 32 + n_terms / 8  # on the way to a cost, and more
    kernels.steps(
        lowest, highest, unit, kernels.LARGEST[dtype], roundings, middle, per_step, columns
    )
    out = np.zeros((length, columns.shape[1]), dtype)
    run_shares(
        lambda first, last: kernels.quantize(table, middle, per_step, first, last, out),
        length,
        table.size,
    )
    return out


def _most_restless(falls: NDArray[np.float64]) -> NDArray[np.int64]:
    """The groups that have moved more than a little, in whole registers, at most half of all."""
    moving = int(np.count_nonzero(falls < _LITTLE * falls.min()))
    whole = _kernels.label_search.whole_width
    widths = [n for n in range(_LANES, len(falls) // 2 + 1, _LANES) if whole(n) == n]
    width = next((n for n in widths if n >= moving), widths[-1])
    return np.argsort(falls, kind="stable")[:width]


def _of_the_others(falls: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every group the deepest fall of any other, shape as `falls`, (., K, .)."""
    deepest = np.sort(falls, axis=1)[:, :2]
    return np.where(falls == deepest[:, :1], deepest[:, -1:], deepest[:, :1])


def _largest_sums(
    lookups: NDArray[np.float64], slopes: NDArray[np.float64], complete: bool
) -> NDArray[np.float64]:
    """The sums of the a largest values over the partitions (first axis), for a = 0..m.

    Where no label is missing, the sums of all values are all that is asked for.
    """
    m, n_groups = lookups.shape
    sums = np.zeros((1 if complete else m + 1, n_groups, 2))
    for part, values in enumerate((lookups, slopes)):
        if complete:
            values.sum(axis=0, out=sums[0, :, part])
        else:
            np.cumsum(np.sort(values, axis=0)[::-1], axis=0, out=sums[1:, :, part])
    return sums
