"""`LabelLayout`: how to read a table of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode_with
from partita._input.containers import label_columns
from partita._input.table_coding import code_dtype
from partita.exceptions import InvalidEnsembleError

__all__ = ["MAX_UNUSED", "HasLayout", "LabelLayout", "dense_codes", "read_only"]

MAX_UNUSED = 1 << 16  # a table of all codes may have so many entries more than there are rows


@dataclass(frozen=True, eq=False)
class LabelLayout:
    """How to read a table of codes of shape (n_rows, n_partitions).

    A code is the index of a label in the categories of its partition. The largest value of the
    integer type is the code of a missing label. The clusters of all partitions together, the base
    clusters, are numbered 0..L-1, partition after partition.

    Attributes
    ----------
    dtype : numpy dtype
        Unsigned integer type of the codes.
    categories : tuple of arrays
        Per partition, the label that every code 0..K_i-1 stands for.
    partition_names : array of shape (n_partitions,) or None
        Names of the partitions. None: they have no names.
    """

    dtype: np.dtype[Any]
    categories: tuple[NDArray[Any], ...]
    partition_names: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        object.__setattr__(self, "categories", tuple(read_only(c) for c in self.categories))
        names = self.partition_names
        if names is not None:
            names = read_only(np.asarray(names, dtype=object))
        object.__setattr__(self, "partition_names", names)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle through the constructor, which makes the arrays read-only again.
        return type(self), (self.dtype, self.categories, self.partition_names)

    @classmethod
    def of(cls, categories: Sequence[NDArray[Any]], partition_names: Any = None) -> LabelLayout:
        """Make a layout with the narrowest integer type for these categories."""
        dtype = code_dtype(max(len(labels) for labels in categories))
        return cls(np.dtype(dtype), tuple(categories), partition_names)

    @property
    def n_partitions(self) -> int:
        """Number of partitions, m."""
        return len(self.categories)

    @property
    def missing_code(self) -> int:
        """The code of a missing label."""
        return int(np.iinfo(self.dtype).max)

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters in each partition, K_i."""
        return np.asarray([len(c) for c in self.categories], np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Index of the first base cluster of each partition, and L at the end."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    @property
    def n_base_clusters(self) -> int:
        """Number of clusters in all partitions together, L."""
        return int(self.offsets[-1])

    def select(self, columns: NDArray[np.int64]) -> LabelLayout:
        """Return the layout of some columns, in the given order."""
        names = self.partition_names
        return LabelLayout(
            self.dtype,
            tuple(self.categories[i] for i in columns.tolist()),
            None if names is None else names[columns],
        )

    def encode(self, columns: Sequence[NDArray[Any]], noise: str) -> tuple[NDArray[Any], int]:
        """Code new rows by these categories.

        A label that is not among the categories becomes missing. Returns the codes and the number
        of such labels.
        """
        codes, n_unknown = encode_with(columns, self.categories, noise)
        return np.where(codes < 0, self.missing_code, codes).astype(self.dtype), n_unknown

    def check_columns(self, partitions: Any) -> Sequence[NDArray[Any]]:
        """Return the label vectors of a table, which must have the columns of this layout."""
        columns, names = label_columns(partitions)
        if len(columns) != self.n_partitions:
            raise InvalidEnsembleError(
                f"X has {len(columns)} features (partitions), but {self.n_partitions} were fitted."
            )
        if names is not None and self.partition_names is not None:
            expected = self.partition_names.tolist()
            if names != expected:
                raise InvalidEnsembleError(f"Expected the columns {expected}, got {names}.")
        return columns

    def drop_unused(self, codes: NDArray[Any]) -> tuple[NDArray[Any], LabelLayout]:
        """Return codes and layout without the clusters that no row belongs to.

        The remaining codes keep their order, in the narrowest integer type.
        """
        used = [_are_used(codes[:, i], len(labels)) for i, labels in enumerate(self.categories)]
        for i, is_used in enumerate(used):
            if not is_used.any():
                raise InvalidEnsembleError(
                    f"Partition {self._name(i)!r} labels no sample (all its entries are missing). "
                    "Drop it."
                )
        kept = [labels[is_used] for labels, is_used in zip(self.categories, used, strict=True)]
        layout = LabelLayout.of(kept, self.partition_names)
        if layout.dtype == self.dtype and all(is_used.all() for is_used in used):
            return codes, layout
        recoded = np.empty(codes.shape, layout.dtype)
        for i, is_used in enumerate(used):
            new_code = np.full(len(is_used) + 1, layout.missing_code, layout.dtype)
            new_code[np.flatnonzero(is_used)] = np.arange(np.count_nonzero(is_used))
            recoded[:, i] = new_code[np.minimum(codes[:, i], len(is_used))]
        return recoded, layout

    def _name(self, i: int) -> str:
        return str(i) if self.partition_names is None else str(self.partition_names[i])


def dense_codes(codes: NDArray[Any], missing_code: int) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Number the codes that occur in each column 0, 1, ... in their order.

    This needs no table of all codes up to the largest one. Returns the new codes, with the largest
    value of their type as the missing code, and per column the old codes.
    """
    used = [np.unique(column[column != missing_code]) for column in codes.T]
    dtype = code_dtype(max(len(old) for old in used))
    dense = np.full(codes.shape, np.iinfo(dtype).max, dtype)
    for i, old in enumerate(used):
        labeled = codes[:, i] != missing_code
        dense[labeled, i] = np.searchsorted(old, codes[labeled, i])
    return dense, used


def _are_used(codes: NDArray[Any], n_clusters: int) -> NDArray[np.bool_]:
    """Return which of the codes 0..n_clusters-1 occur."""
    used = np.zeros(n_clusters + 1, bool)
    used[np.minimum(codes, n_clusters)] = True
    return used[:-1]


class HasLayout:
    """Attributes of a table of codes that its `layout` holds."""

    layout: LabelLayout

    @property
    def n_partitions(self) -> int:
        """Number of partitions, m."""
        return self.layout.n_partitions

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """Per partition, the label that every code stands for."""
        return self.layout.categories

    @property
    def partition_names(self) -> NDArray[Any] | None:
        """Names of the partitions, or None."""
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


def read_only(array: Any) -> Any:
    """Return a view that cannot be written to; the owner of the array still can."""
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view
