"""The table of layers, read from tests/test_layers.py. `write_pages.py` writes it."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def table() -> str:
    """Return one row per layer, with the modules that exist."""
    layers = runpy.run_path(str(ROOT / "tests" / "test_layers.py"))["LAYERS"]
    present = {path.stem for path in (ROOT / "src" / "partita").iterdir()}
    lines = ["| layer | modules |", "|---|---|"]
    for number, parts in enumerate(layers):
        names = ", ".join(f"`{part}`" for part in sorted(parts & present))
        lines.append(f"| {number} | {names} |")
    return "\n".join(lines)
