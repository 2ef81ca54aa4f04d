"""The folder of the real data sets, which are no part of the project."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["data_folder"]

_ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path | None:
    """Return PARTITA_DATA, or the folder shared/data beside the project, or None."""
    if "PARTITA_DATA" in os.environ:
        return Path(os.environ["PARTITA_DATA"])
    beside = _ROOT.parent / "shared" / "data"
    return beside if beside.is_dir() else None
