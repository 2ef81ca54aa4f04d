"""Files with cut or changed bytes: a table, or one documented exception that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita import CCGP, Ensemble, fuse
from partita.exceptions import InvalidEnsembleError, InvalidFileError
from partita.io import convert, read_features, read_graph, read_labels

N_DAMAGES = 40
TABLE = pd.DataFrame({"a": np.arange(60) % 3, "b": list("xyz") * 20})
WRITERS: dict[str, Callable[[Path], object]] = {
    "labels.csv": lambda path: TABLE.to_csv(path, index=False),
    "labels.parquet": TABLE.to_parquet,
    "labels.npy": lambda path: np.save(path, TABLE[["a", "a"]].to_numpy()),
    "labels.npz": lambda path: np.savez_compressed(path, labels=TABLE[["a", "a"]].to_numpy()),
    "saved.ensemble": lambda path: Ensemble.from_partitions(TABLE).save(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_one_documented_error(name: str, tmp_path: Path) -> None:
    whole, damaged, target = tmp_path / name, tmp_path / f"damaged-{name}", tmp_path / "out.csv"
    WRITERS[name](whole)
    content = whole.read_bytes()
    rng = np.random.default_rng(0)
    errors = []
    for attempt in range(N_DAMAGES):
        changed = bytearray(content)
        if attempt % 3:
            for place in rng.integers(0, len(changed), rng.integers(1, 20)):
                changed[place] = rng.integers(0, 256)
        else:
            del changed[rng.integers(0, len(changed)) :]
        damaged.write_bytes(changed)
        try:
            if name == "saved.ensemble":
                Ensemble.load(damaged)
            else:
                read_labels(damaged).ensemble()
                convert(damaged, target)
        except InvalidEnsembleError as error:
            errors.append(error)
        assert not list(tmp_path.glob(".*.partial"))  # a result is complete or absent
    assert len(errors) > N_DAMAGES // 4
    foreign = [error for error in errors if isinstance(error, InvalidFileError)]
    assert all(str(damaged) in str(error) and error.__cause__ for error in foreign)


@pytest.mark.parametrize("damage", ["cut", "empty", "no obs", "no var", "text for a matrix"])
def test_damaged_h5ad_files_are_one_documented_error(damage: str, tmp_path: Path) -> None:
    """Few damages only: on some changed bytes HDF5 itself does not return."""
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    path = tmp_path / "cells.h5ad"
    cells = anndata.AnnData(np.eye(60, 3), obs=TABLE.set_index(np.arange(60).astype(str)))
    cells.obsp["connectivities"] = np.eye(60)
    cells.write_h5ad(path)
    readers: dict[str, Callable[[], object]] = {
        "labels": lambda: read_labels(path, columns=["a", "b"]),
        "features": lambda: read_features(path),
        "graph": lambda: read_graph(path, "connectivities"),
    }
    affected = {"no var": ["features"], "text for a matrix": ["features", "graph"]}
    if damage in ("cut", "empty"):
        path.write_bytes(path.read_bytes()[: 3000 if damage == "cut" else 0])
    else:
        with h5py.File(path, "r+") as file:
            if damage == "text for a matrix":
                del file["X"], file["obsp/connectivities"]
                file["X"] = file["obsp/connectivities"] = "text"
            else:
                del file[damage.removeprefix("no ")]
    for name in affected.get(damage, readers):
        with pytest.raises(InvalidFileError, match=r"cells\.h5ad"):
            readers[name]()


def test_a_table_without_columns_is_refused(tmp_path: Path) -> None:
    pl.DataFrame().write_parquet(tmp_path / "empty.parquet")
    with pytest.raises(InvalidEnsembleError, match=r"empty\.parquet"):
        convert(tmp_path / "empty.parquet", tmp_path / "out.csv")


def test_wide_integers_and_mixed_names_of_columns() -> None:
    if hasattr(pl, "Int128"):  # the lowest version does not have it
        wide = pl.DataFrame({"a": pl.Series([1, 2, 2, 1], dtype=pl.Int128), "b": [1, 2, 2, 1]})
        assert fuse(wide, 2).labels.tolist() == [0, 1, 1, 0]
    mixed = pd.DataFrame({"a": [1, 2, 2, 1], 3: [1, 2, 2, 1]})
    assert CCGP(2).fit(mixed).labels_.tolist() == [0, 1, 1, 0]
