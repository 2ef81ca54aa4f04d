"""Views of the command line: one file of features per view, joined by the ids of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._features import FeatureReader
from partita.cli._tables import InputPartitions, Source

if TYPE_CHECKING:
    from partita.ensemble import Ensemble
    from partita.io import Table
    from partita.select_k import KScan

__all__ = ["FileViews", "read_views_from_files"]

_PARTITIONS_PER_VIEW = 20


@dataclass(frozen=True)
class FileViews:
    """The views of some files.

    Attributes
    ----------
    matrices : dict of str to array
        Features of the complete samples of every view.
    present : dict of str to array, or None
        Ids or positions of these samples; None if all views have all samples in one order.
    order : list
        Ids or positions of all samples.
    has_ids : bool
        Whether the files have ids.
    is_whole : bool
        Whether no sample of a file was left out.
    id_name : str
        Name of the column of ids.
    """

    matrices: dict[str, Any]
    present: dict[str, Any] | None
    order: list[Any]
    has_ids: bool
    is_whole: bool
    id_name: str

    def choose_k(self, k_range: Sequence[int] | None, **options: Any) -> tuple[int, KScan]:
        """Return the number that a scan suggests, and the scan.

        The parameters are those of `partita.multiview.scan_k_views`.
        """
        from partita.multiview import scan_k_views
        from partita.select_k import suggested_number

        scan = scan_k_views(self.matrices, k_range, present=self.present, **options)
        return suggested_number(scan, "data without clusters"), scan

    def generate(
        self, generator: Any = None, *, partitions_per_view: int | None = None, **options: Any
    ) -> InputPartitions:
        """Make the partitions of all views.

        A sample without features in any view has no labels. `generator` and `options` are those of
        `partita.multiview.generate_partitions`.
        """
        from partita.multiview import generate_partitions

        ensemble = generate_partitions(
            self.matrices,
            generator,
            present=self.present,
            partitions_per_view=partitions_per_view or _PARTITIONS_PER_VIEW,
            **options,
        )
        if not self.is_whole:
            ensemble = _with_all_samples(ensemble, self.order, has_ids=self.has_ids)
        return InputPartitions(ensemble, self.id_name)


def read_views_from_files(
    paths: Sequence[str],
    *,
    reader: FeatureReader,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    missing_values: Sequence[str] | None = None,
    no_header: bool = False,
    encoding: str | None = None,
) -> FileViews:
    """Read one view per file.

    Samples are matched by id, or by their order if no file has ids. A view has the name of its
    file without folder and suffix. `reader` prepares the features.
    """
    import numpy as np

    if paths.count("-") > 1:
        raise ValueError("Only one of the files can be stdin (-).")
    views = {
        name: reader.read(Source(path, columns, id_column, missing_values, no_header, encoding))
        for name, path in zip(_view_names(paths), paths, strict=True)
    }
    tables = {name: table for name, (table, _) in views.items()}
    _check_ids(list(tables.values()))
    has_ids = all(table.ids is not None for table in tables.values())
    ids = {
        name: np.arange(table.n_samples).astype(str) if table.ids is None else table.ids
        for name, table in tables.items()
    }
    complete = {name: ~np.isnan(matrix).any(axis=1) for name, (_, matrix) in views.items()}
    is_whole = all(rows.all() for rows in complete.values())
    present = {name: ids[name][complete[name]] for name in ids}
    return FileViews(
        {name: matrix[complete[name]] for name, (_, matrix) in views.items()},
        present if has_ids or not is_whole else None,
        list(dict.fromkeys(sample for part in ids.values() for sample in part.tolist())),
        has_ids,
        is_whole,
        next(iter(tables.values())).id_name,
    )


def _with_all_samples(ensemble: Ensemble, order: list[Any], *, has_ids: bool) -> Ensemble:
    """Return the partitions with all samples, without labels for those that no view has."""
    import numpy as np

    from partita.ensemble import Ensemble

    place = {sample: i for i, sample in enumerate(order)}
    labels = np.full((len(order), ensemble.n_partitions), -1, np.int64)
    rows = [place[sample] for sample in np.asarray(ensemble.sample_ids).tolist()]
    labels[rows] = np.where(ensemble.observed, ensemble.codes.astype(np.int64), -1)
    return Ensemble.from_partitions(
        labels,
        partition_names=np.asarray(ensemble.partition_names).tolist(),
        sample_ids=order if has_ids else None,
        unlabeled="keep",
    )


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
