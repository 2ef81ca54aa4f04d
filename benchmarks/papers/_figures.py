"""Draw the figures of the papers from the records: one panel per data set and measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers._ensembles import draw_ensemble
from benchmarks.papers._fit import fit
from benchmarks.papers._records import Records
from benchmarks.papers._run import unavailable
from benchmarks.papers._tables import Method, Table, read_tables
from partita.matrices import coassociation
from partita.plotting import MatrixDisplay

COLUMNS = 4  # panels side by side


def draw_figures(folder: Path) -> Iterator[str]:
    """Draw every figure, and yield its file name or why it is not drawn."""
    for table in read_tables().values():
        if table.kind == "table":
            continue
        figure = draw(table, Records(table.paper))
        if figure is None:
            reasons = unavailable(table).values() if table.kind == "matrices" else ["No records."]
            yield f"{table.key} is not drawn. {' '.join(reasons)}"
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{table.key}.png"
        with mpl.rc_context({"savefig.dpi": 100}):
            figure.savefig(path)
        yield path.name


def draw(table: Table, records: Records) -> Figure | None:
    """Return the figure, or None for a table and for a figure without records."""
    match table.kind:
        case "lines":
            return draw_lines(table, records, line)
        case "curves":
            return draw_lines(table, records, curve)
        case "heat map":
            return draw_heat_maps(table, records)
        case "matrices":
            return draw_matrices(table)
        case _:
            return None


Point = tuple[Any, float, float]
Series = Callable[[Table, Records, str, Method, str], list[Point]]


def draw_lines(table: Table, records: Records, series: Series) -> Figure | None:
    """Return one panel per data set and measure, with one line per method."""
    lines = {
        (data, measure): [
            (method, points)
            for method in table.methods
            if (points := series(table, records, data, method, measure))
        ]
        for data in table.data
        for measure in table.measures
    }
    panels = {panel: content for panel, content in lines.items() if content}
    if not panels:
        return None
    n_measures = len(table.measures)
    figure, axes = grid(len(panels), n_measures if n_measures > 1 else COLUMNS)
    x_axis = table.axis("x")
    names = dict.fromkeys(method.name for method in table.methods)
    colors = {name: f"C{i}" for i, name in enumerate(names)}  # the same in every panel
    for axis, ((data, measure), content) in zip(axes, panels.items(), strict=True):
        for method, points in content:
            x, mean, error = zip(*points, strict=True)
            style = {"marker": "o", "markersize": 3, "color": colors[method.name]}
            axis.errorbar(x, mean, yerr=error, label=method.name, **style)
        axis.set(title=data, xlabel=x_axis["name"], ylabel=measure)
        if "labels" in x_axis:
            axis.set_xticks(range(len(x_axis["labels"])), x_axis["labels"])
            axis.margins(x=0.2)
        if x_axis.get("log"):
            axis.set_xscale("log")
        if table.content.get("log"):
            axis.set_yscale("log")
    axes[0].legend(fontsize="small")
    return figure


def grid(n_panels: int, columns: int = COLUMNS) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, at most `columns` side by side."""
    columns = min(n_panels, columns)
    rows = -(-n_panels // columns)
    figure = Figure(figsize=(4 * columns, 3.2 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes[n_panels:]:
        axis.set_axis_off()
    return figure, list(axes[:n_panels])


def line(table: Table, records: Records, data: str, method: Method, measure: str) -> list[Point]:
    """Return x, the mean and its standard error of every point with a record."""
    points = []
    names = table.axis("x").get("labels")
    for i, (values, change, more) in enumerate(table.points()):
        fits = table.fits(data, method, method.grid[0] | more, change)
        scores = [r[table.measures[measure]] for fit in fits if (r := records.get(fit))]
        if scores:
            error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
            points.append((i if names else values[0], float(np.mean(scores)), float(error)))
    return points


def curve(table: Table, records: Records, data: str, method: Method, measure: str) -> list[Point]:
    """Return x and y of the first draw: columns of its record."""
    record = records.get(table.fits(data, method, method.grid[0])[0])
    if record is None:
        return []
    x, y = record[table.axis("x")["column"]], record[table.measures[measure]]
    return [(*point, 0.0) for point in zip(x, y, strict=True)]


def draw_heat_maps(table: Table, records: Records) -> Figure | None:
    """Return one image per data set, method and measure; x and y are parameters."""
    x_axis, y_axis = table.axis("x"), table.axis("y")
    shape = len(x_axis["values"]), len(y_axis["values"])
    images = {}
    for data in table.data:
        for method in table.methods:
            for measure, column in table.measures.items():
                means = []
                for _, change, more in table.points():
                    fits = table.fits(data, method, method.grid[0] | more, change)
                    values = [r[column] for fit in fits if (r := records.get(fit))]
                    means.append(np.mean(values) if values else np.nan)
                if not np.isnan(means).all():
                    name = f"{data}, {method.name}, {measure}"
                    images[name] = np.reshape(means, shape).T
    if not images:
        return None
    figure, axes = grid(len(images))
    for axis, (name, image) in zip(axes, images.items(), strict=True):
        picture = axis.imshow(image, origin="lower", cmap="Blues")
        axis.set(title=name, xlabel=x_axis["name"], ylabel=y_axis["name"])
        axis.set_xticks(range(shape[0]), x_axis["values"], rotation=45)
        axis.set_yticks(range(shape[1]), y_axis["values"])
        figure.colorbar(picture, ax=axis)
    return figure


def draw_matrices(table: Table) -> Figure | None:
    """Return the learned matrices of the first draw, or None if the data are not at hand.

    The matrices themselves are too large for the records, so the methods are fitted again.
    """
    if unavailable(table):
        return None
    [data] = table.data
    drawn = draw_ensemble(data, table.recipe(data), 0)
    matrices = {}
    for method in table.methods:
        task = table.fits(data, method, method.grid[0])[0]
        if method.key == "matrix.coassociation":
            matrices[method.name] = coassociation(drawn.partitions)
        else:
            matrices[method.name] = fit(task, drawn)[1].consensus_matrix()
    return MatrixDisplay.from_matrices(matrices, drawn.y).plot().figure_
