"""Orders of methods: ranks, scores and tests per table, and printed orders that ours contradict."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.papers._tables import Table
from benchmarks.papers._verdicts import STANDARD_ERRORS, CellResult, data_differ


@dataclass(frozen=True)
class Order:
    """Mean ranks and scores of the methods of a table, printed and ours."""

    measure: str
    data: list[str]
    lines: list[tuple[str, float, float, float, float]]  # method, ranks, scores
    same_order: bool
    tau: float


def order(table: Table, results: list[CellResult], measure: str) -> Order | None:
    """Return ranks (1 is best) and scores over the data sets that have all methods.

    Methods that are for some data sets only have no rank. Data sets that cannot be compared do not
    count, unless that is true of all, as of seconds.
    """
    some = [c for c in ranked(results) if c.measure == measure and not c.method.data]
    some = [c for c in some if not data_differ(table, c.data)] or some
    names = list(dict.fromkeys(c.method.name for c in some))
    by_cell = {(c.data, c.method.name): c for c in some}
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
    tau = kendall(*ranks)
    same = bool(np.array_equal(*(np.argsort(some_ranks, kind="stable") for some_ranks in ranks)))
    return Order(measure, data, lines, same, tau)


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

    Methods that ran on different numbers of draws of a data set are not compared there.
    """
    by_cell = {(c.method.name, c.data): c.values for c in results if c.measure == measure}
    tests = []
    for own in table.content.get("own", []):
        for other in (method.name for method in table.methods if method.name != own):
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


def ranked(results: list[CellResult]) -> list[CellResult]:
    """Return the cells that can be ranked: one line per printed line, fixed parameters first."""
    lines: dict[str, str] = {}
    for cell in sorted(results, key=lambda cell: bool(cell.method.tuned)):
        lines.setdefault(cell.method.printed_as, cell.method.name)
    return [
        cell
        for cell in results
        if cell.printed is not None
        and cell.printed.mean is not None
        and lines[cell.method.printed_as] == cell.method.name
    ]


def ordered_pairs(results: list[CellResult]) -> list[tuple[CellResult, CellResult]]:
    """Return the pairs of cells of a data set whose order the print decides, the better one first.

    That is where the printed means differ by more than two deviations of a difference of one draw.
    """
    pairs = []
    for first, second in itertools.permutations(ranked(results), 2):
        one, two = first.printed, second.printed
        if (first.data, first.measure) != (second.data, second.measure):
            continue
        if one is None or two is None or one.mean is None or two.mean is None:
            continue
        spread = math.hypot(one.deviation or 0.0, two.deviation or 0.0)
        if one.mean - two.mean > STANDARD_ERRORS * spread:
            pairs.append((first, second))
    return pairs


def contradictions(results: list[CellResult]) -> list[tuple[str, str, str]]:
    """Return the pairs of methods that are not in the printed order: data set, better, other."""
    return [
        (first.data, first.method.name, second.method.name)
        for first, second in ordered_pairs(results)
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


def kendall(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of pairs in the same order minus that in the opposite order."""
    pairs = np.triu_indices(len(first), 1)
    signs = [np.sign(np.subtract.outer(ranks, ranks))[pairs] for ranks in (first, second)]
    return float(np.mean(signs[0] * signs[1]))
