"""Write the table of layers, read from tests/test_layers.py, into CONTRIBUTING.md.

python docs/layers_table.py            write
python docs/layers_table.py --check    exit with 1 if the table is out of date
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- layers:start -->", "<!-- layers:end -->"


def table() -> str:
    """Return one row per layer, with the modules that exist."""
    layers = runpy.run_path(str(ROOT / "tests" / "test_layers.py"))["LAYERS"]
    present = {path.stem for path in (ROOT / "src" / "partita").iterdir()}
    lines = ["| layer | modules |", "|---|---|"]
    for number, parts in enumerate(layers):
        names = ", ".join(f"`{part}`" for part in sorted(parts & present))
        lines.append(f"| {number} | {names} |")
    return "\n".join(lines)


def updated(text: str) -> str:
    """Return the page with a fresh table between the markers."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise ValueError(f"{PAGE.name} needs the markers {START} and {END}")
    return f"{before}{START}\n{table()}\n{END}{after}"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    fresh = updated(text)
    if "--check" in sys.argv[1:]:
        if text != fresh:
            print(f"{PAGE.name} is out of date: run python docs/layers_table.py", file=sys.stderr)
        return int(text != fresh)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
