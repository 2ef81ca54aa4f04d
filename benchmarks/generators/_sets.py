"""Data sets of the comparison, in halves: one to design on, one to judge on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from benchmarks.data_folder import data_folder
from partita import datasets

__all__ = ["HALVES", "OUTSIDE", "SETS", "TEXTS", "load", "scaled"]

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
# In no half: scale="auto" standardizes it, and loses.
OUTSIDE = ("FCT",)
# Counts of terms, sparse. No generator was designed on them.
TEXTS = ("fbis", "hitech", "k1b", "re0", "re1", "tr11", "tr12", "tr23", "tr41", "tr45", "wap")


def load(name: str) -> tuple[Any, NDArray[np.int64]]:
    """Return features and classes, from scikit-learn or the folder that PARTITA_DATA names."""
    if name in TEXTS:
        texts = datasets.load(name, folder=data_folder())
        return texts.X, texts.y
    if name == "digits":
        return load_digits(return_X_y=True)
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(f"No folder with {name}.npz: set PARTITA_DATA.")
    with np.load(folder / f"{name}.npz") as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def scaled(X: Any, scale: str) -> Any:
    """Return features as they are, of unit variance ("standard"), or as "tf-idf"."""
    match scale:
        case "standard":
            return np.asarray(StandardScaler().fit_transform(X))
        case "tf-idf":
            return TfidfTransformer().fit_transform(X)
    return X
