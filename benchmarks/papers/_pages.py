"""Pages of docs/papers, generated from the records."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

from benchmarks.papers._expect import Expectation, hours
from benchmarks.papers._explanations import equal_text, reasons_text
from benchmarks.papers._figure_text import figure_tables, filled
from benchmarks.papers._index import NO_BREAK, NOTE, index_page
from benchmarks.papers._orders import Order, Test, order, significance
from benchmarks.papers._records import Records, missing
from benchmarks.papers._tables import HERE, Method, Table, read_tables
from benchmarks.papers._verdicts import SIGNS, CellResult, cells

ROOT = HERE.parents[1]
DOCS = ROOT / "docs" / "papers"
LEGEND = """A cell is *ours (printed) verdict*, means over draws. Verdicts: `=` equal, the printed
digits on the same draws; `≈` within sampling error, two standard errors of the difference of the
two means (from the deviation over draws and the number of draws); `+` better; `−` below, with the
reason under the table; `×` not comparable, with the reason. Without a verdict: nothing is
printed. "tuned" means that the best values of the parameters in parentheses were chosen with the
true classes, as the papers do, once per data set ("at" names them) or for every draw; such a figure
is no promise for data without classes. All other lines have fixed parameters."""


def pages() -> dict[Path, str]:
    """Return the text of every page."""
    tables = read_tables()
    papers = tomllib.loads((HERE / "papers.toml").read_text(encoding="utf-8"))
    records = {paper: Records(paper) for paper in papers}
    expectation = Expectation(records.values())
    texts = {DOCS / "index.md": index_page(papers, tables, records, expectation)}
    for paper, about in papers.items():
        own = [table for table in tables.values() if table.paper == paper]
        parts = [f"# {about['name']}: the paper's results, cell by cell", NOTE]
        parts.append(re.sub(r"(https://\S+)", r"<\1>", about["reference"]))
        parts += [about["note"]] if "note" in about else []
        parts.append(LEGEND)
        parts += [section(table, records[paper], expectation) for table in own]
        texts[DOCS / f"{paper}-{about['name'].lower()}.md"] = "\n\n".join(parts) + "\n"
    return texts


def section(table: Table, records: Records, expectation: Expectation) -> str:
    """Return the part of a page about one table."""
    parts = [f"## {table.title}", f"`python -m benchmarks.papers run {table.key}`"]
    parts.append(" ".join(table.content["protocol"].split()))
    picture = f"images/{table.key}.png"
    if (DOCS / picture).exists():
        parts.append(f"![{table.title}]({picture})")
    if table.kind not in ("table", "matrices"):
        return "\n\n".join([*parts, *figure_tables(table, records), *notes(table, records)])
    results = cells(table, records)
    for measure in table.measures:
        own = [cell for cell in results if cell.measure == measure]
        if own:
            parts.append(matrix(table, measure, own))
        ranking = order(table, results, measure)
        if ranking is not None:
            parts.append(order_text(ranking))
        if tests := significance(table, results, measure):
            parts.append(significance_text(tests))
    parts += [equal_text(results), reasons_text(results), *notes(table, records)]
    parts.append(left_text(table, records, expectation))
    return "\n\n".join(part for part in parts if part)


def notes(table: Table, records: Records) -> list[str]:
    """Return what is to be said about the results of a table as a whole."""
    texts = (" ".join(note.split()) for note in table.content.get("notes", []))
    return [filled(text, table, records) for text in texts]


def matrix(table: Table, measure: str, results: list[CellResult]) -> str:
    """Return methods by data sets."""
    by_cell = {(cell.method.name, cell.data): cell for cell in results}
    data = [name for name in table.data if any(name == cell.data for cell in results)]
    lines = [f"| {measure} | " + " | ".join(data) + " |", "| --- " * (len(data) + 1) + "|"]
    for method in table.methods:
        texts = [cell_text(table, by_cell.get((method.name, name))) for name in data]
        if any(texts):
            lines.append(f"| {method_text(method)} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def method_text(method: Method) -> str:
    """Return the name of a line, with what was tuned: by data set or by draw."""
    if not method.tuned:
        return method.name
    names = ", ".join(tuned_names(method))
    return f"{method.name} ({names}{', by draw' if method.tuned == 'draw' else ''})"


def tuned_names(method: Method) -> list[str]:
    """Return the parameters that differ in the grid of a method."""
    first = method.grid[0]
    return [name for name in first if any(entry[name] != first[name] for entry in method.grid)]


def cell_text(table: Table, cell: CellResult | None) -> str:
    """Return our mean, the printed mean and the verdict."""
    if cell is None:
        return ""
    digits = cell.printed.digits if cell.printed and cell.printed.mean is not None else 3
    digits = max(digits, 2)
    ours = f"{cell.mean:.{digits}f}"
    if not math.isnan(cell.deviation):
        ours += f" ± {cell.deviation:.{digits}f}"
    parts = [ours]
    if cell.parameters:
        values = ", ".join(f"{cell.parameters[name]:g}" for name in tuned_names(cell.method))
        parts.append(f"at {values}")
    if len(cell.values) != table.draws:
        parts.append(f"[{len(cell.values)} draws]")
    if cell.printed:
        parts.append(f"({cell.printed}) {SIGNS[cell.verdict]}".strip())
    return " ".join(part.replace(" ", NO_BREAK) for part in parts)


def order_text(ranking: Order) -> str:
    """Return ranks and scores, printed and ours."""
    lines = [
        f"{ranking.measure}, ranks and scores over {', '.join(ranking.data)} "
        f"(score: sum of ratios to the best method). The order of methods is "
        f"{'as printed' if ranking.same_order else 'not as printed'}, Kendall's tau "
        f"{ranking.tau:.2f}.",
        "",
        "| method | mean rank printed | ours | score printed | ours |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, *numbers in sorted(ranking.lines, key=lambda line: line[1]):
        lines.append(f"| {name} | " + " | ".join(f"{number:.2f}" for number in numbers) + " |")
    return "\n".join(lines)


def significance_text(tests: list[Test]) -> str:
    """Return on how many data sets the paper's own method differs from each other method."""
    lines = [
        f"{tests[0].measure}, paired t-tests over draws (level 0.05, uncorrected, as in the "
        "paper): number of data sets where the first method is better, alike or worse.",
        "",
        "| method | compared with | better | alike | worse |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {t.own} | {t.other} | {t.better} | {t.alike} | {t.worse} |" for t in tests]
    return "\n".join(lines)


def left_text(table: Table, records: Records, expectation: Expectation) -> str:
    """Return what is not in the table: data, methods and fits that were not run."""
    lines = [f"- {name}: {reason}." for name, reason in table.missing.items()]
    lines += [f"- {m.name}: {m.absent}." for m in table.methods if m.absent]
    left = missing(table.tasks(), {table.paper: records})
    for name in table.data:
        tasks = [task for task in left if task.data == name]
        methods = ", ".join(dict.fromkeys(task.key for task in tasks))
        if tasks:
            time = hours(tasks, expectation)
            lines.append(f"- {name}: {len(tasks)} fits of {methods}, about {time:.2g} h.")
    return "Not run:\n\n" + "\n".join(lines) if lines else ""


def stale() -> dict[Path, str]:
    """Return the pages that are not what the records say, with their new texts."""
    return {
        path: text
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def write_pages() -> list[Path]:
    """Write the pages that changed and return their paths."""
    DOCS.mkdir(parents=True, exist_ok=True)
    changed = stale()
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    return list(changed)
