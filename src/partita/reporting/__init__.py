"""A report on a consensus: a plain dictionary first, then one HTML file or JSON.

jinja2 and matplotlib are imported when a page is written.
"""

from partita.reporting.summary import summarize
from partita.reporting.writing import report, write_html, write_json

__all__ = ["report", "summarize", "write_html", "write_json"]
