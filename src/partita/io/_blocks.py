"""The pieces that every file format reads and writes: blocks of rows and their description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.columns import match_columns
from partita.exceptions import InvalidEnsembleError

__all__ = [
    "Block",
    "Selection",
    "TableBlocks",
    "TableHeader",
    "choose_columns",
    "collect",
    "did_you_mean",
]

_N_LISTED = 20


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a table, and their sample ids if the table has any.

    A column is an array, in which missing values are masked, NaN or None. Columns read from a text
    file are tuples of cells.
    """

    columns: list[Any]
    ids: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.columns[0])


@dataclass(frozen=True)
class Selection:
    """The part of a file to read; the parameters of `read_features` with these names."""

    columns: Sequence[str] | None = None
    id_column: str | None = None
    header: bool = True
    encoding: str | None = None
    decimal: str = "."

    def choose(self, names: Sequence[str], source: str) -> list[str]:
        """Return the selected names, in the order of the file."""
        return choose_columns(names, self.columns, self.id_column, source)


@dataclass(frozen=True)
class TableBlocks:
    """An open table: its selected columns, and one pass over its rows."""

    names: list[str]
    blocks: Iterator[Block]
    id_name: str | None = None  # None: the table has no sample ids
    n_samples: int | None = None  # None: not known before the end
    is_text: bool = False  # whether columns are tuples of cells


@dataclass(frozen=True)
class TableHeader:
    """What a writer needs before the first block."""

    names: list[str]
    values: list[NDArray[Any]]  # per column, every value that occurs: types follow from them
    n_samples: int
    id_name: str | None = None  # None: there are no sample ids


def collect(blocks: Iterable[Block]) -> Block:
    """Join all blocks of a table into one."""
    parts = list(blocks)
    if len(parts) == 1:
        return parts[0]
    columns = [np.ma.concatenate(c) for c in zip(*(part.columns for part in parts), strict=True)]
    columns = [c if np.ma.is_masked(c) else np.ma.getdata(c) for c in columns]
    if parts[0].ids is None:
        return Block(columns)
    return Block(columns, [name for part in parts for name in part.ids or ()])


def choose_columns(
    names: Sequence[str], patterns: Sequence[str] | None, id_column: str | None, source: str
) -> list[str]:
    """Return the names that match a pattern, in the order of `names`.

    Without patterns, return all names but `id_column`. A pattern leaves out the results of an
    earlier consensus. `source` names the table in errors.
    """
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InvalidEnsembleError(
            f"{source} has more than one column named {repeated[0]!r}. Rename it; if the first "
            "line holds no names, say so (header=False, on the command line --no-header)."
        )
    if id_column is not None and id_column not in names:
        raise InvalidEnsembleError(
            f"{source} has no column {id_column!r}{did_you_mean(id_column, names)}; "
            f"{_listed(names)}."
        )
    others = [name for name in names if name != id_column]
    if not others:
        raise InvalidEnsembleError(f"{source} has no columns besides the ids.")
    if patterns is None:
        return others
    matched = {pattern: match_columns(others, pattern) for pattern in patterns}
    unmatched = [pattern for pattern, columns in matched.items() if not columns]
    if unmatched:
        raise InvalidEnsembleError(
            f"{source} has no column {unmatched[0]!r}{did_you_mean(unmatched[0], others)}; "
            f"{_listed(others)}."
        )
    chosen = {name for columns in matched.values() for name in columns}
    return [name for name in others if name in chosen]


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return " (did you mean ...?)" for a name that is close to another one, otherwise ""."""
    in_lower_case = {str(other).lower(): str(other) for other in names}
    close = get_close_matches(name.lower(), in_lower_case, n=1)
    return f" (did you mean {in_lower_case[close[0]]!r}?)" if close else ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _N_LISTED} more" if len(names) > _N_LISTED else ""
    return f"it has {', '.join(map(repr, names[:_N_LISTED]))}{more}"
