"""`Ensemble`: many partitions of the same samples, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_weights
from partita._input.coding import encode, name_array, warn_of_other_columns
from partita._input.containers import as_frame, label_columns
from partita.ensemble._archive import read_archive, write_archive
from partita.ensemble._reduction import compress
from partita.ensemble.layout import LabelLayout, read_only
from partita.exceptions import InvalidEnsembleError

__all__ = ["Ensemble", "as_ensemble"]

_ARRAYS = ("codes", "weights", "inverse", "partition_order", "sample_ids")


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Partitions of the same samples.

    Make one with `from_partitions`, `from_frame`, `from_anndata` or `from_codes`. Every consensus
    method works on `compress()`, the distinct rows of the table: samples with the same row of
    labels cannot be told apart by any consensus function.

    Attributes
    ----------
    codes : array of shape (n_rows, n_partitions), unsigned
        Code of each row's cluster in each partition, 0..K_i-1, or `missing_code`.
    layout : LabelLayout
        How to read the codes: integer type, categories and names of the partitions.
    weights : array of shape (n_rows,)
        How many samples (or how much weight) a row stands for.
    inverse : array of shape (n_samples,) or None
        Row of each sample once compressed, -1 for a sample without any label. None: a row is a
        sample.
    partition_order : array of shape (n_partitions,)
        Position each column had in the user's table.
    sample_ids : array of shape (n_samples,) or None
        Names of the samples.
    provenance : mapping
        Where the labels come from, as text and numbers.
    """

    codes: NDArray[Any]
    layout: LabelLayout
    weights: NDArray[np.float64]
    inverse: NDArray[np.int64] | None = None
    partition_order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sample_ids: NDArray[Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.partition_order) == 0:
            object.__setattr__(self, "partition_order", np.arange(self.n_partitions))
        object.__setattr__(self, "provenance", dict(self.provenance))
        for name in _ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle through the constructor, which makes the arrays read-only again.
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    # -- construction ------------------------------------------------------------------------

    @classmethod
    def from_partitions(
        cls,
        partitions: Any,
        *,
        weights: Any = None,
        noise: str = "missing",
        unlabeled: str = "error",
        sample_ids: Any = None,
        partition_names: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Ensemble:
        """Read a table of labels, a data frame, or a list of label vectors.

        Parameters
        ----------
        partitions : array of shape (n_samples, n_partitions), data frame, or list of label vectors
            Integers, floats or strings; None and NaN are missing, and so is -1 (or "-1") unless
            `noise` says otherwise. Labels are equal where Python says so: 1 and 1.0 are one
            cluster, 1 and "1" are two. Other text is a label as it is written, even "nan".
        weights : array of shape (n_samples,), optional
            Positive weights of the samples. By default every sample has weight 1.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What a label of -1 means: no label, one cluster, or a cluster of its own per sample.
        unlabeled : {"error", "keep"}, default="error"
            What to do with a sample without any label: raise an error, or keep it and label it -1
            in every result.
        sample_ids : sequence of length n_samples, optional
            Names of the samples. By default samples have no names.
        partition_names : sequence of str, optional
            Names of the partitions. By default the column names of a data frame, otherwise none.
        provenance : mapping, optional
            Where the labels come from, as text and numbers.

        Examples
        --------
        >>> from partita import Ensemble
        >>> Ensemble.from_partitions([["a", "a", "b"], [1, 1, None]])
        Ensemble(3 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
        """
        columns, column_names = label_columns(partitions)
        names = list(partition_names) if partition_names is not None else column_names
        if names is not None and len(names) != len(columns):
            raise InvalidEnsembleError(
                f"partition_names must name {len(columns)} partitions, got {len(names)} names."
            )
        codes, categories = encode(columns, names, noise)
        if noise != "singletons":
            warn_of_other_columns(categories, names, len(codes))
        return cls._checked(
            codes,
            LabelLayout(
                codes.dtype, categories, None if names is None else np.asarray(names, object)
            ),
            weights=weights,
            unlabeled=unlabeled,
            sample_ids=sample_ids,
            provenance=provenance,
        )

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[Any],
        layout: LabelLayout | None = None,
        *,
        weights: Any = None,
        unlabeled: str = "error",
        sample_ids: Any = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Ensemble:
        """Take a table that is already coded; nothing is read or sorted again.

        Parameters
        ----------
        codes : array of shape (n_samples, n_partitions)
            With a layout: unsigned codes of its type. Without one: integers from 0 on, negative
            ones are missing, and the codes themselves become the categories.
        layout : LabelLayout, optional
            Clusters without samples are dropped from it.
        weights, unlabeled, sample_ids, provenance
            As in `from_partitions`.
        """
        if layout is None:
            sizes = np.maximum(codes.max(axis=0, initial=-1) + 1, 0).tolist()
            layout = LabelLayout.of([np.arange(size) for size in sizes])
            codes = np.where(codes < 0, layout.missing_code, codes).astype(layout.dtype)
        codes, layout = layout.drop_unused(codes)
        return cls._checked(
            codes,
            layout,
            weights=weights,
            unlabeled=unlabeled,
            sample_ids=sample_ids,
            provenance=provenance,
        )

    @classmethod
    def _checked(
        cls,
        codes: NDArray[Any],
        layout: LabelLayout,
        *,
        weights: Any,
        unlabeled: str,
        sample_ids: Any,
        provenance: Mapping[str, Any] | None,
    ) -> Ensemble:
        _check_unlabeled(codes, unlabeled)
        ids = None if sample_ids is None else _copied_names(sample_ids)
        if ids is not None and ids.shape != (len(codes),):
            raise InvalidEnsembleError(
                f"sample_ids must have shape ({len(codes)},), got {ids.shape}."
            )
        return cls(
            codes=codes,
            layout=layout,
            weights=check_weights(weights, len(codes), "weights").copy(),
            sample_ids=ids,
            provenance=provenance or {},
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Sequence[str] | str | None = None,
        id_column: str | None = None,
        **options: Any,
    ) -> Ensemble:
        """Read a data frame of any library, one partition per column.

        Parameters
        ----------
        frame : data frame (pandas, polars, pyarrow, ...)
        columns : list of names or a pattern such as "leiden_*", optional
            Which columns are partitions. By default all but `id_column`.
        id_column : str, optional
            Column with the names of the samples. By default the index of a pandas data frame.
        **options
            As in `from_partitions`.
        """
        table = as_frame(frame)
        if table is None:
            raise InvalidEnsembleError(
                f"Expected a data frame, got {type(frame).__name__}. Use "
                "`Ensemble.from_partitions`."
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
        return cls.from_partitions([series[c] for c in chosen], sample_ids=ids, **options)

    @classmethod
    def from_anndata(cls, adata: Any, columns: Sequence[str] | str, **options: Any) -> Ensemble:
        """Read columns of `adata.obs` by name or pattern ("leiden_*")."""
        return cls.from_frame(adata.obs, columns=columns, **options)

    # -- shape -------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.inverse is None else len(self.inverse)

    @property
    def n_partitions(self) -> int:
        return int(self.codes.shape[1])

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """Per partition, the label that every code stands for."""
        return self.layout.categories

    @property
    def partition_names(self) -> NDArray[Any] | None:
        return self.layout.partition_names

    @property
    def missing_code(self) -> int:
        """The code of a missing label."""
        return self.layout.missing_code

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters in each partition, K_i."""
        return self.layout.n_clusters

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Index of the first base cluster of each partition, and L at the end."""
        return self.layout.offsets

    @property
    def n_base_clusters(self) -> int:
        """Number of clusters in all partitions together, L."""
        return self.layout.n_base_clusters

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Which labels are present, shape (n_rows, n_partitions)."""
        return self.codes != self.missing_code

    @cached_property
    def n_missing(self) -> int:
        """Number of missing entries of the table."""
        return int(np.count_nonzero(self.codes == self.missing_code))

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
        """Reduce to distinct rows with weights, in a canonical order.

        The order of rows, clusters and columns depends only on which samples share clusters, and
        on weights up to a factor. Shuffled rows, renamed labels and permuted columns therefore
        give the same table, and so does everything computed from it, ties and random starts
        included. First appearance decides only between rows that no such property distinguishes.
        The cost is O(n m) unless many rows tie. The result is computed once and kept.
        """
        return self if self.is_compressed else self._compressed

    @cached_property
    def _compressed(self) -> Ensemble:
        return compress(self)

    def expand(self, values: NDArray[Any], fill_value: Any = -1) -> NDArray[Any]:
        """Expand values per row to values per sample.

        Samples without any label get `fill_value`.
        """
        values = np.asarray(values)
        if len(values) != self.n_rows:
            raise ValueError(f"Expected a value for each of {self.n_rows} rows, got {len(values)}.")
        if self.inverse is None:
            return values
        without = self.inverse < 0
        if without.any():
            values = values.astype(np.result_type(values, np.min_scalar_type(fill_value)))
        expanded = values[self.inverse]
        expanded[without] = fill_value
        return expanded

    def subset(self, *, samples: Any = None, partitions: Any = None) -> Ensemble:
        """Select some samples and some partitions, by index or mask."""
        if self.is_compressed:
            raise InvalidEnsembleError("Take the subset before compressing.")
        rows = np.arange(self.n_rows)[slice(None) if samples is None else samples].reshape(-1)
        columns = np.arange(self.n_partitions)[slice(None) if partitions is None else partitions]
        columns = columns.reshape(-1)
        if not len(rows) or not len(columns):
            raise InvalidEnsembleError(
                f"Expected at least one partition of at least one sample, got {len(columns)} "
                f"partitions of {len(rows)} samples."
            )
        return Ensemble.from_codes(
            self.codes[np.ix_(rows, columns)],
            self.layout.select(columns),
            weights=self.weights[rows],
            unlabeled="keep",
            sample_ids=None if self.sample_ids is None else self.sample_ids[rows],
            provenance=self.provenance,
        )

    def encode(self, partitions: Any, noise: str = "missing") -> tuple[NDArray[Any], int]:
        """Code new rows by the categories of this ensemble.

        Parameters
        ----------
        partitions : table of labels
            With the columns of the table this ensemble was made from, in the same order.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What a label of -1 means.

        Returns
        -------
        codes : array of shape (n_samples, n_partitions)
            A label that the ensemble does not have is coded as missing.
        n_unknown : int
            The number of such labels.
        """
        columns = self.layout.select(np.argsort(self.partition_order)).check_columns(partitions)
        return self.layout.encode([columns[i] for i in self.partition_order], noise)

    # -- disk --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write one `.npz` file without pickles.

        Sample ids and provenance that are neither numbers nor text are stored as text.
        """
        names = self.partition_names
        write_archive(
            path,
            {
                "codes": self.codes,
                "weights": self.weights,
                "inverse": self.inverse,
                "partition_order": self.partition_order,
            },
            {
                "categories": [labels.tolist() for labels in self.categories],
                "sample_ids": None if self.sample_ids is None else self.sample_ids.tolist(),
                "partition_names": None if names is None else names.tolist(),
                "provenance": dict(self.provenance),
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> Ensemble:
        """Read a file that `save` wrote."""
        arrays, header = read_archive(path)
        codes = arrays["codes"]
        return cls(
            codes=codes,
            layout=LabelLayout(codes.dtype, header["categories"], header["partition_names"]),
            weights=arrays["weights"],
            inverse=arrays.get("inverse"),
            partition_order=arrays["partition_order"],
            sample_ids=header["sample_ids"],
            provenance=header["provenance"],
        )


def _check_unlabeled(codes: NDArray[Any], unlabeled: str) -> None:
    """Refuse samples without any label, unless they are to be kept and some have one."""
    if unlabeled not in ("error", "keep"):
        raise ValueError(f'unlabeled must be "error" or "keep", got {unlabeled!r}')
    without = np.flatnonzero((codes == np.iinfo(codes.dtype).max).all(axis=1))
    if len(without) and unlabeled == "error":
        raise InvalidEnsembleError(
            f"{len(without)} sample(s) have no label in any partition (first: row "
            f'{without[0]}). Drop them, or pass `Ensemble.from_partitions(..., unlabeled="keep")` '
            "to get -1 for them."
        )
    if len(without) == len(codes):
        raise InvalidEnsembleError("No sample has a label in any partition.")


def _copied_names(values: Any) -> NDArray[Any]:
    return np.array(values) if hasattr(values, "__array__") else name_array(list(values))


def as_ensemble(partitions: Any, noise: str = "missing") -> Ensemble:
    """Return an `Ensemble` as it is, and read anything else.

    A `LabelStore` is read into memory, within the memory budget; other input goes through
    `Ensemble.from_partitions`.
    """
    if isinstance(partitions, Ensemble):
        return partitions
    if hasattr(partitions, "to_ensemble"):
        ensemble: Ensemble = partitions.to_ensemble()
        return ensemble
    return Ensemble.from_partitions(partitions, noise=noise)
