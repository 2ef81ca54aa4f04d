"""Sentences below a table: which cells are equal to the print, and why others differ."""

from __future__ import annotations

from benchmarks.papers._verdicts import CellResult


def equal_text(results: list[CellResult]) -> str:
    """Return which methods have the printed digits on the same draws, and in how many cells."""
    counts = []
    for name in dict.fromkeys(cell.method.name for cell in results if cell.verdict == "equal"):
        own = [c for c in results if c.method.name == name and c.verdict != "not printed"]
        n_equal = sum(cell.verdict == "equal" for cell in own)
        counts.append(f"{quoted(name)} in {n_equal} of {len(own)} cells")
    return f"The printed digits on the same draws: {'; '.join(counts)}." if counts else ""


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
    return reason if reason.startswith("not explained") else f"because {reason}"


def quoted(name: str) -> str:
    """Return a name that can stand in a list: in quotes if it contains a comma."""
    return f'"{name}"' if "," in name else name
