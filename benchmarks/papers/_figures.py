"""Draw the figures of the papers from the records: one panel per data set, one line per method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers._records import Records
from benchmarks.papers._tables import Method, Table, read_tables


def draw_figures(folder: Path) -> Iterator[Path]:
    """Draw every figure that has records, and yield the paths."""
    for table in read_tables().values():
        if table.is_figure and (figure := draw(table, Records(table.paper))) is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{table.key}.png"
            with mpl.rc_context({"savefig.dpi": 100}):
                figure.savefig(path)
            yield path


def draw(table: Table, records: Records) -> Figure | None:
    """Return the figure, or None if no fit of it has a record."""
    lines = {
        (data, measure): [
            (method, points)
            for method in table.methods
            if (points := line(table, records, data, method, measure))
        ]
        for data in table.data
        for measure in table.measures
    }
    panels = {panel: content for panel, content in lines.items() if content}
    if not panels:
        return None
    figure = Figure(figsize=(4 * len(panels), 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, ((data, measure), content) in zip(axes, panels.items(), strict=True):
        for method, points in content:
            x, mean, error = zip(*points, strict=True)
            axis.errorbar(x, mean, yerr=error, marker="o", markersize=3, label=method.name)
        axis.set(title=data, xlabel=table.content["x"]["name"], ylabel=measure)
        if table.content["x"].get("log"):
            axis.set_xscale("log")
    axes[0].legend(fontsize="small")
    return figure


def line(
    table: Table, records: Records, data: str, method: Method, measure: str
) -> list[tuple[float, float, float]]:
    """Return x, the mean and its standard error of every point with a record."""
    points = []
    for x, change, more in table.points():
        fits = table.fits(data, method, method.grid[0] | more, change)
        values = [r[table.measures[measure]] for fit in fits if (r := records.get(fit))]
        if values:
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            points.append((x, float(np.mean(values)), float(error)))
    return points
