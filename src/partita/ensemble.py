"""`Ensemble`: many partitions of the same samples, as frozen data.

The table holds one small code per sample and partition; the largest value of its type means
"missing". `compress` reduces it to distinct rows, on which every method of the library works:
samples with the same row of labels cannot be told apart by any consensus function.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._order import canonical_order
from partita._threads import run_shares
from partita._validation import (
    as_frame,
    check_weights,
    encode,
    encode_with,
    label_columns,
    name_array,
    warn_of_other_columns,
)
from partita.exceptions import InvalidEnsembleError
from partita.store import LabelStore
from partita.store._sealed import plain

__all__ = ["Ensemble", "as_ensemble"]

_FORMAT = 1
_ROWS_AT_ONCE = 1 << 16
_ARRAYS = ("labels", "weights", "inverse", "partition_order", "sample_ids", "partition_names")


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Partitions of the same samples.

    Make one with `from_labels`, `from_partitions`, `from_frame` or `from_anndata`.

    Attributes
    ----------
    labels : array of shape (n_rows, n_partitions), unsigned
        Code of each row's cluster in each partition, 0..K_i-1, or `missing`.
    categories : tuple of arrays
        The original label of every code, per partition.
    weights : array of shape (n_rows,)
        How many samples (or how much weight) a row stands for.
    inverse : array of shape (n_samples,) or None
        Row of each sample once compressed, -1 for a sample without any label. None: a row is a
        sample.
    partition_order : array of shape (n_partitions,)
        Position each column had in the user's table.
    sample_ids, partition_names : arrays or None
    provenance : mapping
        Where the labels come from, in words.
    """

    labels: NDArray[Any]
    categories: tuple[NDArray[Any], ...]
    weights: NDArray[np.float64]
    inverse: NDArray[np.int64] | None = None
    partition_order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sample_ids: NDArray[Any] | None = None
    partition_names: NDArray[Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.partition_order) == 0:
            object.__setattr__(self, "partition_order", np.arange(self.n_partitions))
        object.__setattr__(self, "provenance", dict(self.provenance))
        object.__setattr__(self, "categories", tuple(_read_only(c) for c in self.categories))
        for name in _ARRAYS:
            object.__setattr__(self, name, _read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: NumPy forgets that an array is read-only
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    # -- making one --------------------------------------------------------------------------

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        *,
        weights: Any = None,
        noise: str = "missing",
        unlabelled: str = "error",
        sample_ids: Any = None,
        partition_names: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Ensemble:
        """Read a label matrix of shape (n_samples, n_partitions), a data frame, or a list of
        label vectors.

        Parameters
        ----------
        labels : array-like, data frame, or list of label vectors
            Integers, floats or strings; None and NaN are missing, and so is -1 (or "-1") unless
            `noise` says otherwise. Labels are equal where Python says so: 1 and 1.0 are one
            cluster, 1 and "1" are two. Other text is a name as it stands, even "nan".
        weights : array of shape (n_samples,), optional
            Positive weights of the samples.
        noise : {"missing", "cluster", "singletons"}
            What a label of -1 means: no label, one cluster of its own, or a cluster per sample.
        unlabelled : {"error", "keep"}
            A sample without any label is an error, or kept and labelled -1 in every result.
        sample_ids, partition_names : sequences, optional
        provenance : mapping, optional

        Examples
        --------
        >>> from partita import Ensemble
        >>> Ensemble.from_labels([["a", "a", "b"], [1, 1, None]])
        Ensemble(3 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
        """
        columns, found_names = label_columns(labels)
        names = list(partition_names) if partition_names is not None else found_names
        if names is not None and len(names) != len(columns):
            raise InvalidEnsembleError(
                f"partition_names must name {len(columns)} partitions, got {len(names)} names."
            )
        table, categories = encode(columns, names, noise)
        if noise != "singletons":
            warn_of_other_columns(categories, names, len(table))
        _check_unlabelled(table, unlabelled)
        ids = None if sample_ids is None else _copied_names(sample_ids)
        if ids is not None and ids.shape != (len(table),):
            raise InvalidEnsembleError(
                f"sample_ids must have shape ({len(table)},), got {ids.shape}."
            )
        return cls(
            labels=table,
            categories=categories,
            weights=check_weights(weights, len(table), "weights").copy(),
            sample_ids=ids,
            partition_names=None if names is None else np.asarray(names, dtype=object),
            provenance=provenance or {},
        )

    @classmethod
    def from_partitions(cls, partitions: Sequence[Any], **options: Any) -> Ensemble:
        """Read a list of label vectors, one per partition; options as in `from_labels`."""
        return cls.from_labels(list(partitions), **options)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        id_column: str | None = None,
        columns: Sequence[str] | str | None = None,
        **options: Any,
    ) -> Ensemble:
        """Read a data frame of any library, one partition per column.

        Parameters
        ----------
        frame : data frame (pandas, polars, pyarrow, ...)
        id_column : str, optional
            Column with the samples' names; a pandas index is used where there is no such column.
        columns : list of names or a pattern such as "leiden_*", optional
            Which columns are partitions; all but `id_column` by default.
        **options
            As in `from_labels`.
        """
        table = as_frame(frame)
        if table is None:
            raise InvalidEnsembleError(
                f"Expected a data frame, got {type(frame).__name__}. Use `Ensemble.from_labels`."
            )
        series = dict(zip(table.columns, table.iter_columns(), strict=True))
        names = [c for c in series if c != id_column]
        if isinstance(columns, str):
            chosen = [c for c in names if fnmatchcase(str(c), columns)]
        else:
            chosen = names if columns is None else list(columns)
        absent = [c for c in chosen if c not in names]
        if absent or not chosen or (id_column is not None and id_column not in series):
            raise InvalidEnsembleError(
                f"No such column(s): columns={columns!r}, id_column={id_column!r}; the frame has "
                f"{list(series)}."
            )
        ids = options.pop("sample_ids", None)
        if ids is None and id_column is not None:
            ids = series[id_column].to_list()
        elif ids is None:
            ids = nw.maybe_get_index(table)
        options.setdefault("partition_names", [str(c) for c in chosen])
        return cls.from_labels([series[c] for c in chosen], sample_ids=ids, **options)

    @classmethod
    def from_anndata(cls, adata: Any, keys: Sequence[str] | str, **options: Any) -> Ensemble:
        """Read columns of `adata.obs` by name or pattern (`"leiden_*"`)."""
        return cls.from_frame(adata.obs, columns=keys, **options)

    # -- shape -------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return int(self.labels.shape[0])

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.inverse is None else len(self.inverse)

    @property
    def n_partitions(self) -> int:
        return int(self.labels.shape[1])

    @property
    def missing(self) -> int:
        """The code that stands for "no label"."""
        return int(np.iinfo(self.labels.dtype).max)

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters in each partition, K_i."""
        return np.asarray([len(c) for c in self.categories], np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each partition's clusters start when all are numbered through; last: their sum."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    @property
    def n_all_clusters(self) -> int:
        """Clusters in all partitions together, L."""
        return int(self.offsets[-1])

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Which labels are there, shape (n_rows, n_partitions)."""
        return self.labels != self.missing

    @cached_property
    def n_missing(self) -> int:
        """Missing entries of the table."""
        return int(np.count_nonzero(self.labels == self.missing))

    @property
    def is_compressed(self) -> bool:
        return self.inverse is not None

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        clusters = f"{low}" if low == high else f"{low} to {high}"
        parts = [
            f"{self.n_samples} samples",
            f"{self.n_partitions} partition{'s' * (self.n_partitions != 1)}",
            f"{clusters} clusters each",
        ]
        if self.is_compressed:
            parts.append(f"{self.n_rows} distinct rows")
        if self.n_missing:
            parts.append(f"{self.n_missing} label{'s' * (self.n_missing != 1)} missing")
        return f"Ensemble({', '.join(parts)})"

    # -- reduction ---------------------------------------------------------------------------

    def compress(self) -> Ensemble:
        """Distinct rows with their weights, in an order that knows neither names nor row order.

        Rows are ordered by what they are connected to in the graph of rows, clusters and
        partitions (first appearance decides only where no name-free property was found to tell
        rows apart), each partition's clusters are numbered by first appearance in that order, and
        columns are sorted. Shuffled rows, renamed labels, permuted columns or weights in another
        unit thus give the same table, and whatever is computed from it, ties and random starts
        included. O(n m) unless many rows tie.
        """
        if self.is_compressed:
            return self
        inverse = np.empty(self.n_rows, np.int64)
        first = np.empty(self.n_rows, np.int64)
        n_distinct = _kernels.rows.distinct(self.labels, inverse, first)
        labels = self.labels
        if n_distinct < self.n_rows:
            labels = _read_only(labels[first[:n_distinct]])  # kernels are compiled once for all
        # summed from the smallest up, so that not even rounding depends on the order of samples
        ascending = np.argsort(self.weights, kind="stable")
        weights = np.bincount(
            inverse[ascending], self.weights[ascending], minlength=n_distinct
        ).astype(np.float64, copy=False)

        # a row without any label takes no part, not even in the order of the others
        rows = np.arange(n_distinct)
        if self.n_missing:
            rows = np.flatnonzero((labels != self.missing).any(axis=1))
        labelled = labels if len(rows) == n_distinct else _read_only(labels[rows])
        rows = rows[canonical_order(labelled, self.missing, self.offsets, weights[rows])]
        new_code = np.empty(self.n_all_clusters, np.int64)
        code, offsets = labels.dtype.type(self.missing), self.offsets.astype(np.uint32)
        number, rename = _kernels.rows.number_by_appearance, _kernels.rows.rename
        run_shares(
            lambda first, last: number(labels, code, offsets, rows, first, last, new_code),
            self.n_partitions,
            labels.size,
        )

        narrow_code = new_code.astype(labels.dtype)

        def renamed(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
            out = np.empty((len(rows), len(columns)), labels.dtype)
            table = labels, code, offsets, narrow_code, rows, columns.astype(np.uint32)
            run_shares(lambda start, stop: rename(*table, start, stop, out), len(out), out.size)
            return out

        columns = np.arange(self.n_partitions)
        columns = _column_order(lambda n: renamed(rows[:n], columns), len(rows))
        ordered = renamed(rows, columns)
        position = np.full(n_distinct, -1, np.int64)
        position[rows] = np.arange(len(rows))
        return replace(
            self,
            labels=ordered,
            categories=tuple(self._renamed_categories(i, new_code) for i in columns.tolist()),
            weights=weights[rows],
            inverse=position[inverse],
            partition_order=self.partition_order[columns],
            partition_names=None if self.partition_names is None else self.partition_names[columns],
        )

    def _renamed_categories(self, i: int, new_code: NDArray[np.int64]) -> NDArray[Any]:
        codes = new_code[self.offsets[i] : self.offsets[i + 1]]
        renamed = np.empty_like(self.categories[i])
        renamed[codes] = self.categories[i]
        return renamed

    def expand(self, values: NDArray[Any], missing: Any = -1) -> NDArray[Any]:
        """Values per row to values per sample; `missing` for samples without any label."""
        values = np.asarray(values)
        if len(values) != self.n_rows:
            raise ValueError(f"Expected a value for each of {self.n_rows} rows, got {len(values)}.")
        if self.inverse is None:
            return values
        without = self.inverse < 0
        if without.any():
            values = values.astype(np.result_type(values, np.min_scalar_type(missing)))
        expanded = values[self.inverse]
        expanded[without] = missing
        return expanded

    def subset(self, *, samples: Any = None, partitions: Any = None) -> Ensemble:
        """The ensemble of some samples and some partitions, by index or mask."""
        if self.is_compressed:
            raise InvalidEnsembleError("Take the subset before compressing.")
        rows = np.arange(self.n_rows)[slice(None) if samples is None else samples].reshape(-1)
        columns = np.arange(self.n_partitions)[slice(None) if partitions is None else partitions]
        columns = columns.reshape(-1)
        values = [
            np.where(
                self.labels[rows, i] == self.missing, -1, self.labels[rows, i].astype(np.int64)
            )
            for i in columns
        ]
        chosen = Ensemble.from_labels(
            values,
            weights=self.weights[rows],
            unlabelled="keep",
            sample_ids=None if self.sample_ids is None else self.sample_ids[rows],
            partition_names=None
            if self.partition_names is None
            else list(self.partition_names[columns]),
            provenance=self.provenance,
        )
        # from_labels saw codes; give the clusters their original names back
        names = tuple(
            self.categories[i][codes] for i, codes in zip(columns, chosen.categories, strict=True)
        )
        return replace(chosen, categories=names)

    def encode(self, labels: Any, noise: str = "missing") -> tuple[NDArray[Any], int]:
        """Code new label rows by this ensemble's names.

        `labels` has the columns of the table this ensemble was made from, in the same order. A
        label that the ensemble does not know becomes missing; their number is returned too.
        """
        columns, names = label_columns(labels)
        if len(columns) != self.n_partitions:
            raise InvalidEnsembleError(
                f"X has {len(columns)} features (partitions), but {self.n_partitions} were fitted."
            )
        if names is not None and self.partition_names is not None:
            expected = self.partition_names[np.argsort(self.partition_order)].tolist()
            if names != expected:
                raise InvalidEnsembleError(f"Expected the columns {expected}, got {names}.")
        codes, unknown = encode_with(
            [columns[i] for i in self.partition_order], self.categories, noise
        )
        return np.where(codes < 0, self.missing, codes).astype(self.labels.dtype), unknown

    # -- disk --------------------------------------------------------------------------------

    @staticmethod
    def open(path: str | Path, *, checked: bool = True) -> LabelStore:
        """Open a store: an ensemble whose rows are never all in memory.

        A `LabelStore` has the shape, names and codes of an ensemble and reads its rows a block at
        a time. With `checked=False` they are not compared with their checksums.
        """
        return LabelStore.open(path, checked=checked)

    @classmethod
    def from_store(cls, store: LabelStore | str | Path, *, unlabelled: str = "error") -> Ensemble:
        """Read all rows of a store into memory, if the memory budget has room for them.

        Clusters that were declared and hold no sample are left out. `unlabelled` as in
        `from_labels`.
        """
        if not isinstance(store, LabelStore):
            store = LabelStore.open(store)
        store.require_complete()
        shape = (store.n_samples, store.n_partitions)
        require_memory(
            shape[0] * (shape[1] * store.dtype.itemsize + 8),
            f"Reading {shape[0]} samples of {shape[1]} partitions into memory",
            lambda _: "Work from the store itself: `Ensemble.open(path)`.",
        )
        labels = np.empty(shape, store.dtype)
        used = np.zeros((store.n_partitions, store.missing + 1), bool)
        for start, stop in store.blocks():
            rows = store.read(start, stop, labels[start:stop])
            for i in range(store.n_partitions):
                used[i, rows[:, i]] = True
        _check_unlabelled(labels, unlabelled)
        categories = []
        for i, names in enumerate(store.categories):
            there = used[i, : len(names)]
            if not there.any():
                raise InvalidEnsembleError(f"Partition {i} labels no sample. Drop it.")
            if not there.all():
                new_code = np.full(store.missing + 1, store.missing, store.dtype)
                new_code[np.flatnonzero(there)] = np.arange(np.count_nonzero(there))
                labels[:, i] = new_code[labels[:, i]]
            categories.append(names[there])
        return cls(
            labels=labels,
            categories=tuple(categories),
            weights=np.ones(store.n_samples),
            sample_ids=store.sample_ids,
            partition_names=store.partition_names,
            provenance=store.provenance,
        )

    def to_store(self, path: str | Path, *, rows_per_chunk: int | None = None) -> LabelStore:
        """Write a new store, one row per sample and the partitions in the user's order.

        Examples
        --------
        >>> import tempfile
        >>> from partita import Ensemble
        >>> ensemble = Ensemble.from_labels([["a", "a", "b"], [1, 1, None]])
        >>> store = ensemble.to_store(tempfile.mkdtemp() + "/labels")
        >>> store
        LabelStore(3 samples, 2 partitions, 1 to 2 clusters each, 6 bytes of uint8)
        >>> Ensemble.from_store(store)
        Ensemble(3 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
        """
        weights = np.bincount(self.inverse[self.inverse >= 0]) if self.inverse is not None else 1
        if np.any(self.weights != weights):
            raise InvalidEnsembleError("A store keeps no weights, and these are not all 1.")
        columns = np.argsort(self.partition_order)
        names = self.partition_names
        writer = LabelStore.create(
            path,
            self.n_samples,
            [self.categories[i] for i in columns],
            partition_names=None if names is None else list(names[columns]),
            provenance=self.provenance,
            rows_per_chunk=rows_per_chunk,
        )
        for start in range(0, self.n_samples, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, self.n_samples)
            rows = np.arange(start, stop) if self.inverse is None else self.inverse[start:stop]
            block = self.labels[rows][:, columns]
            block[rows < 0] = self.missing
            writer.write(start, block)
        if self.sample_ids is not None:
            writer.append_sample_ids(self.sample_ids.tolist())
        writer.finish()
        return LabelStore.open(path)

    def save(self, path: str | Path) -> None:
        """Write one `.npz` file without pickles; sample ids and provenance that are neither numbers
        nor text are stored as text."""
        arrays: dict[str, Any] = {"labels": self.labels, "weights": self.weights}
        arrays["partition_order"] = self.partition_order
        if self.inverse is not None:
            arrays["inverse"] = self.inverse
        header = {
            "format": _FORMAT,
            "categories": [c.tolist() for c in self.categories],
            "sample_ids": None if self.sample_ids is None else self.sample_ids.tolist(),
            "partition_names": None
            if self.partition_names is None
            else self.partition_names.tolist(),
            "provenance": dict(self.provenance),
        }
        with open(path, "wb") as file:
            text = json.dumps(header, default=plain)
            np.savez_compressed(file, header=np.asarray(text), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Ensemble:
        """Read what `save` wrote."""
        with open(path, "rb") as file:
            arrays = dict(np.load(file, allow_pickle=False)) if is_zipfile(file) else {}
        if "header" not in arrays:
            raise InvalidEnsembleError(f"{path} is not an ensemble written by `Ensemble.save`.")
        header = json.loads(str(arrays["header"]))
        if header["format"] != _FORMAT:
            raise InvalidEnsembleError(
                f"{path} has format {header['format']}, this version reads {_FORMAT}."
            )
        return cls(
            labels=arrays["labels"],
            categories=tuple(name_array(c) for c in header["categories"]),
            weights=arrays["weights"],
            inverse=arrays.get("inverse"),
            partition_order=arrays["partition_order"],
            sample_ids=None if header["sample_ids"] is None else name_array(header["sample_ids"]),
            partition_names=None
            if header["partition_names"] is None
            else np.asarray(header["partition_names"], dtype=object),
            provenance=header["provenance"],
        )


def _check_unlabelled(table: NDArray[Any], unlabelled: str) -> None:
    """Refuse samples without any label, unless they are to be kept and some have one."""
    if unlabelled not in ("error", "keep"):
        raise ValueError(f'unlabelled must be "error" or "keep", got {unlabelled!r}')
    without = np.flatnonzero((table == np.iinfo(table.dtype).max).all(axis=1))
    if len(without) and unlabelled == "error":
        raise InvalidEnsembleError(
            f"{len(without)} sample(s) have no label in any partition (first: row "
            f'{without[0]}). Drop them, or pass `Ensemble.from_labels(..., unlabelled="keep")` '
            "to get -1 for them."
        )
    if len(without) == len(table):
        raise InvalidEnsembleError("No sample has a label in any partition.")


def _column_order(head: Callable[[int], NDArray[Any]], n_rows: int) -> NDArray[np.int64]:
    """The order of the columns by their entries from the first row on; `head` gives the first n."""
    n = 64  # mostly enough to tell columns apart
    while True:
        columns = [column.tobytes() for column in np.ascontiguousarray(head(n).T)]
        if n >= n_rows or len(set(columns)) == len(columns):
            return np.asarray(sorted(range(len(columns)), key=columns.__getitem__), np.int64)
        n *= 8


def _copied_names(values: Any) -> NDArray[Any]:
    return np.array(values) if hasattr(values, "__array__") else name_array(list(values))


def _read_only(array: Any) -> Any:
    """A view that cannot be written to; whoever made the array still can."""
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


def as_ensemble(labels: Any, noise: str = "missing") -> Ensemble:
    """An ensemble as it is, anything else through `Ensemble.from_labels`."""
    if isinstance(labels, Ensemble):
        return labels
    return Ensemble.from_labels(labels, noise=noise)
