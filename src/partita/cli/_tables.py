"""Tables of the command line: `-` is CSV on stdin or stdout, everything else a file or a store."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._messages import Talk, hinting

if TYPE_CHECKING:
    from partita.ensemble import Ensemble
    from partita.io import Table

__all__ = [
    "Labels",
    "Source",
    "check_output",
    "check_report",
    "in_order_of",
    "one_column",
    "write",
]


@dataclass(frozen=True)
class Labels:
    """An ensemble, what its samples' ids are called, and true classes where they were asked for."""

    ensemble: Ensemble
    id_name: str = "id"
    truth: Any = None

    def with_ids(self, columns: Mapping[str, Any]) -> Table:
        """A result per sample, beside the samples' ids."""
        from partita.io import Table

        return Table(dict(columns), self.ensemble.sample_ids, self.id_name)


@dataclass(frozen=True)
class Source:
    """A table and how the user says it is to be read."""

    path: str
    columns: Sequence[str] | None = None
    id_column: str | None = None
    missing: Sequence[str] | None = None
    no_header: bool = False

    def labels(self) -> Table:
        from partita.io import read_labels

        return self._read(read_labels)

    def features(self) -> Table:
        from partita.io import read_features

        with hinting('choose columns with --columns "x*"; name the ids with --id-column NAME'):
            return self._read(read_features)

    def _read(self, read: Any) -> Any:
        from partita.io import MISSING

        return read(
            sys.stdin if self.path == "-" else self.path,
            columns=self.columns,
            id_column=self.id_column,
            missing=MISSING if self.missing is None else self.missing,
            header=not self.no_header,
        )

    def ensemble(self, noise: str, talk: Talk, truth_column: str | None = None) -> Labels:
        """The partitions in a file or a store; the column of the truth is none of them."""
        if Path(self.path).is_dir():
            return self._stored(truth_column)
        source = self
        if truth_column is not None and self.columns is not None:
            source = replace(self, columns=[*self.columns, truth_column])
        table = source.labels()
        columns = dict(table.columns)
        truth = None
        if truth_column is not None:
            _, truth = one_column(table, truth_column, "--truth-column")
            del columns[truth_column]
        ensemble = replace(table, columns=columns).ensemble(noise=noise)
        without = int((~ensemble.observed).all(axis=1).sum())
        if without:
            talk.say(f"{without} of {ensemble.n_samples} samples have no label and get none")
        return Labels(ensemble, table.id_name, truth)

    def _stored(self, truth_column: str | None) -> Labels:

        if self.columns or self.id_column or self.missing or self.no_header or truth_column:
            raise ValueError(
                f"{self.path} is a store, which has names, ids and missing labels of its own; "
                "options about columns and missing labels are for files."
            )
        from partita.io import LabelStore

        return Labels(LabelStore.open(self.path).to_ensemble(unlabeled="keep"))


def one_column(table: Table, name: str | None, option: str) -> tuple[str, Any]:
    """The column that an option names; without a name, the only one there is."""
    listed = ", ".join(table.columns)
    if name is None and len(table.columns) > 1:
        raise ValueError(f"{table.source} has several columns ({listed}): say which, {option}.")
    name = next(iter(table.columns)) if name is None else name
    if name not in table.columns:
        raise ValueError(f"{table.source} has no column {name!r}; it has {listed}.")
    return name, table.columns[name]


def in_order_of(ids: Any, n_samples: int, other: Table, values: Any) -> Any:
    """A column of another table in the order of these samples: by id, or as it stands."""
    if ids is None or other.ids is None:
        if n_samples != other.n_samples:
            raise ValueError(
                f"{other.source} has {other.n_samples} samples, {n_samples} were expected. Name "
                "the --id-column of both tables to match them."
            )
        return values
    place = {sample: i for i, sample in enumerate(other.ids.tolist())}
    if len(place) < other.n_samples:
        raise ValueError(f"{other.source} has ids that occur more than once.")
    absent = [sample for sample in ids.tolist() if sample not in place]
    if absent:
        raise ValueError(
            f"{other.source} lacks {len(absent)} of the samples; the first is {absent[0]!r}."
        )
    return values[[place[sample] for sample in ids.tolist()]]


def check_report(path: Path | None) -> None:
    """Refuse before the work a report that could not be written."""
    if path is None:
        return
    if path.suffix not in (".html", ".json"):
        raise ValueError(f"A report must end in .html or .json, got {str(path)!r}.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(path.absolute().parent)!r} to write into.")


def check_output(output: str | None, as_json: bool) -> None:
    """Refuse before the work what could not be written, or twice to one place."""
    from partita.io import check_target

    if output == "-" and as_json:
        raise ValueError("--json and --output - both want stdout. Write one of them to a file.")
    if output not in (None, "-"):
        check_target(str(output))


def write(table: Table, output: str | None, *, base: str) -> None:
    """Write to a file, or as CSV to stdout; `base` is the input, in case both are .h5ad."""
    from partita.io import write_table

    if output in (None, "-"):
        write_table(sys.stdout, table)
    else:
        is_h5ad = base.endswith(".h5ad")
        write_table(str(output), table, base=Path(base) if is_h5ad else None)
