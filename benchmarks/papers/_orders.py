"""Orders of methods: ranks, scores and tests per table, and printed orders that ours contradict."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau, ttest_rel

from benchmarks.papers._tables import Table
from benchmarks.papers._verdicts import (
    COMPARABLE,
    STANDARD_ERRORS,
    CellResult,
    deviation_over_draws,
)


@dataclass(frozen=True)
class Order:
    """Mean ranks and scores of the fixed or the tuned lines of a table, printed and ours.

    `unranked` names the fixed lines whose print is tuned. `tau` is nan if all ranks are equal.
    """

    measure: str
    tuned: bool
    data: list[str]
    lines: list[tuple[str, float, float, float, float]]  # method, ranks, scores
    unranked: list[str]
    same_order: bool
    tau: float


def order(
    table: Table, results: list[CellResult], measure: str, *, tuned: bool = False
) -> Order | None:
    """Return ranks (1 is best) and scores over the data sets that have all methods.

    Methods that are for some data sets only have no rank. Cells that cannot be compared do not
    count, except seconds, of which none can.
    """
    some = [c for c in results if c.measure == measure and not c.method.data]
    comparable = [
        c for c in some if c.verdict in COMPARABLE or table.content.get("smaller") is not None
    ]
    by_cell = {(c.data, c.method.name): c for c in ranked(table, comparable, tuned=tuned)}
    names = list(dict.fromkeys(name for _, name in by_cell))
    data = [d for d in table.data if all((d, name) in by_cell for name in names)]
    if not data or len(names) < 2:
        return None
    ours = np.array([[by_cell[d, name].mean for name in names] for d in data])
    theirs = np.array([[by_cell[d, name].printed.mean for name in names] for d in data])  # type: ignore[union-attr]
    sign = -1 if table.content.get("smaller") else 1
    ranks = [mean_ranks(sign * theirs), mean_ranks(sign * ours)]
    scores = [ratios(theirs, sign), ratios(ours, sign)]
    lines = [
        (name, *(float(column[i]) for column in (*ranks, *scores))) for i, name in enumerate(names)
    ]
    fixed = [] if tuned else [c.method for c in some if not c.method.tuned]
    unranked = dict.fromkeys(m.name for m in fixed if m.printed_as in table.tuned_prints)
    tau = float(kendalltau(*ranks).statistic)
    return Order(measure, tuned, data, lines, list(unranked), not reversed_pairs(*ranks), tau)


@dataclass(frozen=True)
class Test:
    """Paired t-tests of the paper's own method against another one, a data set each."""

    measure: str
    own: str
    other: str
    better: int
    alike: int
    worse: int


def significance(table: Table, results: list[CellResult], measure: str) -> list[Test]:
    """Return paired t-tests over draws, level 0.05, for the methods in `own` of a table.

    Tuned lines are compared with tuned ones, fixed with fixed ones. Methods that ran on different
    numbers of draws of a data set are not compared there.
    """
    by_cell = {(c.method.name, c.data): c.values for c in results if c.measure == measure}
    is_tuned = {method.name: bool(method.tuned) for method in table.methods}
    tests = []
    for own in table.content.get("own", []):
        for other in (n for n in is_tuned if n != own and is_tuned[n] == is_tuned[own]):
            signs = [
                significant_sign(by_cell[own, data], by_cell[other, data])
                for data in table.data
                if len(by_cell.get((own, data), ())) == len(by_cell.get((other, data), ())) > 1
            ]
            if signs:
                counts = (signs.count(1), signs.count(0), signs.count(-1))
                tests.append(Test(measure, own, other, *counts))
    return tests


def significant_sign(first: tuple[float, ...], second: tuple[float, ...]) -> int:
    """Return 1 or -1 if the means of paired values differ at level 0.05, otherwise 0."""
    difference = np.subtract(first, second)
    if np.ptp(difference) < 1e-12:  # a t-test divides by the deviation of the differences
        return int(np.sign(np.round(difference[0], 12)))
    p_value = ttest_rel(first, second).pvalue
    return int(np.sign(difference.mean())) if p_value < 0.05 else 0


def ranked(table: Table, results: list[CellResult], *, tuned: bool) -> list[CellResult]:
    """Return the cells of the fixed or the tuned lines whose print is of the same kind."""
    return [
        cell
        for cell in results
        if bool(cell.method.tuned) == tuned == (cell.method.printed_as in table.tuned_prints)
        and cell.method.has_rank
        and cell.printed is not None
        and cell.printed.mean is not None
    ]


def ordered_pairs(table: Table, results: list[CellResult]) -> list[tuple[CellResult, CellResult]]:
    """Return the pairs of cells of a data set whose order the print decides, the better one first.

    That is where the printed means differ by more than two deviations of a difference of one draw.
    Where the print has no deviation over draws, ours takes its place.
    """
    pairs = []
    for tuned in (False, True):
        for first, second in itertools.permutations(ranked(table, results, tuned=tuned), 2):
            one, two = first.printed, second.printed
            if (first.data, first.measure) != (second.data, second.measure):
                continue
            if one is None or two is None or one.mean is None or two.mean is None:
                continue
            spread = math.hypot(
                *(deviation_over_draws(table, c.values, c.printed) for c in (first, second))
            )
            if one.mean - two.mean > STANDARD_ERRORS * spread:
                pairs.append((first, second))
    return pairs


def contradictions(table: Table, results: list[CellResult]) -> list[tuple[str, str, str]]:
    """Return the pairs of methods that are not in the printed order: data set, better, other."""
    return [
        (first.data, first.method.name, second.method.name)
        for first, second in ordered_pairs(table, results)
        if first.mean < second.mean
    ]


def ratios(values: np.ndarray, sign: int) -> np.ndarray:
    """Return the score of the papers: the sum of the ratios to the best method."""
    if sign < 0:
        return (values.min(axis=1, keepdims=True) / values).sum(axis=0)
    return (values / values.max(axis=1, keepdims=True)).sum(axis=0)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each column; equal values share their ranks."""
    larger = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return (larger + (equal + 1) / 2).mean(axis=0)


def reversed_pairs(first: np.ndarray, second: np.ndarray) -> int:
    """Return how many pairs are in opposite orders; a tie is opposite to none."""
    pairs = np.triu_indices(len(first), 1)
    signs = [np.sign(np.subtract.outer(ranks, ranks))[pairs] for ranks in (first, second)]
    return int(np.sum(signs[0] * signs[1] < 0))
