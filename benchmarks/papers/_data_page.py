"""The page of docs/papers about the data folder: its files and where they come from."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from typing import Any

from benchmarks.papers._tables import HERE

LAYOUT = """The commands of [the papers](index.md) read the files `<name>.npz` below from one
folder, which is no part of the repository: the environment variable `PARTITA_DATA`, or
`../shared/data` beside the clone. A file has the true classes `y`, integers from 0, and

- `X`, a table of features, or the parts `data`, `indices`, `indptr` and `shape` of a sparse one;
- or, for several views (`*_mv`), these arrays with the ending `_view1`, `_view2`, ...;
- or, for partitions of other authors (`pool_*`), `members`, samples by partitions.

Values are those of the source, not scaled; texts are term counts; a note says where a file is
something else. `partita.datasets.load` compares each file with its SHA-256 checksum in
`src/partita/datasets/sets.json`, because a record belongs to exactly these data. The checksum is
that of the file, so that a file with the same values in another compression is refused as well.

Not every file is needed. scikit-learn contains iris, wine and digits, `--fetch` gets the sets
marked "OpenML" from there, and a table without one of its files runs with the others and names
the reason. The partitions of Lung that come with the program of the SPCE authors are in the file
`spce_author_table.npz`, in the data folder or in the folder `oracles/lung` beside it."""


def data_page(note: str) -> str:
    """Return the page, from `sources.toml` and the list of sets of `partita.datasets`."""
    sets = known_sets()
    text = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
    sources = {name: source for source, names in text["sources"].items() for name in names}
    lines = ["| file | samples | columns | classes | source | note |", "| --- " * 6 + "|"]
    for name in sorted(sources, key=str.lower):
        facts = sets[name]
        columns = columns_text(facts)
        source = f"{sources[name]}{'; OpenML' if 'openml' in facts else ''}"
        numbers = f"{facts['n_samples']} | {columns} | {facts['n_classes']}"
        lines.append(f"| {name} | {numbers} | {source} | {text['notes'].get(name, '')} |")
    return "\n\n".join(["# The data of the papers", note, LAYOUT, "\n".join(lines)]) + "\n"


def known_sets() -> dict[str, dict[str, Any]]:
    """Return what `partita.datasets` knows of each set."""
    text = resources.files("partita.datasets").joinpath("sets.json").read_text(encoding="utf-8")
    return json.loads(text)


def columns_text(facts: dict[str, Any]) -> str:
    """Return the number of features, of each view, or of partitions."""
    if "n_partitions" in facts:
        return f"{facts['n_partitions']} partitions"
    numbers = facts["n_features"]
    return " + ".join(map(str, numbers)) if isinstance(numbers, list) else str(numbers)
