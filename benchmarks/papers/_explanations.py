"""Sentences below a table: which cells are equal to the print, and why others differ."""

from __future__ import annotations

from typing import Any

from benchmarks.papers._tables import Method
from benchmarks.papers._verdicts import CellResult


def equal_text(results: list[CellResult]) -> str:
    """Return which methods have the printed digits on the same draws, and in how many cells."""
    counts = []
    for name in dict.fromkeys(cell.method.name for cell in results if cell.verdict == "equal"):
        own = [c for c in results if c.method.name == name and c.verdict != "not printed"]
        n_equal = sum(cell.verdict == "equal" for cell in own)
        counts.append(f"{quoted(name)} in {n_equal} of {len(own)} cells")
    return f"The printed digits on the same draws: {'; '.join(counts)}." if counts else ""


def also_equal_text(results: list[CellResult]) -> str:
    """Return where another point of the grid than the best one has the printed digits."""
    points: dict[tuple[str, str, str], list[str]] = {}
    differ = {(c.data, c.method.name) for c in results if c.also_equal and c.verdict != "equal"}
    for cell in results:
        for parameters in cell.also_equal if (cell.data, cell.method.name) in differ else ():
            point = parameters_text(cell.method, parameters)
            where = cell.data, quoted(cell.method.name), point
            points.setdefault(where, []).append(cell.measure)
    texts = [f"{d} ({m}) at {p} in {', '.join(some)}" for (d, m, p), some in points.items()]
    if not texts:
        return ""
    return "Printed digits on the same draws, but not at the best point of our grid: " + (
        "; ".join(texts) + "."
    )


def parameters_text(method: Method, parameters: dict[str, Any]) -> str:
    """Return the parameters of a point of a grid that differ in the grid."""
    return ", ".join(f"{name} = {parameters[name]:g}" for name in tuned_names(method))


def tuned_names(method: Method) -> list[str]:
    """Return the parameters that differ in the grid of a method."""
    first = method.grid[0]
    return [name for name in first if any(entry[name] != first[name] for entry in method.grid)]


def reasons_text(results: list[CellResult]) -> str:
    """Return the reasons of cells that differ or cannot be compared, equal ones once."""
    by_reason: dict[tuple[str, str], list[CellResult]] = {}
    for cell in results:
        if cell.reason:
            by_reason.setdefault((cell.verdict, cell.reason), []).append(cell)
    lines = [
        f"- {where_text(some, results)}: **{verdict}**, {because(reason)}."
        for (verdict, reason), some in by_reason.items()
    ]
    return "\n".join(lines)


def where_text(some: list[CellResult], results: list[CellResult]) -> str:
    """Return where cells are, by data set: the lines, and the measures unless these are all."""
    all_measures = tuple(dict.fromkeys(cell.measure for cell in results))
    texts = []
    for data in dict.fromkeys(cell.data for cell in some):
        measures: dict[str, tuple[str, ...]] = {}
        for cell in some:
            if cell.data == data:
                name = cell.method.name
                measures[name] = (*measures.get(name, ()), cell.measure)
        n_lines = len({cell.method.name for cell in results if cell.data == data})
        parts = []
        for group in dict.fromkeys(measures.values()):
            names = [name for name, own in measures.items() if own == group]
            lines = "all lines" if len(names) == n_lines else ", ".join(map(quoted, names))
            parts.append(lines if group == all_measures else f"{lines} in {', '.join(group)}")
        texts.append(f"{data} ({'; '.join(parts)})")
    return "; ".join(texts)


def because(reason: str) -> str:
    """Return a reason as the end of a sentence; what says that there is none has no "because"."""
    return reason if reason.startswith(("no ", "not ")) else f"because {reason}"


def quoted(name: str) -> str:
    """Return a name that can stand in a list: in quotes if it contains a comma."""
    return f'"{name}"' if "," in name else name
