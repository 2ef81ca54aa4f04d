"""Write an ensemble to one `.npz` file without pickles, and read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from partita._atomic import write_atomically
from partita._damage import explained_reading
from partita._input.columns import name_array
from partita._json import json_default
from partita.exceptions import InvalidEnsembleError

__all__ = ["read_archive", "write_archive"]

_FORMAT = 2


def write_archive(path: str | Path, arrays: dict[str, Any], header: dict[str, Any]) -> None:
    """Write arrays and a JSON header; values that JSON cannot hold become text."""
    arrays = {name: array for name, array in arrays.items() if array is not None}
    text = json.dumps({"format": _FORMAT, **header}, default=json_default)
    header_array = np.asarray(text)
    write_atomically(path, lambda f: np.savez_compressed(f, header=header_array, **arrays))


def read_archive(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the header of a file; lists of labels in the header become arrays."""
    with explained_reading(path), open(path, "rb") as file:
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
