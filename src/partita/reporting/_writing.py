"""Write a summary as an HTML page or as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from partita._data_frames import html_of_records
from partita.io import check_target
from partita.reporting._summary import summarize

__all__ = ["report", "write_html", "write_json"]

_TEXT_COLUMNS = frozenset(
    [
        "cluster",
        "nearest",
        "main_class",
        "features",
        "mode",
        "partitions",
        "node",
        "parent",
        "partition",
        "view",
        "sample",
        "runner_up",
        "disagreeing_partitions",
        "remark",
        "method",
        "failure",
    ]
)
_SHARES = ("share", "labeled", "main_share")
_WIDE_COLUMNS = (
    "disagreeing_partitions",
    "failure",
    "features",
    "partitions",
)  # long texts, in lines that are not too short
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_ESCAPED = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def report(partitions: Any, labels: Any, path: str | Path, **options: Any) -> dict[str, Any]:
    """Write a report on a consensus as one HTML file.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    labels : array-like of shape (n_samples,), fitted consensus method, or Fusion
        The consensus. -1, None and NaN are samples without a label. Of a `Fusion` of the same
        partitions, the diagnosis, the method and the scan are used and not computed again.
    path : str or Path
        File to write, whose name ends in ".html", or in ".json" for the summary as JSON.
    **options
        `method`, `comparison`, `scan`, `y`, `features`, `coordinates`, `hierarchy`, `title` and
        `random_state` of `summarize`.

    Returns
    -------
    dict
        The result of `summarize`. A notebook or a Python prompt shows only its findings.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita import EAC
    >>> from partita.reporting import report
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     summary = report(partitions, EAC(n_clusters=2).fit(partitions), page)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    path = check_target(path, (".html", ".json"))
    summary = summarize(partitions, labels, **options)
    write = write_json if path.suffix.lower() == ".json" else write_html
    write(summary, path)
    return Summary(summary)


class Summary(dict[str, Any]):
    """A summary that a prompt or a notebook shows as its findings, because it has much data."""

    def __repr__(self) -> str:
        lines = (f"  {f['question']} {f['answer']}" for f in self["findings"])
        return "\n".join([f"Report: {self['title']}", *lines])

    def _repr_html_(self) -> str:
        return html_of_records(self["findings"], ("question", "answer", "mark"), self["title"])


def write_json(summary: Mapping[str, Any], path: str | Path) -> Path:
    """Write a summary as JSON, from which `write_html` makes the same page."""
    path = Path(path)
    path.write_text(_json(summary) + "\n", encoding="utf-8")
    return path


def write_html(summary: Mapping[str, Any], path: str | Path) -> Path:
    """Write a summary as one HTML file without external resources.

    All text is escaped, and the content security policy of the page allows only its own script.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from partita.reporting._svg import drawings

    environment = Environment(
        loader=PackageLoader("partita.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = _cell
    environment.filters["code"] = _code
    environment.filters["day"] = _day
    environment.tests["numeric_column"] = lambda name: name not in _TEXT_COLUMNS
    templates = files("partita.reporting") / "templates"
    script = (templates / "report.js").read_text(encoding="utf-8")
    page = environment.get_template("report.html.j2").render(
        summary=summary,
        figures={figure["key"]: figure for figure in summary["figures"]},
        drawings={
            figure["key"]: [Markup(svg) for svg in drawings(figure)]
            for figure in summary["figures"]
        },
        wide_columns=_WIDE_COLUMNS,
        embedded=Markup(_json(summary).translate(_ESCAPED)),
        style=Markup((templates / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=_sha256(script),
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8", newline="\n")
    return path


def _cell(value: Any, column: str) -> str:
    """Format a value of a table."""
    if value is None:
        return ""
    if column in _SHARES:
        return f"{value:.1%}"
    if column == "seconds":
        return f"{value:.3g}"
    if isinstance(value, float):
        # adding 0.0 turns -0.0 into 0.0
        return f"{value:,.0f}" if column == "size" else f"{round(value, 3) + 0.0:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _code(text: str) -> str:
    """Return text as HTML in which `names` between backticks are code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _day(created: str) -> str:
    """Return the day of a time in ISO format as "17 November 2026", in any locale."""
    day = datetime.fromisoformat(created)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _json(summary: Mapping[str, Any]) -> str:
    return json.dumps(summary, ensure_ascii=False, allow_nan=False)


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
