"""Data sets of the comparison, in halves: one to design on, one to judge on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks.data_folder import data_folder

__all__ = ["HALVES", "SETS", "load", "scaled"]

# In alphabetical order, so that the halves are not a choice.
SETS = (
    "aggregation",
    "ar",
    "breast_tissue",
    "breast_w",
    "coil20",
    "digits",
    "ecoli",
    "glass",
    "glioma",
    "ionosphere",
    "iris",
    "isolet_3119",
    "jaffe",
    "orl",
    "SPF",
    "tox171",
    "umist",
    "warpar10p",
    "wine",
    "yale",
)
HALVES = {"design": SETS[::2], "held out": SETS[1::2]}


def load(name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return features and classes, from scikit-learn or the folder that PARTITA_DATA names."""
    if name == "digits":
        return load_digits(return_X_y=True)
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(f"No folder with {name}.npz: set PARTITA_DATA.")
    with np.load(folder / f"{name}.npz") as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def scaled(X: NDArray[Any], scale: str) -> NDArray[Any]:
    """Return the features as they are ("none"), or with unit variance ("standard")."""
    return X if scale == "none" else np.asarray(StandardScaler().fit_transform(X))
