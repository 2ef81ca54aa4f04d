"""The values of a figure as tables, and notes whose figures come from the records."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.papers._index import NO_BREAK
from benchmarks.papers._records import Records
from benchmarks.papers._series import Key, Point, series
from benchmarks.papers._tables import Table

PLACE = re.compile(r"\{([^{}]+)\}")


def figure_tables(table: Table, records: Records) -> list[str]:
    """Return the tables of a figure, empty without records."""
    content = series(table, records)
    if not content:
        return []
    match table.kind:
        case "heat map":
            return [heat_table(table, key, points) for key, points in content.items()]
        case "curves":
            return [curve_table(table, content)]
        case "bars":
            return [bar_table(table, measure, content) for measure in table.measures]
        case _:
            return [line_table(table, content)]


def line_table(table: Table, content: dict[Key, list[Point]]) -> str:
    """Return a row per data set, method and measure, and a column per point."""
    places = list(dict.fromkeys(point.at[0] for points in content.values() for point in points))
    places.sort(key=[at for at, _ in labeled_points(table)].index)
    head = " | ".join(map(text_of, places))
    lines = [f"| data | method | measure | {table.axis('x')['name']} = {head} |"]
    lines.append("| --- " * (len(places) + 3) + "|")
    for key, points in content.items():
        by_place = {point.at[0]: f"{point.mean:.3f}" for point in points}
        cells = " | ".join(by_place.get(at, "") for at in places)
        lines.append(f"| {' | '.join(key)} | {cells} |")
    return "\n".join(lines)


def labeled_points(table: Table) -> list[tuple[Any, Any]]:
    """Return the values of the x axis as they are shown, and as they are."""
    axis = table.axis("x")
    return list(zip(axis.get("labels", axis["values"]), axis["values"], strict=True))


def heat_table(table: Table, key: Key, points: list[Point]) -> str:
    """Return a row per value of y, and a column per value of x."""
    x_axis, y_axis = table.axis("x"), table.axis("y")
    by_place = {point.at: f"{point.mean:.3f}" for point in points}
    head = " | ".join(map(text_of, x_axis["values"]))
    lines = [f"| {', '.join(key)}: {y_axis['name']} | {x_axis['name']} = {head} |"]
    lines.append("| --- " * (len(x_axis["values"]) + 1) + "|")
    for y in y_axis["values"]:
        cells = " | ".join(by_place.get((x, y), "") for x in x_axis["values"])
        lines.append(f"| {text_of(y)} | {cells} |")
    return "\n".join(lines)


def curve_table(table: Table, content: dict[Key, list[Point]]) -> str:
    """Return the first and the last point of every curve."""
    name = table.axis("x")["name"]
    lines = [f"| data | method | measure | first {name} | value | last {name} | value |"]
    lines.append("| --- " * 7 + "|")
    for key, points in content.items():
        ends = [f"{text_of(p.at[0])} | {number(p.mean)}" for p in (points[0], points[-1])]
        lines.append(f"| {' | '.join(key)} | {' | '.join(ends)} |")
    return "\n".join(lines)


def bar_table(table: Table, measure: str, content: dict[Key, list[Point]]) -> str:
    """Return methods by data sets: mean, standard error, and the printed value in parentheses."""
    data = list(dict.fromkeys(name for name, _, _ in content))
    lines = [f"| {measure} | {' | '.join(data)} |", "| --- " * (len(data) + 1) + "|"]
    for method in table.methods:
        cells = []
        for name in data:
            text = ""
            if points := content.get((name, method.name, measure)):
                text = f"{points[0].mean:.3f} ± {points[0].error:.3f}"
            if printed := table.printed.get((name, method.printed_as, measure)):
                text += f" ({printed})"
            cells.append(text.replace(" ", NO_BREAK))
        lines.append(f"| {method.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def filled(text: str, table: Table, records: Records) -> str:
    """Return a note with figures in its places.

    A place is {data; methods; measure; x; y}, for example {iris; RSEC | NRSEC; NMI; 0.1..0.5}. "*"
    means all, and so does what is left out at the end. Several means are given as a range. Before a
    colon, "best" asks for the x of the largest mean, "last" for the last x, in place of the means.
    """
    if not PLACE.search(text):
        return text
    content = series(table, records)
    return PLACE.sub(lambda match: value_text(match[1], content), text)


def value_text(place: str, content: dict[Key, list[Point]]) -> str:
    """Return what stands in a place of a note; raise ValueError if nothing is there."""
    question, _, where = place.rpartition(":")
    parts = [part.strip() for part in where.split(";")]
    values: list[Any] = []
    for key, points in content.items():
        names = zip(parts, key, strict=False)
        if not all(part == "*" or name in part.split(" | ") for part, name in names):
            continue
        chosen = [point for point in points if is_inside(point.at, parts[3:])]
        match question:
            case "best":
                values.append(max(chosen, key=lambda point: point.mean).at[0])
            case "last":
                values.append(chosen[-1].at[0])
            case _:
                values += [point.mean for point in chosen]
    if not values:
        raise ValueError(f"No record belongs to {{{place}}}.")
    texts = [text_of(v) if question else number(v) for v in (min(values), max(values))]
    return " to ".join(dict.fromkeys(texts))


def is_inside(at: tuple[Any, ...], ranges: list[str]) -> bool:
    """Return whether a point is at the values, or inside the ranges, that a place names."""
    for value, text in zip(at, ranges, strict=False):
        first, _, last = text.partition("..")
        if text == "*" or text_of(value) == text:
            continue
        if isinstance(value, str) or not float(first) <= value <= float(last or first):
            return False
    return True


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def number(value: float) -> str:
    """Return three decimals, or few digits of what is too small or too large for them."""
    if value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.3f}"
    return f"{value:.3g}" if abs(value) >= 1 else f"{value:.1e}"
