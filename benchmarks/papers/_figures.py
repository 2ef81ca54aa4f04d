"""Draw the figures of the papers from the records: one panel per data set and measure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.papers._ensembles import draw_ensemble
from benchmarks.papers._fit import MATRICES, fit
from benchmarks.papers._records import Records
from benchmarks.papers._run import unavailable
from benchmarks.papers._series import Key, Point, series
from benchmarks.papers._tables import Table, read_tables
from partita.plotting import MatrixDisplay

COLUMNS = 4  # panels side by side
WIDTH, HEIGHT = 4.0, 3.0  # inches of a panel
LEGEND_LINE = 0.25  # inches
LETTER = 0.11  # inches of a letter in a legend, with its share of the line sample
COLORS = [mpl.colormaps["tab20"](i) for i in (*range(0, 20, 2), *range(1, 20, 2))]  # dark, light
MARKERS = "os^Dv<P"
MARKER_SIZE = 3.5


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
    if table.kind == "table":
        return None
    if table.kind == "matrices":
        return draw_matrices(table)
    content = series(table, records)
    if not content:
        return None
    match table.kind:
        case "bars":
            return draw_bars(table, content)
        case "heat map":
            return draw_heat_maps(table, content)
        case _:
            return draw_lines(table, content)


def draw_lines(table: Table, content: dict[Key, list[Point]]) -> Figure:
    """Return one panel per data set and measure, with one line per method.

    Several measures are below each other, so that a column is a data set.
    """
    data = [name for name in table.data if any(name == key[0] for key in content)]
    panels = [(name, measure) for measure in table.measures for name in data]
    columns = len(data) if 1 < len(data) <= COLUMNS or len(table.measures) == 1 else len(panels)
    names = list(dict.fromkeys(method for _, method, _ in content))
    figure, axes = grid(len(panels), min(columns, COLUMNS), names)
    constant = {method.name for method in table.methods if method.constant}
    for axis, (name, measure) in zip(axes, panels, strict=True):
        for i, method in enumerate(names):
            if points := content.get((name, method, measure)):
                x = [place(table.axis("x"), point.at[0]) for point in points]
                marker = "" if method in constant else MARKERS[i % len(MARKERS)]
                style = {"color": COLORS[i % len(COLORS)], "marker": marker, "label": method}
                draw_line(axis, x, points, **style)
        axis.set(title=name, xlabel=table.axis("x")["name"], ylabel=measure)
        set_scales(axis, table, measure)
    add_legend(figure, axes, names)
    return figure


def draw_line(axis: Any, x: list[float], points: list[Point], marker: str, **style: Any) -> None:
    """Draw means with their standard errors: bars, or a band around a line without markers."""
    mean, error = (np.array([getattr(p, name) for p in points]) for name in ("mean", "error"))
    if marker:
        axis.errorbar(x, mean, yerr=error, marker=marker, markersize=MARKER_SIZE, **style)
    else:
        axis.plot(x, mean, "--", **style)
        axis.fill_between(x, mean - error, mean + error, color=style["color"], alpha=0.15)


def place(axis: dict[str, Any], value: Any) -> float:
    """Return where a value is on an axis: labels stand side by side."""
    return axis["labels"].index(value) if "labels" in axis else value


def set_scales(axis: Any, table: Table, measure: str) -> None:
    """Use logarithms where the table says so, and ticks at the values of the figure."""
    x_axis = table.axis("x")
    if x_axis.get("log"):
        axis.set_xscale("log")
        axis.xaxis.set_minor_locator(NullLocator())
    if "labels" in x_axis:
        axis.set_xticks(range(len(x_axis["labels"])), x_axis["labels"])
        axis.margins(x=0.2)
    elif "values" in x_axis:
        names = [f"{value:g}" for value in x_axis["values"]]
        axis.set_xticks(x_axis["values"], names, fontsize="small")
    if measure in table.content.get("log", []):
        axis.set_yscale("log")


def draw_bars(table: Table, content: dict[Key, list[Point]]) -> Figure:
    """Return one panel per measure, with one group of bars per data set.

    Marks stand at the printed values, if there are any.
    """
    data = list(dict.fromkeys(name for name, _, _ in content))
    methods = [m for m in table.methods if any(m.name == name for _, name, _ in content)]
    width = 0.8 / len(methods)
    names = [method.name for method in methods] + (["printed"] if table.printed else [])
    figure, axes = grid(len(table.measures), 1, names, width=2.5 * WIDTH)
    for axis, measure in zip(axes, table.measures, strict=True):
        for i, method in enumerate(methods):
            left = (i + 0.5) * width - 0.4
            bars, marks = {}, {}
            for j, name in enumerate(data):
                if points := content.get((name, method.name, measure)):
                    bars[j + left] = points[0]
                printed = table.printed.get((name, method.printed_as, measure))
                if printed is not None and printed.mean is not None:
                    marks[j + left] = printed.mean
            heights, errors = ([getattr(p, n) for p in bars.values()] for n in ("mean", "error"))
            axis.bar(list(bars), heights, width, yerr=errors, color=COLORS[i], label=method.name)
            if marks:
                axis.plot(list(marks), list(marks.values()), "kD", markersize=4, label="printed")
        axis.set_ylabel(measure)
        axis.set_xticks(range(len(data)), data)
    add_legend(figure, axes, names)
    return figure


def draw_heat_maps(table: Table, content: dict[Key, list[Point]]) -> Figure:
    """Return one image per data set, method and measure; x and y are parameters."""
    x_axis, y_axis = table.axis("x"), table.axis("y")
    figure, axes = grid(len(content), COLUMNS)
    for axis, (key, points) in zip(axes, content.items(), strict=True):
        image = np.full((len(y_axis["values"]), len(x_axis["values"])), np.nan)
        for point in points:
            x, y = point.at
            image[y_axis["values"].index(y), x_axis["values"].index(x)] = point.mean
        picture = axis.imshow(image, origin="lower", cmap="Blues", aspect="auto")
        axis.set(title=", ".join(key), xlabel=x_axis["name"], ylabel=y_axis["name"])
        x_names, y_names = ([f"{v:g}" for v in part["values"]] for part in (x_axis, y_axis))
        axis.set_xticks(range(len(x_names)), x_names, fontsize="x-small")
        axis.set_yticks(range(len(y_names)), y_names, fontsize="x-small")
        figure.colorbar(picture, ax=axis)
    return figure


def grid(
    n_panels: int, columns: int, names: list[str] | None = None, width: float = WIDTH
) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, with room for a legend of `names` below them.

    At most `columns` panels are side by side, fewer if that makes no more rows.
    """
    rows = -(-n_panels // columns)
    columns = -(-n_panels // rows)
    room = LEGEND_LINE * legend_lines(names, width * columns) if names and names[1:] else 0.0
    size = width * columns, HEIGHT * rows + room
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes[n_panels:]:
        axis.set_axis_off()
    return figure, list(axes[:n_panels])


def legend_columns(names: list[str], width: float) -> int:
    """Return how many names stand side by side in a legend of that many inches."""
    return max(1, min(len(names), int(width / (0.6 + LETTER * max(map(len, names))))))


def legend_lines(names: list[str], width: float) -> int:
    return -(-len(names) // legend_columns(names, width))


def add_legend(figure: Figure, axes: list[Any], names: list[str]) -> None:
    """Add one legend below the panels, where it covers no line. One name needs none."""
    if len(names) == 1:
        return
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    columns = legend_columns(names, figure.get_figwidth())
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside lower center",
        ncols=columns,
        fontsize="small",
        frameon=False,
    )


def draw_matrices(table: Table) -> Figure | None:
    """Return the learned matrices of the first draw, or None if the data are not at hand.

    The matrices themselves are too large for the records, so the methods are fitted again. The
    differences that the table names follow them; where one is negative it is white.
    """
    if unavailable(table):
        return None
    [data] = table.data
    drawn = draw_ensemble(data, table.recipe(data), 0)
    matrices = {}
    for method in table.methods:
        task = table.fits(data, method, method.grid[0])[0]
        if task.key in MATRICES:
            matrices[method.name] = MATRICES[task.key](drawn.partitions)
        else:
            matrices[method.name] = fit(task, drawn)[1].consensus_matrix()
    for first, second in table.content.get("differences", []):
        matrices[f"{first} minus {second}"] = matrices[first] - matrices[second]
    return MatrixDisplay.from_matrices(matrices, drawn.y).plot().figure_
