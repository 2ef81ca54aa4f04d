"""`Table`: named columns of equal length and the ids of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode, warn_of_other_columns
from partita._input.containers import LabelTable
from partita.ensemble import Ensemble, LabelLayout
from partita.io._vocabulary import Coding

__all__ = ["NumberedColumns", "Table"]


@dataclass(frozen=True)
class Table:
    """Named columns with one entry per sample, as `read_labels` and `read_features` return them.

    Attributes
    ----------
    columns : mapping of str to array of shape (n_samples,)
        Missing entries are masked, NaN or None.
    ids : array of shape (n_samples,) or None
        Names of the samples. None: they have no names.
    id_name : str, default="id"
        Name of the column of the ids.
    source : str
        The file, for messages and provenance.
    """

    columns: Mapping[str, NDArray[Any]]
    ids: NDArray[Any] | None = None
    id_name: str = "id"
    source: str = field(default="", compare=False)

    @property
    def n_samples(self) -> int:
        return len(next(iter(self.columns.values())))

    def select(self, names: Iterable[str]) -> Table:
        """Return a table of some columns."""
        if isinstance(self.columns, NumberedColumns):
            return replace(self, columns=self.columns.select(names))
        return replace(self, columns={name: self.columns[name] for name in names})

    def codes(self, noise: str = "missing") -> tuple[NDArray[Any], LabelLayout]:
        """Return the columns as codes, and how to read them.

        Parameters
        ----------
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What a label of -1 means: no label, one cluster, or a cluster of its own per sample.
        """
        names = list(self.columns)
        if isinstance(self.columns, NumberedColumns) and noise != "singletons":
            return self.columns.codes(noise)
        codes, categories = encode(_label_columns(list(self.columns.values())), names, noise)
        return codes, LabelLayout(codes.dtype, categories, np.asarray(names, object))

    def ensemble(self, *, noise: str = "missing") -> Ensemble:
        """Return the columns as partitions.

        A sample without any label is kept; results have no label for it either. `noise` as in
        `codes`.
        """
        codes, layout = self.codes(noise)
        if noise != "singletons":
            warn_of_other_columns(layout.categories, list(self.columns), len(codes))
        return Ensemble.from_codes(
            codes,
            layout,
            unlabeled="keep",
            sample_ids=self.ids,
            provenance={"source": self.source} if self.source else {},
        )

    def matrix(self) -> NDArray[np.float64]:
        """Return the columns as features, shape (n_samples, n_columns)."""
        return np.column_stack(list(self.columns.values())).astype(np.float64, copy=False)


class NumberedColumns(Mapping[str, NDArray[Any]]):
    """Columns of few distinct values; a column is decoded at each access.

    `values` holds the distinct values of each column, `numbers` the index of each entry in them.
    """

    def __init__(
        self, numbers: Mapping[str, NDArray[np.int32]], values: Mapping[str, NDArray[Any]]
    ) -> None:
        self._numbers = numbers
        self._values = values

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._values[name][self._numbers[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def select(self, names: Iterable[str]) -> NumberedColumns:
        return NumberedColumns({name: self._numbers[name] for name in names}, self._values)

    def codes(self, noise: str) -> tuple[NDArray[Any], LabelLayout]:
        """Return the codes of all columns; only distinct values are sorted."""
        names = list(self)
        coding = Coding(names, [self._values[name] for name in names], noise)
        return coding.encode([self._numbers[name] for name in names]), coding.layout


def _label_columns(columns: list[NDArray[Any]]) -> Any:
    """Return whole numbers without gaps as one table, which is coded fastest."""
    plain = [np.ma.getdata(c) for c in columns if not np.ma.is_masked(c)]
    if len(plain) < len(columns) or len({c.dtype for c in plain}) > 1:
        return columns
    return LabelTable(np.column_stack(plain)) if plain[0].dtype.kind in "iu" else columns
