"""Views of the command line: one file of features per view, joined by the ids of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._tables import InputPartitions, Source

if TYPE_CHECKING:
    from partita.io import Table

__all__ = ["generate_from_files"]

_PARTITIONS_PER_VIEW = 20


def generate_from_files(
    paths: Sequence[str],
    generator: Any = None,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    no_header: bool = False,
    encoding: str | None = None,
    partitions_per_view: int | None = None,
    **options: Any,
) -> InputPartitions:
    """Read one view per file and make the partitions of all views.

    Samples are matched by id, or by their order if no file has ids. A view has the name of its
    file without folder and suffix. `generator` and `options` are those of
    `partita.multiview.generate_partitions`.
    """
    from partita.multiview import generate_partitions

    if paths.count("-") > 1:
        raise ValueError("Only one of the files can be stdin (-).")
    tables = {
        name: Source(path, columns, id_column, None, no_header, encoding).features()
        for name, path in zip(_view_names(paths), paths, strict=True)
    }
    _check_ids(list(tables.values()))
    ensemble = generate_partitions(
        {name: table.matrix() for name, table in tables.items()},
        generator,
        present={name: table.ids for name, table in tables.items() if table.ids is not None},
        partitions_per_view=partitions_per_view or _PARTITIONS_PER_VIEW,
        **options,
    )
    return InputPartitions(ensemble, next(iter(tables.values())).id_name)


def _view_names(paths: Sequence[str]) -> list[str]:
    names = ["stdin" if path == "-" else Path(path).stem for path in paths]
    return names if len(set(names)) == len(names) else [*paths]


def _check_ids(tables: Sequence[Table]) -> None:
    without = [table.source for table in tables if table.ids is None]
    if without and len(without) < len(tables):
        raise ValueError(
            f"{without[0]} has no ids of samples and another file has, so that the files cannot be "
            "joined. Name the column of the ids with --id-column."
        )
