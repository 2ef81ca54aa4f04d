"""`load`: the data sets of the papers, from files, from scikit-learn or from OpenML."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy import sparse

from partita.exceptions import InvalidFileError

__all__ = ["Dataset", "list_names", "load"]

_SETS: dict[str, dict[str, Any]] = json.loads(
    resources.files("partita.datasets").joinpath("sets.json").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class Dataset:
    """A data set with its true classes.

    Attributes
    ----------
    name : str
        Name of the set.
    y : int array of shape (n_samples,)
        True classes, counted from 0.
    X : array or sparse array of shape (n_samples, n_features), or None
        Features. None for sets of several views and for sets of partitions.
    views : tuple of arrays or sparse arrays
        One table of features per view; empty for other sets.
    partitions : int array of shape (n_samples, n_partitions), or None
        Base partitions that the authors of a paper distribute. None for other sets.
    source : {"file", "scikit-learn", "OpenML"}
        Where the data come from.
    """

    name: str
    y: NDArray[np.int64]
    X: Any = None
    views: tuple[Any, ...] = ()
    partitions: NDArray[np.int64] | None = None
    source: str = "file"

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of true classes."""
        return len(np.unique(self.y))


def list_names() -> list[str]:
    """Return the names that `load` accepts.

    Returns
    -------
    list of str
        Names in alphabetical order. Names that start with ``pool_`` are sets of partitions, names
        that end with ``_mv`` have several views.

    Examples
    --------
    >>> from partita.datasets import list_names
    >>> "iris" in list_names()
    True
    """
    return sorted(_SETS)


def load(name: str, *, folder: str | Path | None = None, fetch: bool = False) -> Dataset:
    """Load a data set of the papers by its name.

    A file `<name>.npz` in `folder` comes first, then what scikit-learn contains, then OpenML.
    `pool_lung_spce` is in the file `spce_author_table.npz` of its authors. A file must have the
    checksum of the set, so that a result belongs to exactly these data.

    Parameters
    ----------
    name : str
        Name of the set, see `list_names`.
    folder : str or Path, optional
        Folder with the files. By default the environment variable ``PARTITA_DATA``; without it no
        file is read.
    fetch : bool, default=False
        Whether a set that is in neither place is fetched from OpenML. This needs a network.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If no place has the set. The message names every place and why it does not have it.
    InvalidFileError
        If a file does not have the checksum of the set, or OpenML has data of another shape.

    Examples
    --------
    >>> from partita.datasets import load
    >>> iris = load("iris")
    >>> iris.X.shape, iris.n_classes
    ((150, 4), 3)
    """
    if name not in _SETS:
        raise ValueError(f"name={name!r} is not a data set. Expected one of {list_names()}.")
    facts = _SETS[name]
    reasons = []
    if folder is None:
        folder = os.environ.get("PARTITA_DATA")
    if folder is None or "sha256" not in facts:
        reasons.append("no folder is set (folder, PARTITA_DATA)")
    elif (path := Path(folder) / facts.get("file", f"{name}.npz")).exists():
        return _read(name, path, facts)
    else:
        reasons.append(f"the folder has no {path.name}")
    if "sklearn" in facts:
        bunch = getattr(sklearn.datasets, facts["sklearn"])()
        return Dataset(name, bunch.target.astype(np.int64), X=bunch.data, source="scikit-learn")
    reasons.append("scikit-learn does not contain it")
    if "openml" not in facts:
        reasons.append("OpenML does not have these data")
    elif not fetch:
        reasons.append("fetch=False, so OpenML was not tried")
    else:
        try:
            return _fetch(name, facts)
        except OSError as error:  # no network, or the server does not answer
            reasons.append(f"OpenML cannot be reached ({error})")
    raise FileNotFoundError(f"The data set {name!r} is not here: {'; '.join(reasons)}.")


def _read(name: str, path: Path, facts: dict[str, Any]) -> Dataset:
    """Return the content of a file whose checksum is right."""
    checksum, expected = hashlib.sha256(path.read_bytes()).hexdigest(), facts["sha256"]
    if checksum != expected:
        raise InvalidFileError(
            f"{path.name} has the SHA-256 checksum {checksum}, expected {expected}. Replace it."
        )
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    for ours, theirs in facts.get("arrays", {}).items():  # a file of authors has its own names
        parts[ours] = parts.pop(theirs)
    y = parts["y"].ravel().astype(np.int64)
    if "members" in parts:
        first = y.min()  # authors may count classes from 1
        return Dataset(name, y - first, partitions=parts["members"].astype(np.int64))
    suffixes = [f"_view{i}" for i in range(1, 10)]
    views = [_table(parts, suffix) for suffix in suffixes if f"{_first(parts, suffix)}" in parts]
    if views:
        return Dataset(name, y, views=tuple(views))
    return Dataset(name, y, X=_table(parts, ""))


def _first(parts: dict[str, Any], suffix: str) -> str:
    """Return the name of the array that holds the values of a table."""
    return f"X{suffix}" if f"X{suffix}" in parts else f"data{suffix}"


def _table(parts: dict[str, Any], suffix: str) -> Any:
    """Return a dense or sparse table of features."""
    if f"X{suffix}" in parts:
        return parts[f"X{suffix}"].astype(np.float32)
    data, indices, indptr, shape = (
        parts[f"{name}{suffix}"] for name in ("data", "indices", "indptr", "shape")
    )
    columns = indices.astype(np.int32)
    return sparse.csr_array((data.astype(np.float32), columns, indptr), shape=tuple(shape))


def _fetch(name: str, facts: dict[str, Any]) -> Dataset:
    """Return a set of OpenML if its shape is right."""
    bunch = sklearn.datasets.fetch_openml(name=facts["openml"], version=1, as_frame=False)
    X, target = bunch.data, bunch.target
    y = np.unique(target, return_inverse=True)[1].astype(np.int64)
    shape = (len(y), X.shape[1], len(np.unique(y)))
    expected = (facts["n_samples"], facts["n_features"], facts["n_classes"])
    if shape != expected:
        raise InvalidFileError(
            f"{facts['openml']!r} of OpenML has {shape} samples, features and classes, expected "
            f"{expected} for {name!r}. Put a file {name}.npz into a folder and pass `folder`."
        )
    return Dataset(name, y, X=X, source="OpenML")
