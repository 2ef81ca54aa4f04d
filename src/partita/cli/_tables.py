"""Input and output tables of commands: a file, a store, or `-` for CSV on stdin or stdout."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._messages import Messages

if TYPE_CHECKING:
    from partita.ensemble import Ensemble
    from partita.io import LabelStore, Table

__all__ = [
    "InputPartitions",
    "Source",
    "check_output",
    "check_report",
    "in_order_of",
    "one_column",
    "write",
]

_DECIMALS = re.compile(r"[+-]?(\d*[.,]\d+([eE][+-]?\d+)?|\d+[eE]-\d+)")
_MANY_DECIMALS = 20  # a column with more different numbers with decimals holds no labels


@dataclass(frozen=True)
class InputPartitions:
    """Partitions that a command reads.

    Attributes
    ----------
    ensemble : Ensemble
    id_name : str, default="id"
        Name of the column of sample ids.
    truth : array or None
        True classes, if the command names their column. None: it does not.
    """

    ensemble: Ensemble
    id_name: str = "id"
    truth: Any = None

    def with_ids(self, columns: Mapping[str, Any]) -> Table:
        """Return a table of results per sample, with the ids of the samples."""
        from partita.io import Table

        return Table(dict(columns), self.ensemble.sample_ids, self.id_name)


@dataclass(frozen=True)
class Source:
    """A table to read, and the options for reading it."""

    path: str
    columns: Sequence[str] | None = None
    id_column: str | None = None
    missing_values: Sequence[str] | None = None
    no_header: bool = False
    encoding: str | None = None

    def labels(self) -> Table:
        """Read a table of labels."""
        from partita.io import read_labels

        return self._read(read_labels)

    def features(self, use: str | None = None, **options: Any) -> Table:
        """Read a table of features; the parameters are those of `read_features`."""
        from partita.io import read_features

        return self._read(partial(read_features, use=use, **options))

    def _read(self, read: Any) -> Any:
        from partita.io import MISSING_VALUES

        table = read(
            sys.stdin if self.path == "-" else self.path,
            columns=self.columns,
            id_column=self.id_column,
            missing_values=MISSING_VALUES if self.missing_values is None else self.missing_values,
            header=not self.no_header,
            encoding=self.encoding,
        )
        _check_repeated_ids(table)
        return table

    def store(self, truth_column: str | None = None) -> LabelStore | None:
        """Open the label store at the path; return None if the path is no folder."""
        if not Path(self.path).is_dir():
            return None
        if self.columns or self.id_column or self.missing_values or self.no_header or truth_column:
            raise ValueError(
                f"{self.path} is a store, which has names, ids and missing labels of its own; "
                "options about columns and missing labels are for files."
            )
        from partita.io import LabelStore

        return LabelStore.open(self.path)

    def ensemble(
        self, noise: str, messages: Messages, truth_column: str | None = None
    ) -> InputPartitions:
        """Read the partitions of a file or a store, and the true classes from their column."""
        store = self.store(truth_column)
        if store is not None:
            return InputPartitions(store.to_ensemble(unlabeled="keep"))
        source = self
        if truth_column is not None and self.columns is not None:
            source = replace(self, columns=[*self.columns, truth_column])
        table = source.labels()
        truth = None
        if truth_column is not None:
            _, truth = one_column(table, truth_column, "--truth-column")
            table = table.select([name for name in table.columns if name != truth_column])
        ensemble = table.ensemble(noise=noise)
        _check_labels(ensemble, table.source, messages)
        n_unlabeled = int((~ensemble.observed).all(axis=1).sum())
        if n_unlabeled:
            messages.show(
                f"{n_unlabeled} of {ensemble.n_samples} samples have no label and get none"
            )
        return InputPartitions(ensemble, table.id_name, truth)

    def consensus(self, column: str | None, ensemble: Ensemble) -> Any:
        """Read one clustering of the samples of an ensemble, in their order."""
        source = self
        if self.path.endswith(".h5ad"):  # all columns of obs are not labels
            source = replace(self, columns=[column or "consensus"])
        table = source.labels()
        if column is None and "consensus" in table.columns:
            column = "consensus"
        _, labels = one_column(table, column, "--labels-column")
        return in_order_of(ensemble.sample_ids, ensemble.n_samples, table, labels)


def _check_repeated_ids(table: Table) -> None:
    if table.ids is None:
        return
    counts = Counter(table.ids.tolist())
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        more = f", and {len(repeated) - 1} others more than once" if len(repeated) > 1 else ""
        raise ValueError(
            f"{table.source}: the id {repeated[0]!r} occurs {counts[repeated[0]]} times{more}. "
            "An id names one sample: make the ids different, or name another column."
        )


def _check_labels(ensemble: Ensemble, source: str, messages: Messages) -> None:
    """Refuse features; hint at text that may mean a missing label."""
    from partita.io import MISSING_TOKENS, MISSING_VALUES

    tokens = MISSING_TOKENS | {value.lower() for value in MISSING_VALUES}
    suspects: dict[str, list[str]] = {}
    names = ensemble.partition_names
    for i, categories in enumerate(ensemble.layout.categories):
        name, values = str(i) if names is None else str(names[i]), categories.tolist()
        n_decimals = sum(_has_decimals(value) for value in values)
        if n_decimals > max(_MANY_DECIMALS, ensemble.n_samples // 10):
            raise ValueError(
                f"{source}: column {name!r} has {len(values)} different numbers with "
                "decimals, so it holds features and not labels. Cluster features first (`partita "
                "generate`, or `partita fuse --features`), or choose the labels with --columns."
            )
        for value in values:
            if isinstance(value, str) and value.strip().lower() in tokens:
                suspects.setdefault(str(value), []).append(name)
    for token, columns in suspects.items():
        more = f" and {len(columns) - 1} more" if len(columns) > 1 else ""
        messages.hint(
            f"{token!r} is a cluster of {columns[0]}{more}; if it means a missing label, add "
            f'--missing-values {token!r} (which replaces the default, so repeat it for "" or NA)'
        )


def _has_decimals(value: Any) -> bool:
    """Return whether a label is a number with decimals, or text that can be read as one.

    A column of a text file stays text if one of its numbers has an exponent or many digits.
    """
    if isinstance(value, str):
        return _DECIMALS.fullmatch(value.strip()) is not None
    return isinstance(value, float) and value % 1 != 0


def one_column(table: Table, name: str | None, option: str) -> tuple[str, Any]:
    """Return the column that an option names; without a name, the only one there is."""
    names = ", ".join(table.columns)
    if name is None and len(table.columns) > 1:
        raise ValueError(f"{table.source} has several columns ({names}): say which, {option}.")
    name = next(iter(table.columns)) if name is None else name
    if name not in table.columns:
        from partita.io import did_you_mean

        close = did_you_mean(name, list(table.columns))
        raise ValueError(f"{table.source} has no column {name!r}{close}; it has {names}.")
    return name, table.columns[name]


def in_order_of(ids: Any, n_samples: int, other: Table, values: Any) -> Any:
    """Return a column of another table in the order of these samples.

    Samples are matched by id if both tables have ids, otherwise by position.
    """
    if ids is None or other.ids is None:
        if n_samples != other.n_samples:
            raise ValueError(
                f"{other.source} has {other.n_samples} samples, {n_samples} were expected. Name "
                "the --id-column of both tables to match them."
            )
        return values
    place = {sample: i for i, sample in enumerate(other.ids.tolist())}
    absent = [sample for sample in ids.tolist() if sample not in place]
    if absent:
        raise ValueError(
            f"{other.source} lacks {len(absent)} of the samples; the first is {absent[0]!r}."
        )
    return values[[place[sample] for sample in ids.tolist()]]


def check_report(path: Path | None) -> None:
    """Raise an error if a report cannot be written, before it is computed."""
    from partita.io import check_target

    if path is not None:
        check_target(path, (".html", ".json"))


def check_output(output: str | None, as_json: bool, inputs: Iterable[str]) -> None:
    """Raise an error if a result cannot be written, before it is computed.

    `inputs` are files that the result may not replace. An .h5ad file may be both, because columns
    are added to it.
    """
    from partita.io import check_target

    if output == "-" and as_json:
        raise ValueError("--json and --output - both want stdout. Write one of them to a file.")
    if output in (None, "-"):
        return
    target = check_target(str(output))
    if not target.exists() or target.suffix.lower() == ".h5ad":
        return
    if any(Path(path).exists() and target.samefile(path) for path in inputs):
        raise ValueError(
            f"--output {output!r} is a file that the command reads: it would be lost. Name another "
            "file."
        )


def write(
    table: Table, output: str | None, *, base: str, uns: Mapping[str, Any] | None = None
) -> None:
    """Write to a file, or as CSV to stdout; `base` is the input, which may be an .h5ad file."""
    from partita.io import write_table

    if output in (None, "-"):
        write_table(sys.stdout, table)
    else:
        is_h5ad = base.endswith(".h5ad")
        write_table(str(output), table, base=Path(base) if is_h5ad else None, uns=uns)
