"""Code the labels of a file that is read in blocks.

A first step numbers the distinct cells of a column in order of appearance. Once all have been seen,
their types follow and every number gets its code. Only distinct cells are parsed and sorted.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode
from partita._input.columns import read_column
from partita.ensemble import LabelLayout
from partita.exceptions import InvalidEnsembleError

__all__ = [
    "MISSING_TOKENS",
    "MISSING_VALUES",
    "Coding",
    "TextVocabulary",
    "ValueVocabulary",
    "without_missing_values",
]

# Other text that often means a missing value, in lower case.
MISSING_TOKENS = frozenset({"?", "-", "--", ".", "n/a", "#n/a", "na", "none", "unknown", "missing"})
MISSING_VALUES = ("", "NA", "NaN", "nan", "None", "null")
# At most 15 digits, which floating point holds exactly.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?")


class _Numbers(dict[Any, int]):
    """Number every distinct key in order of appearance."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class _Vocabulary(ABC):
    """The distinct values of one column, at most `max_size` of them."""

    def __init__(
        self, name: str, missing_values: Sequence[str], max_size: int | None = None
    ) -> None:
        self.name = name
        self._missing_values = missing_values
        self._max_size = max_size
        self._numbers = _Numbers()
        self._is_final = False

    def number(self, cells: Any) -> NDArray[np.int32]:
        """Return the numbers of cells; new ones are added until `values` is called."""
        numbers = self._number(cells)
        if self._max_size is not None and len(self._numbers) > self._max_size:
            if self._is_final:
                raise InvalidEnsembleError(
                    f"Column {self.name!r} has changed while it was read: the label "
                    f"{list(self._numbers)[-1]!r} is new."
                )
            raise InvalidEnsembleError(
                f"Column {self.name!r} has more than {self._max_size} different labels. If it "
                "names the samples, say so by id_column; otherwise leave it out by columns."
            )
        return numbers

    def values(self) -> NDArray[Any]:
        """Return the value of every number; missing ones are masked, NaN or None."""
        self._max_size, self._is_final = len(self._numbers), True
        return self._values(list(self._numbers))

    @abstractmethod
    def _number(self, cells: Any) -> NDArray[np.int32]: ...

    @abstractmethod
    def _values(self, distinct: list[Any]) -> NDArray[Any]: ...


class TextVocabulary(_Vocabulary):
    """The distinct cells of one column of a text file.

    The type follows from all labels of the column together: whole numbers if every label is
    written as one, decimals if every label is a plain decimal number, text otherwise. Text stays
    as it is written: in a column with "01" or "1e5" no label is a number.
    """

    def _number(self, cells: tuple[str, ...]) -> NDArray[np.int32]:
        return np.fromiter(map(self._numbers.__getitem__, cells), np.int32, len(cells))

    def _values(self, distinct: list[str]) -> NDArray[Any]:
        texts = [None if text in self._missing_values else text for text in distinct]
        labels = [text for text in texts if text is not None]
        if labels and all(map(_WHOLE.fullmatch, labels)):
            numbers = np.asarray([0 if text is None else int(text) for text in texts])
            return np.ma.masked_array(numbers, [text is None for text in texts])
        if labels and all(map(_DECIMAL.fullmatch, labels)):
            return np.asarray([np.nan if text is None else float(text) for text in texts])
        return np.asarray(texts, object)


class ValueVocabulary(_Vocabulary):
    """The distinct values of one column of a file that keeps types. The last value is None."""

    def _number(self, column: NDArray[Any]) -> NDArray[np.int32]:
        column = without_missing_values(column, self._missing_values)
        codes, labels = read_column(column, self.name)
        # A missing label has code -1 and so the number -1, the index of the last value.
        numbers = [*map(self._numbers.__getitem__, labels.tolist()), -1]
        return np.asarray(numbers, np.int32)[codes]

    def _values(self, distinct: list[Any]) -> NDArray[Any]:
        return np.fromiter([*distinct, None], object, len(distinct) + 1)


class Coding:
    """Turn numbers of vocabularies into the codes that `Ensemble.from_partitions` gives.

    `values` holds the value of every number, per partition. `layout` says how to read the codes.
    """

    def __init__(self, names: Sequence[str], values: Sequence[NDArray[Any]], noise: str) -> None:
        coded = [encode([v], [name], noise) for v, name in zip(values, names, strict=True)]
        self.layout = LabelLayout.of([labels for _, (labels,) in coded], list(names))
        self._codes = []
        for codes, _ in coded:
            self._codes.append(codes[:, 0].astype(self.layout.dtype))
            self._codes[-1][codes[:, 0] == np.iinfo(codes.dtype).max] = self.layout.missing_code

    def encode(self, numbers: Sequence[NDArray[np.int32]]) -> NDArray[Any]:
        """Return the codes of rows, shape (n_rows, n_partitions)."""
        codes = np.empty((len(numbers[0]), len(numbers)), self.layout.dtype)
        for i, column in enumerate(numbers):
            codes[:, i] = self._codes[i][column]
        return codes


def without_missing_values(values: NDArray[Any], missing_values: Sequence[str]) -> NDArray[Any]:
    """Replace text that stands for a missing label by None; other types stay as they are."""
    if values.dtype.kind not in "OUST":
        return values
    tokens = frozenset(missing_values)
    return np.asarray([None if v in tokens else v for v in values.tolist()], object)
