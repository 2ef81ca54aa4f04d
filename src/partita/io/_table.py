"""`Table`: named columns of equal length and the ids of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.exceptions import InvalidEnsembleError

__all__ = ["MISSING", "Table", "choose_columns", "without_tokens"]

MISSING = ("", "NA", "NaN", "nan", "None", "null")
_SHOWN = 20


@dataclass(frozen=True)
class Table:
    """Named columns, one entry per sample, as `read_labels` and `read_features` return them.

    Attributes
    ----------
    columns : mapping of str to array of shape (n_samples,)
        Missing entries are masked, NaN or None.
    ids : array of shape (n_samples,) or None
        Names of the samples.
    id_name : str
        Name of the column the ids come from and go to.
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

    def ensemble(self, *, noise: str = "missing") -> Ensemble:
        """The columns as partitions; a sample without any label is kept and gets none."""
        return Ensemble.from_partitions(
            list(self.columns.values()),
            noise=noise,
            unlabeled="keep",
            sample_ids=self.ids,
            partition_names=list(self.columns),
            provenance={"source": self.source} if self.source else {},
        )

    def matrix(self) -> NDArray[np.float64]:
        """The columns as features, shape (n_samples, n_columns)."""
        return np.column_stack(list(self.columns.values())).astype(np.float64, copy=False)


def choose_columns(
    names: Sequence[str], patterns: Sequence[str] | None, id_column: str | None, source: str
) -> list[str]:
    """Columns whose names match a pattern, in the order of the file; all but the ids by default."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidEnsembleError(
            f"{source} has more than one column named {twice[0]!r}. Rename it; if the first line "
            "holds no names, say so (header=False, on the command line --no-header)."
        )
    if id_column is not None and id_column not in names:
        raise InvalidEnsembleError(f"{source} has no column {id_column!r}; {_listed(names)}.")
    others = [name for name in names if name != id_column]
    if patterns is None:
        return others
    idle = [p for p in patterns if not any(fnmatchcase(name, p) for name in others)]
    if idle:
        raise InvalidEnsembleError(f"{source} has no column {idle[0]!r}; {_listed(others)}.")
    return [name for name in others if any(fnmatchcase(name, p) for p in patterns)]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"it has {', '.join(map(repr, names[:_SHOWN]))}{more}"


def without_tokens(values: NDArray[Any], tokens: Sequence[str]) -> NDArray[Any]:
    """Text that stands for a missing label becomes None; numbers stay as they are."""
    if values.dtype.kind not in "OUST":
        return values
    missing = frozenset(tokens)
    return np.asarray([None if v in missing else v for v in values.tolist()], object)
