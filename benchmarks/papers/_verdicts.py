"""Compare our values with the printed ones: a verdict per cell, ranks and scores per table."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.papers._records import Records
from benchmarks.papers._tables import HERE, Method, Printed, Table

# Two standard errors of a difference: 95 of 100 repetitions of the same experiment are within.
STANDARD_ERRORS = 2.0
SIGNS = {
    "equal": "=",
    "within": "≈",
    "better": "+",
    "below": "−",
    "not comparable": "×",
    "not printed": "",
}


@dataclass(frozen=True)
class CellResult:
    """Our values of a cell and the printed one."""

    data: str
    method: Method
    measure: str
    values: tuple[float, ...]
    printed: Printed | None
    parameters: dict[str, Any] | None
    verdict: str
    reason: str
    error: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan


@cache
def reasons(paper: str) -> list[dict[str, Any]]:
    """Return the reasons written for cells of a paper."""
    path = HERE / "reasons" / f"{paper}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["reason"] if path.exists() else []


def reason_of(table: Table, data: str, method: str, measure: str) -> dict[str, Any]:
    """Return the first reason that names the cell, or an empty one."""
    cell = {"tables": table.key, "data": data, "methods": method, "measures": measure}
    for entry in reasons(table.paper):
        if all(name not in entry or value in entry[name] for name, value in cell.items()):
            return entry
    return {}


def data_differ(table: Table, data: str) -> bool:
    """Return whether all cells of a data set are not comparable, for a reason about the data."""
    return any(
        entry.get("verdict") == "not comparable"
        and data in entry.get("data", ())
        and "methods" not in entry
        and table.key in entry.get("tables", [table.key])
        for entry in reasons(table.paper)
    )


def cells(table: Table, records: Records) -> list[CellResult]:
    """Return every cell that has a record, in the order of the table."""
    results = []
    for measure, name in table.measures.items():
        for method in table.methods:
            for data in table.data:
                values, parameters = best_values(table, records, data, method, name)
                if values:
                    results.append(judge(table, data, method, measure, values, parameters))
    return results


def best_values(
    table: Table, records: Records, data: str, method: Method, measure: str
) -> tuple[tuple[float, ...], dict[str, Any] | None]:
    """Return the values of a cell by draw; tuned ones are the best of the grid."""
    scale = table.content.get("scale", 1)
    by_parameters = []
    for parameters in method.grid:
        fits = [records.get(task) for task in table.fits(data, method, parameters)]
        values = {
            draw: scale * fit[measure]
            for draw, fit in enumerate(fits)
            if fit is not None and measure in fit
        }
        by_parameters.append((values, parameters))
    # the best of half a grid is no result: only draws with every combination count
    draws = sorted(set.intersection(*(set(values) for values, _ in by_parameters)))
    if not draws:
        return (), None
    if method.tuned == "draw":
        return tuple(max(values[draw] for values, _ in by_parameters) for draw in draws), None
    best, parameters = max(
        by_parameters, key=lambda entry: float(np.mean([entry[0][draw] for draw in draws]))
    )
    return tuple(best[draw] for draw in draws), parameters


def judge(
    table: Table,
    data: str,
    method: Method,
    measure: str,
    values: tuple[float, ...],
    parameters: dict[str, Any] | None,
) -> CellResult:
    """Return the cell with its verdict and, where it differs, the written reason."""
    printed = table.printed.get((data, method.printed_as, measure))
    mean, error = float(np.mean(values)), math.nan
    entry = reason_of(table, data, method.name, measure)
    reason = ""
    if printed is None or printed.mean is None:
        verdict = "not printed"
    elif is_equal(table, values, printed):
        verdict = "equal"
    elif entry.get("verdict") == "not comparable":
        verdict, reason = "not comparable", entry["because"]
    elif table.content.get("same_draws") and len(values) < table.draws:
        verdict = "not comparable"
        reason = "some of the authors' draws were not run, and the print is the mean of all"
    elif len(values) < 2:
        verdict, reason = "not comparable", "one draw has no sampling error"
    else:
        error = standard_error(table, values, printed)
        distance = abs(mean - printed.mean) - 0.5 * 10.0**-printed.digits
        if distance <= STANDARD_ERRORS * error:
            verdict = "within"
        else:
            verdict = "better" if mean > printed.mean else "below"
            reason = entry.get("because", "") or "no reason has been found"
            reason = "" if verdict == "better" and not entry else reason
    tuned = parameters if method.tuned == "set" else None
    return CellResult(data, method, measure, values, printed, tuned, verdict, reason, error)


def is_equal(table: Table, values: tuple[float, ...], printed: Printed) -> bool:
    """Return whether mean and deviation have the printed digits, on the authors' own draws."""
    if not table.content.get("same_draws") or len(values) != table.draws:
        return False
    digits = printed.digits
    spread = float(np.std(values, ddof=1))
    same_spread = printed.deviation is None or agrees(spread, printed.deviation, digits)
    return agrees(float(np.mean(values)), printed.mean, digits) and same_spread


def agrees(value: float, printed: float | None, digits: int) -> bool:
    """Return whether a value has the printed digits; the records have six decimals."""
    return printed is not None and abs(value - printed) <= 0.5 * 10.0**-digits + 1e-6


def standard_error(table: Table, values: tuple[float, ...], printed: Printed) -> float:
    """Return the standard error of the difference of our mean and the printed one.

    If the printed deviation is not over draws of ensembles, ours takes its place.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    over_draws = table.content.get("printed_deviation", "draws") == "draws"
    theirs = printed.deviation if over_draws and printed.deviation is not None else spread
    return math.sqrt(spread**2 / len(values) + theirs**2 / table.content["printed_draws"])


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


def contradictions(results: list[CellResult]) -> list[tuple[str, str, str]]:
    """Return pairs of methods whose order is not the printed one, where the spread allows one.

    That is where the printed means differ by more than two deviations of a difference of one draw.
    """
    pairs = []
    for first in ranked(results):
        for second in ranked(results):
            if (first.data, first.measure) != (second.data, second.measure):
                continue
            one, two = first.printed, second.printed
            if one is None or two is None or one.mean is None or two.mean is None:
                continue
            spread = math.hypot(one.deviation or 0.0, two.deviation or 0.0)
            if one.mean - two.mean > STANDARD_ERRORS * spread and first.mean < second.mean:
                pairs.append((first.data, first.method.name, second.method.name))
    return pairs


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
