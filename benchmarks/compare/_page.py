"""The records as a table for the docs: one line per contender, one column per size."""

from __future__ import annotations

from typing import Any

from benchmarks.compare._records import RECORDS
from benchmarks.json_lines import Record, read

__all__ = ["comparison"]


def comparison() -> str:
    """Return the table of the records, the limits, and what exceeded them."""
    about, *records = read(RECORDS)
    sizes = sorted({(r["n"], r["m"]) for r in records}, key=lambda size: size[::-1])
    by_line: dict[tuple[str, str, str], dict[tuple[int, int], Record]] = {}
    for r in records:
        line = r["method"], r["library"], r["what"]
        by_line.setdefault(line, {})[r["n"], r["m"]] = r
    reasons: dict[str, int] = {}
    rows = [["library", *(f"{n}\u00a0x\u00a0{m}" for n, m in sizes)]]
    for (_, library, what), by_size in sorted(by_line.items(), key=_ours_first):
        ours = library == "partita"
        who = f"**{library}** `{what}`" if ours else f"{library}: {what}"
        cells = [_cell(by_size.get(size), reasons) for size in sizes]
        rows.append([who, *cells])
    rows.insert(1, ["---"] * len(rows[0]))
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    limits = "Limits of a call: {seconds:g} s of computing, {gigabytes:g} GB.".format(
        **about["limits"]
    )
    why = [f"{number}. {reason}" for reason, number in reasons.items()]
    reasons_of_cells = ["", f"{limits} Did not finish, because:", "", *why]
    return "\n".join([*lines, *reasons_of_cells, "", _not_finished(records)])


def _not_finished(records: list[Record]) -> str:
    """Return from which number of samples on each method of partita exceeds a limit."""
    m = min(r["m"] for r in records)
    first: dict[str, int] = {}
    for r in records:
        if r["library"] == "partita" and r["m"] == m and r["cpu_seconds"] is None:
            first[r["what"]] = min(r["n"], first.get(r["what"], r["n"]))
    groups = []
    for n in sorted(set(first.values())):
        names = [f"`{name}`" for name in sorted(first) if first[name] == n]
        groups.append(f"from {n} samples on {', '.join(names)}")
    return f"Methods of partita that exceed a limit with {m} partitions: {'; '.join(groups)}."


def _ours_first(line: tuple[tuple[str, str, str], Any]) -> tuple[str, bool, str, str]:
    method, library, what = line[0]
    return method, library != "partita", library, what


def _cell(record: Record | None, reasons: dict[str, int]) -> str:
    """Return seconds, megabytes and ARI, or the number of the reason why there are none."""
    if record is None:
        return ""
    if record["cpu_seconds"] is None:
        why = record.get("did_not_finish_because") or f"skipped: {record['skipped']}"
        why = why.split(". ")[0]  # without the advice of an error message
        return f"({reasons.setdefault(why, len(reasons) + 1)})"
    seconds, megabytes = record["cpu_seconds"], max(record["peak_mb"], 0)
    # lines break after commas only
    return f"{seconds:.3g}\u00a0s, {megabytes:.0f}\u00a0MB, {record['ari']:.2f}"
