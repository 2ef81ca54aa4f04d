"""Printed values of the papers, read from the CSV files in `printed`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Printed:
    """A printed value. `digits` counts its decimals; `text` is set where no number is printed."""

    mean: float | None
    deviation: float | None
    digits: int
    text: str = ""

    def __str__(self) -> str:
        if self.mean is None:
            return self.text
        spread = "" if self.deviation is None else f" ± {self.deviation:.{self.digits}f}"
        return f"{self.mean:.{self.digits}f}{spread}"


def read_file(path: Path) -> dict[tuple[str, str, str], Printed]:
    """Return the values of a file by data set, method and measure; none if there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            (line["data"], line["method"], line["measure"]): read_printed(line) for line in lines
        }


def read_printed(line: dict[str, str]) -> Printed:
    """Return a printed value; what is no number, such as N/A, is kept as text."""
    mean, deviation = line["mean"], line["deviation"]
    try:
        value = float(mean)
    except ValueError:
        return Printed(None, None, 0, mean)
    digits = len(mean.partition(".")[2])
    return Printed(value, float(deviation) if deviation else None, digits)
