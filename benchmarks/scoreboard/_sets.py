"""Benchmark sets: features, true labelings and tables of labels by other algorithms.

Two layouts are read. The public one is `<battery>/<name>.data.gz` (a matrix of numbers, separated
by blanks or commas), `.labels0.gz`, `.labels1.gz`, ... (one integer per line; 0 is noise and is not
scored) and `.result<K>.gz` (CSV with one column of labels per algorithm, in the same folder or in
any folder with the name of the battery; equal names of columns are told apart by their folders).
The other one is `<name>.npz` with `y` and either `X`, the parts `data`, `indices`, `indptr`,
`shape` of a sparse matrix, or `members`, a table of partitions.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.metrics import evaluate

__all__ = ["BenchmarkSet", "Table", "find_sets"]

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """Labels by other algorithms, one column each; without names, a pool to draw from."""

    labels: Labels
    names: list[str] | None


@dataclass(frozen=True, eq=False)
class BenchmarkSet:
    """One set of a folder; its files are read when they are needed."""

    name: str
    files: list[Path]

    @cached_property
    def truths(self) -> list[Labels]:
        """The true labelings, 0 where a sample is noise."""
        if self._is_npz:
            codes = np.unique(self._arrays["y"], return_inverse=True)[1]
            return [codes.ravel().astype(np.int64) + 1]
        files = [f for f in self.files if re.search(r"\.labels\d+\.gz$", f.name)]
        return [_labels(f) for f in sorted(files)]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that the files contain, so that equal names of different data differ."""
        content = hashlib.sha256()
        if self._is_npz:
            for name, array in sorted(self._arrays.items()):
                content.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
                content.update(np.ascontiguousarray(array).tobytes())
        else:
            for file in sorted(self.files, key=_kind_and_folder):
                content.update(f"{_kind_and_folder(file)}\n".encode())
                content.update(gzip.decompress(file.read_bytes()))
        return content.hexdigest()[:16]

    @property
    def n_samples(self) -> int:
        return len(self.truths[0])

    @property
    def true_ks(self) -> list[int]:
        """Numbers of clusters of the true labelings, one or several."""
        return sorted({len(np.unique(y[y > 0])) for y in self.truths})

    @cached_property
    def features(self) -> Any:
        """A dense or sparse matrix, or None."""
        if not self._is_npz:
            files = [f for f in self.files if f.name.endswith(".data.gz")]
            return _matrix(files[0]) if files else None
        arrays = self._arrays
        if "X" in arrays:
            return arrays["X"].astype(np.float64)
        if "data" not in arrays:
            return None
        parts = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
        matrix = sp.csr_matrix(parts, shape=tuple(arrays["shape"]))
        return matrix[:, np.unique(matrix.indices)]  # without words that no document has

    def table(self, k: int | None) -> Table | None:
        """Return the labels of other algorithms for K clusters, or for every K there is."""
        if self._is_npz:
            members = self._arrays.get("members")
            return None if members is None else Table(members.astype(np.int64), None)
        names, labels, folders = [], [], []
        for file, file_k in self._results.items():
            if k in (None, file_k):
                own, table = _columns(file)
                names += [name if k is not None else f"{name} (K = {file_k})" for name in own]
                folders += [file.parent] * len(own)
                labels.append(table)
        if not labels:
            return None
        return Table(np.column_stack(labels), _told_apart(names, folders))

    @property
    def table_ks(self) -> list[int] | None:
        """Numbers of clusters of the tables of labels; None for a pool, which has many."""
        return None if self._is_npz else sorted({*self._results.values()})

    @property
    def _results(self) -> dict[Path, int]:
        matches = {file: re.search(r"\.result(\d+)\.gz$", file.name) for file in self.files}
        return {file: int(match[1]) for file, match in matches.items() if match}

    def score(self, labels: Any, k: int | None = None) -> dict[str, float]:
        """Return ARI and NMI against the labeling that fits best, over the samples of its classes.

        With `k`, only labelings with as many clusters count.
        """
        labels = np.asarray(labels)
        scores = [
            evaluate(y[y > 0], labels[y > 0])
            for y in self.truths
            if k is None or len(np.unique(y[y > 0])) == k
        ]
        best = max(scores, key=lambda score: score["ARI"])
        return {name: round(float(best[name]), 4) for name in ("ARI", "NMI")}

    def problem(self) -> str | None:
        """Return why the set cannot be used; None if it can."""
        try:
            truths, table, n = self.truths, self.table(None), self.n_samples
            features = self.features
        except (ValueError, KeyError, OSError, EOFError, zlib.error) as error:
            return f"{type(error).__name__}: {error}"
        lengths = {"labels": {len(y) for y in truths} - {n}}
        lengths["features"] = set() if features is None else {features.shape[0]} - {n}
        lengths["results"] = set() if table is None else {len(table.labels)} - {n}
        for name, others in lengths.items():
            if others:
                return f"{min(others)} rows of {name} for {n} labels"
        if min(int(y.min()) for y in truths) < 0 or not all((y > 0).any() for y in truths):
            return "true labels must be integers from 0, not all of them 0"
        entries = features.data if sp.issparse(features) else features
        if entries is not None and not np.isfinite(entries).all():
            return "features must be finite"
        return None

    @property
    def _is_npz(self) -> bool:
        return self.files[0].suffix == ".npz"

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        with np.load(self.files[0]) as arrays:
            return dict(arrays)


