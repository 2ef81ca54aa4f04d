"""The tables of generators, read from the records of benchmarks/generators."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.generators._sets import OUTSIDE  # noqa: E402
from benchmarks.json_lines import Record, read  # noqa: E402

GENERATORS = ("RandomK", "LandmarkSpectral", "RandomMetrics", "RandomLeiden", "mixture")
DEFAULT = "EnsembleClustering"  # with its own scale, partitions and method
METHODS = ("CCGP", "LWGP", "HBGF")
SCALES = ("none", "standard", "auto")
TEXT_SCALES = ("counts", "tf-idf")
TEXT_GENERATORS = tuple(name for name in GENERATORS if name != "RandomMetrics")


def means_table() -> str:
    """Return the mean ARI of every generator and method, for both halves of the sets.

    The estimator has one place in each half, that of its scale and its method.
    """
    records = _records()
    design, held_out = _halves(records)
    columns = _columns(records, GENERATORS)
    lines = _head(["half", "scale", "method", *columns])
    for half, sets in (("design", design), ("held out", held_out)):
        for scale in SCALES:
            for method in METHODS:
                chosen = [r for r in records if r["set"] in sets and r["method"] == method]
                lines.append(_row([half, scale, method, *_cells(chosen, scale, columns)]))
    return "\n".join(lines)


def sets_table() -> str:
    """Return the mean ARI of every generator for every set, with CCGP and scale="auto"."""
    records = [r for r in _records() if r["method"] == "CCGP"]
    design, _ = _halves(records)
    columns = _columns(records, GENERATORS)
    lines = _head(["set", "n", "d", "K", "half", "standardized", *columns])
    for name in _names(records):
        chosen = [r for r in records if r["set"] == name and r["is_automatic"]]
        first = chosen[0]
        size = [str(first[key]) for key in ("n_samples", "n_features", "n_clusters")]
        half = "design" if name in design else "held out"
        scaled = "yes" if first["scale"] == "standard" else "no"
        lines.append(_row([name, *size, half, scaled, *_cells(chosen, "auto", columns)]))
    return "\n".join(lines)


def scaling_table() -> str:
    """Return the mean ARI, raw and standardized, of the sets that scale="auto" standardizes."""
    records = [r for r in _records(outside=True) if r["method"] == "CCGP"]
    chosen = {r["set"] for r in records if r["is_automatic"] and r["scale"] == "standard"}
    generators = ("RandomK", "LandmarkSpectral", "mixture")
    titles = [f"{g}, {scale}" for g in generators for scale in ("none", "standard")]
    lines = _head(["set", *titles])
    for name in sorted(chosen, key=str.lower):
        cells = []
        for generator in generators:
            own = [r for r in records if (r["set"], r["generator"]) == (name, generator)]
            means = [
                np.mean([r["ARI"] for r in own if r["scale"] == scale])
                for scale in ("none", "standard")
            ]
            cells += [f"**{m:.3f}**" if m == max(means) else f"{m:.3f}" for m in means]
        lines.append(_row([name, *cells]))
    return "\n".join(lines)


def texts_table() -> str:
    """Return the mean ARI of every generator for every set of texts, with CCGP."""
    records = [r for r in _records(texts=True) if r["method"] == "CCGP"]
    columns = _columns(records, TEXT_GENERATORS)
    scales = [f"{name}, {scale}" for scale in TEXT_SCALES for name in columns]
    lines = _head(["set", "n", "d", "K", *scales])
    for name in [*_names(records), "mean"]:
        chosen = [r for r in records if name in (r["set"], "mean")]
        size = [str(chosen[0][key]) for key in ("n_samples", "n_features", "n_clusters")]
        cells = [cell for scale in TEXT_SCALES for cell in _cells(chosen, scale, columns)]
        lines.append(_row([name, *(size if name != "mean" else ["", "", ""]), *cells]))
    return "\n".join(lines)


def _records(*, texts: bool = False, outside: bool = False) -> list[Record]:
    """Return the records of the sets in the halves, with those outside, or of the texts."""
    kept = read(ROOT / "benchmarks" / "generators" / "records.jsonl")
    records = [r for r in kept if (r["scale"] in TEXT_SCALES) == texts]
    return [r for r in records if outside or r["set"] not in OUTSIDE]


def _names(records: list[Record]) -> list[str]:
    return sorted({r["set"] for r in records}, key=str.lower)


def _halves(records: list[Record]) -> tuple[list[str], list[str]]:
    names = _names(records)
    return names[::2], names[1::2]


def _columns(records: list[Record], generators: tuple[str, ...]) -> tuple[str, ...]:
    """Return generators, and the estimator if every set has records of it."""
    own = {r["set"] for r in records if r["generator"] == DEFAULT}
    return (*generators, DEFAULT) if own == {r["set"] for r in records} else generators


def _cells(records: list[Record], scale: str, columns: tuple[str, ...]) -> list[str]:
    key, value = ("is_automatic", True) if scale == "auto" else ("scale", scale)
    chosen = {
        g: [r["ARI"] for r in records if r["generator"] == g and r[key] == value] for g in columns
    }
    if scale in ("none", "standard"):
        chosen[DEFAULT] = []  # it was run with the scale that it chooses
    means = [f"{np.mean(chosen[g]):.3f}" if chosen[g] else "" for g in columns]
    best = max(filter(None, means), key=float)
    return [f"**{mean}**" if mean == best else mean for mean in means]


def _head(names: list[str]) -> list[str]:
    return [_row(names), _row(["---"] * len(names))]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("| --- ", "|---").replace("|--- |", "|---|")
