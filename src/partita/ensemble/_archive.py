"""An ensemble in one `.npz` file, without pickles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from partita._input.coding import name_array
from partita._json import json_default
from partita.exceptions import InvalidEnsembleError

__all__ = ["read_archive", "write_archive"]

_FORMAT = 2


def write_archive(path: str | Path, arrays: dict[str, Any], header: dict[str, Any]) -> None:
    """Write arrays and a JSON header; values that JSON does not know become text."""
    arrays = {name: array for name, array in arrays.items() if array is not None}
    text = json.dumps({"format": _FORMAT, **header}, default=json_default)
    with open(path, "wb") as file:
        np.savez_compressed(file, header=np.asarray(text), **arrays)


def read_archive(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `write_archive` wrote; label lists of the header become arrays."""
    with open(path, "rb") as file:
        arrays = dict(np.load(file, allow_pickle=False)) if is_zipfile(file) else {}
    if "header" not in arrays:
        raise InvalidEnsembleError(f"{path} is not an ensemble written by `Ensemble.save`.")
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != _FORMAT:
        raise InvalidEnsembleError(
            f"{path} has format {header['format']}, this version reads {_FORMAT}."
        )
    header["categories"] = tuple(name_array(labels) for labels in header["categories"])
    if header["sample_ids"] is not None:
        header["sample_ids"] = name_array(header["sample_ids"])
    return arrays, header
