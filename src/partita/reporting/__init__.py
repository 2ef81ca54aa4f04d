"""Report on a consensus: first a dictionary, then one HTML file or a JSON file.

jinja2 and matplotlib are imported when a page is written.
"""

from partita.reporting._summary import summarize
from partita.reporting._writing import report, write_html, write_json

__all__ = ["report", "summarize", "write_html", "write_json"]
