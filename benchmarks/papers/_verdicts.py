"""Compare our values with the printed ones: a verdict per cell."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.papers._printed import Printed
from benchmarks.papers._records import Records
from benchmarks.papers._tables import HERE, Method, Table

# Two standard errors of a difference: 95 of 100 repetitions of the same experiment are within.
STANDARD_ERRORS = 2.0
# Draws whose two standard errors are a larger share of the range of a measure decide nothing.
WIDEST = 0.5
SIGNS = {
    "equal": "=",
    "within": "≈",
    "better": "+",
    "below": "−",
    "not comparable": "×",
    "not printed": "",
}
COMPARABLE = ("equal", "within", "better", "below")


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
    also_equal: tuple[dict[str, Any], ...] = ()  # parameters of the grid with the printed digits

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


@dataclass(frozen=True)
class Values:
    """The values of a cell by draw, its parameters, and the values at the rest of the grid."""

    values: tuple[float, ...] = ()
    parameters: dict[str, Any] | None = None
    others: tuple[tuple[dict[str, Any], tuple[float, ...]], ...] = ()


def cells(table: Table, records: Records) -> list[CellResult]:
    """Return every cell that has a record, in the order of the table."""
    results = []
    for measure in table.measures:
        for method in table.methods:
            for data in table.data:
                values = best_values(table, records, data, method, measure)
                if values.values:
                    results.append(judge(table, data, method, measure, values))
    return results


def best_values(table: Table, records: Records, data: str, method: Method, measure: str) -> Values:
    """Return the values of a cell; tuned ones are those of the best parameters of the grid.

    The best are chosen by the deciding measure of the table, on all draws of the data set or on
    every draw. The best of half a grid is no result: only draws with every combination count.
    """
    names = [table.measures[n] for n in (measure, table.deciding_measure(measure))]
    fits = [
        [records.get(task) for task in table.fits(data, method, parameters)]
        for parameters in method.grid
    ]
    whole = [
        some
        for some in zip(*fits, strict=True)
        if all(fit is not None and set(names) <= fit.keys() for fit in some)
    ]
    if not whole:
        return Values()
    own, deciding = (
        np.array([[fit[name] for fit in some] for some in whole], dtype=np.float64)
        for name in names
    )  # draws by combinations
    own *= table.content.get("scale", 1)
    if method.tuned == "draw":
        chosen = own[np.arange(len(own)), deciding.argmax(axis=1)]
        return Values(tuple(map(float, chosen)))
    best = int(deciding.mean(axis=0).argmax())
    columns = [tuple(map(float, column)) for column in own.T]
    others = zip(method.grid, columns, strict=True)
    return Values(
        columns[best],
        method.grid[best],
        tuple(other for i, other in enumerate(others) if i != best),
    )


def judge(
    table: Table,
    data: str,
    method: Method,
    measure: str,
    cell: Values,
) -> CellResult:
    """Return the cell with its verdict and, where it differs, the written reason."""
    values = cell.values
    printed = table.printed.get((data, method.printed_as, measure))
    mean, error = float(np.mean(values)), math.nan
    entry = reason_of(table, data, method.name, measure)
    reason = ""
    if printed is None or printed.mean is None:
        verdict = "not printed"
    elif is_equal(table, method, values, printed):
        verdict = "equal"
    elif entry.get("verdict") == "not comparable":
        verdict, reason = "not comparable", entry["because"]
    elif table.content.get("same_draws") and len(values) < table.printed_draws_of(method):
        verdict = "not comparable"
        reason = "some of the authors' draws were not run, and the print is the mean of all"
    elif len(values) < 2:
        verdict, reason = "not comparable", "one draw has no sampling error"
    else:
        error = standard_error(table, values, printed)
        distance = abs(mean - printed.mean) - 0.5 * 10.0**-printed.digits
        if distance <= STANDARD_ERRORS * error and is_wide(table, error):
            verdict, reason = "not comparable", "the draws differ too much to decide"
            reason += f": {entry['because']}" if entry else ""
        elif distance <= STANDARD_ERRORS * error:
            verdict = "within"
        else:
            verdict = "better" if mean > printed.mean else "below"
            reason = entry.get("because", "") or "no reason has been found"
            reason = "" if verdict == "better" and not entry else reason
    also_equal: tuple[dict[str, Any], ...] = ()
    if printed is not None and printed.mean is not None:
        also_equal = tuple(p for p, some in cell.others if is_equal(table, method, some, printed))
    tuned = cell.parameters if method.tuned == "set" else None
    return CellResult(
        data, method, measure, values, printed, tuned, verdict, reason, error, also_equal
    )


def is_equal(table: Table, method: Method, values: tuple[float, ...], printed: Printed) -> bool:
    """Return whether mean and deviation have the printed digits, on the authors' own draws."""
    if not table.content.get("same_draws") or len(values) != table.printed_draws_of(method):
        return False
    if not agrees(float(np.mean(values)), printed.mean, printed.digits):
        return False
    if printed.deviation is None:
        return True
    return agrees(float(np.std(values, ddof=1)), printed.deviation, printed.digits)


def agrees(value: float, printed: float | None, digits: int) -> bool:
    """Return whether a value has the printed digits; the records have six decimals."""
    return printed is not None and abs(value - printed) <= 0.5 * 10.0**-digits + 1e-6


def is_wide(table: Table, error: float) -> bool:
    """Return whether a sampling error covers most of the range of a score; seconds have none."""
    whole = math.inf if table.content.get("smaller") else table.content.get("scale", 1)
    return STANDARD_ERRORS * error > WIDEST * whole


def standard_error(table: Table, values: tuple[float, ...], printed: Printed) -> float:
    """Return the standard error of the difference of our mean and the printed one."""
    theirs = deviation_over_draws(table, values, printed)
    return math.hypot(
        spread_of(values) / math.sqrt(len(values)),
        theirs / math.sqrt(table.content["printed_draws"]),
    )


def deviation_over_draws(table: Table, values: tuple[float, ...], printed: Printed) -> float:
    """Return the printed deviation, or ours if the printed one is not over draws of ensembles."""
    over_draws = table.content.get("printed_deviation", "draws") == "draws"
    if over_draws and printed.deviation is not None:
        return printed.deviation
    return spread_of(values)


def spread_of(values: tuple[float, ...]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
