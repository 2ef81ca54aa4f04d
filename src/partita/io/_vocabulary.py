"""The labels of a column, gathered in a first pass, and their codes in a second."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import distinct_labels, encode, encode_with
from partita.exceptions import InvalidEnsembleError
from partita.io._delimited import typed_labels

__all__ = ["TextVocabulary", "ValueVocabulary"]

_AT_MOST = 1 << 20


class ValueVocabulary:
    """Labels that have types, as in parquet and NumPy's files."""

    def __init__(self, name: str, noise: str) -> None:
        self._name = name
        self._noise = noise
        self._seen: dict[Any, None] = {}
        self.categories: NDArray[Any] = np.empty(0, np.int64)

    def see(self, column: NDArray[Any]) -> None:
        self._seen.update(dict.fromkeys(distinct_labels(column, self._name)))
        _check_size(self._seen, self._name)

    def settle(self) -> None:
        """Number the labels as `Ensemble.from_partitions` would."""
        values = np.fromiter(self._seen, object, len(self._seen))
        if not len(values):
            values = np.asarray([None], object)  # the error of a partition without labels
        self.categories = encode([values], [self._name], self._noise)[1][0]

    def codes(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Codes, -1 where a label is missing."""
        codes, unknown = encode_with([column], [self.categories], self._noise)
        if unknown:
            raise InvalidEnsembleError(
                f"Column {self._name!r} has changed while it was read: {unknown} labels are new."
            )
        return codes[:, 0]


class TextVocabulary:
    """Labels as they are written in a text file; types follow from all of a column together."""

    def __init__(self, name: str, noise: str, missing: Sequence[str]) -> None:
        self._name = name
        self._noise = noise
        self._missing = missing
        self._code_of: dict[str, int] = {}
        self.categories: NDArray[Any] = np.empty(0, np.int64)

    def see(self, cells: tuple[str, ...]) -> None:
        self._code_of.update(dict.fromkeys(cells, -1))
        _check_size(self._code_of, self._name)

    def settle(self) -> None:
        """Number the labels as `Ensemble.from_partitions` would."""
        texts = list(self._code_of)
        values = typed_labels(texts, np.arange(len(texts), dtype=np.int32), self._missing)
        table, (self.categories,) = encode([values], [self._name], self._noise)
        codes = table[:, 0].astype(np.int64)
        codes[table[:, 0] == np.iinfo(table.dtype).max] = -1
        self._code_of = dict(zip(texts, codes.tolist(), strict=True))

    def codes(self, cells: tuple[str, ...]) -> NDArray[np.int64]:
        """Codes, -1 where a label is missing."""
        try:
            return np.fromiter(map(self._code_of.__getitem__, cells), np.int64, len(cells))
        except KeyError as error:
            raise InvalidEnsembleError(
                f"Column {self._name!r} has changed while it was read: the label {error} is new."
            ) from error


def _check_size(seen: Collection[Any], name: str) -> None:
    if len(seen) > _AT_MOST:
        raise InvalidEnsembleError(
            f"Column {name!r} has more than {_AT_MOST} different labels. If it names the samples, "
            "say so by id_column; otherwise leave it out by columns."
        )