def find_sets(folder: Path) -> list[BenchmarkSet]:
    """Return the sets of a folder and its subfolders that have one table of features or labels."""
    sets = [
        BenchmarkSet(str(file.relative_to(folder).with_suffix("")), [file])
        for file in folder.rglob("*.npz")
        if not file.stem.endswith("_mv")  # several tables of features
    ]
    by_name: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*.gz")):
        if match := re.fullmatch(r"(.+)\.(data|labels\d+|result\d+)\.gz", file.name):
            by_name.setdefault(f"{file.parent.name}/{match[1]}", []).append(file)
    sets += [
        BenchmarkSet(name, files)
        for name, files in by_name.items()
        if any(".labels" in file.name for file in files)
    ]
    return sorted(sets, key=lambda each: each.name.lower())


def _labels(file: Path) -> Labels:
    """Return one integer per line; 1e0 and 1.0 are integers too."""
    numbers = np.loadtxt(file, ndmin=1)
    if numbers.ndim != 1 or not np.array_equal(numbers, np.round(numbers)):
        raise ValueError(f"{file.name} must have one integer per line")
    return numbers.astype(np.int64)


def _matrix(file: Path) -> NDArray[np.float64]:
    with gzip.open(file, "rt", encoding="utf-8") as text:
        first = next((line for line in text if line.strip()), "")
    return np.loadtxt(file, ndmin=2, delimiter="," if "," in first else None)


def _columns(file: Path) -> tuple[list[str], Labels]:
    """Return the names of the algorithms and their labels."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        names, *rows = filter(None, csv.reader(text))  # without empty lines
    return names, np.asarray(rows, np.float64).astype(np.int64)


def _told_apart(names: list[str], folders: list[Path]) -> list[str]:
    """Return the names, equal ones with their folder, and with a number inside one folder."""
    root = os.path.commonpath(folders)
    counts = Counter(names)
    full = [
        f"{name}, {folder.relative_to(root)}" if counts[name] > 1 and str(folder) != root else name
        for name, folder in zip(names, folders, strict=True)
    ]
    for j, name in enumerate(full):
        number = 1
        while full[j] in full[:j]:
            number += 1
            full[j] = f"{name}, {number}"
    return full


def _kind_and_folder(file: Path) -> tuple[str, str]:
    """Return "labels0" for "blobs.labels0.gz", and the folder, which may name other algorithms."""
    kind = file.name.split(".")[-2]
    return kind, file.parent.parent.name if kind.startswith("result") else ""
