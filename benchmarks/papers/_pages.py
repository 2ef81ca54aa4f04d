"""Pages of docs/papers, generated from the records."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

from benchmarks.papers._data_page import data_page
from benchmarks.papers._expect import Expectation, hours
from benchmarks.papers._explanations import (
    also_equal_text,
    equal_text,
    quoted,
    reasons_text,
    tuned_names,
)
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
true classes, as the papers do, once per data set ("at" names them) or for every draw, by the
measure in the parentheses; such a figure is no promise for data without classes. All other lines
have fixed parameters. Ranks and t-tests compare fixed lines with fixed ones and tuned lines with
tuned ones, on the data sets where every cell of these lines can be compared with the print. Seconds
of two machines cannot be compared, but the order of methods can."""


def pages() -> dict[Path, str]:
    """Return the text of every page."""
    tables = read_tables()
    papers = tomllib.loads((HERE / "papers.toml").read_text(encoding="utf-8"))
    records = {paper: Records(paper) for paper in papers}
    expectation = Expectation(records.values())
    texts = {DOCS / "index.md": index_page(papers, tables, records, expectation)}
    texts[DOCS / "data.md"] = data_page(NOTE)
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
        for tuned in (False, True):
            ranking = order(table, results, measure, tuned=tuned)
            if ranking is not None:
                parts.append(order_text(ranking))
        if tests := significance(table, results, measure):
            parts.append(significance_text(tests))
    parts += [equal_text(results), also_equal_text(results), reasons_text(results)]
    parts += notes(table, records)
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
            name = method_text(method, table.deciding_measure(measure))
            lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def method_text(method: Method, deciding: str) -> str:
    """Return the name of a line, with what was tuned, how often and by which measure."""
    if not method.tuned:
        return method.name
    names = ", ".join(tuned_names(method))
    every = " of every draw" if method.tuned == "draw" else ""
    return f"{method.name} ({names}{every}, by {deciding})"


def digits_of(table: Table, cell: CellResult) -> int:
    """Return the decimals of a cell: those of its print, otherwise those of its measure."""
    if cell.printed is not None and cell.printed.mean is not None:
        return max(cell.printed.digits, 2)
    printed = (p for (_, _, measure), p in table.printed.items() if measure == cell.measure)
    digits = [some.digits for some in printed if some.mean is not None]
    return max(*digits, 2) if digits else 3


def cell_text(table: Table, cell: CellResult | None) -> str:
    """Return our mean, the printed mean and the verdict."""
    if cell is None:
        return ""
    digits = digits_of(table, cell)
    ours = f"{cell.mean:.{digits}f}"
    if not math.isnan(cell.deviation):
        ours += f" ± {cell.deviation:.{digits}f}"
    parts = [ours]
    if cell.parameters:
        values = ", ".join(f"{cell.parameters[name]:g}" for name in tuned_names(cell.method))
        parts.append(f"at {values}")
    if len(cell.values) != table.draws_of(cell.method, cell.data):
        n = len(cell.values)
        parts.append(f"[{n} draw{'s' * (n > 1)}]")
    if cell.printed:
        parts.append(f"({cell.printed}) {SIGNS[cell.verdict]}".strip())
    return " ".join(part.replace(" ", NO_BREAK) for part in parts)


def order_text(ranking: Order) -> str:
    """Return ranks and scores, printed and ours."""
    kind = "tuned lines" if ranking.tuned else "fixed lines"
    tau = "" if math.isnan(ranking.tau) else f", Kendall's tau-b {ranking.tau:.2f}"
    sentences = [
        f"{ranking.measure}, {kind}: ranks and scores over {', '.join(ranking.data)} "
        f"(score: sum of ratios to the best method).",
        f"The order of methods is {'' if ranking.same_order else 'not '}as printed{tau}.",
    ]
    if ranking.unranked:
        names = ", ".join(map(quoted, ranking.unranked))
        sentences.append(f"Without a rank, fixed here and tuned in the print: {names}.")
    lines = [
        " ".join(sentences),
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
