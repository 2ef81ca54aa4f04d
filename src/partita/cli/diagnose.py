"""`partita diagnose`: measure how far to trust a consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from partita.cli._messages import Messages, counted, escape_markup, print_json, print_table
from partita.cli._options import (
    Columns,
    Encoding,
    IdColumn,
    Json,
    LabelsColumn,
    LabelsFile,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    PartitionsFile,
    Quiet,
)

if TYPE_CHECKING:
    from partita.diagnostics import Diagnosis

__all__ = ["run"]

_CLUSTER_COLUMNS = {
    "cluster": "cluster",
    "size": "samples",
    "share": "share",
    "cohesion": "cohesion",
    "separation": "separation",
    "stability": "stability",
    "n_doubtful": "doubtful",
}
_PARTITION_COLUMNS = {
    "partition": "partition",
    "n_clusters": "clusters",
    "labeled": "labeled",
    "agreement": "NMI",
    "adjusted_rand": "ARI",
    "leave_out": "without it",
    "n_equal": "equal",
    "bad": "bad",
}
_VIEW_COLUMNS = {
    "view": "view",
    "n_partitions": "partitions",
    "labeled": "samples",
    "agreement": "NMI",
    "adjusted_rand": "ARI",
    "within": "within",
    "between": "other views",
    "disagrees": "disagrees",
}


def run(
    partitions: PartitionsFile,
    labels: LabelsFile,
    labels_column: LabelsColumn = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how far to trust a consensus: its clusters, the partitions, and the whole.

    The samples of the two tables are matched by --id-column, without it by their order.
    """
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source
    from partita.diagnostics import diagnose as diagnose_labels

    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        ensemble = source.ensemble(noise, Messages(quiet)).ensemble
        source = Source(labels, None, id_column, missing_values, no_header, encoding)
        consensus = source.consensus(labels_column, ensemble)
    with progress_bars("diagnosing", quiet=quiet):
        diagnosis = diagnose_labels(ensemble, consensus)
    if as_json:
        print_json(diagnosis.to_dict())
        return
    _print_records(_CLUSTER_COLUMNS, diagnosis.cluster_records())
    _print_records(_PARTITION_COLUMNS, diagnosis.partition_records())
    if records := diagnosis.view_records():
        _print_records(_VIEW_COLUMNS, records)
    _print_summary(diagnosis)


def _print_records(columns: dict[str, str], records: list[dict[str, Any]]) -> None:
    rows = [[_cell(record[key], key) for key in columns] for record in records]
    optional = ("equal", "without it", "labeled", "share", "other views", "within")
    print_table(list(columns.values()), rows, numbers=True, optional=optional)


def _cell(value: Any, column: str) -> str:
    if column in ("cluster", "partition", "view"):
        return escape_markup(str(value))
    if column in ("share", "labeled"):
        return f"{value:.1%}"
    if column == "size":
        return f"{value:,.6g}"
    if column == "n_equal":
        return "" if value == 1 else f"one of {value}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if value != value else f"{round(value, 3) + 0.0:.3f}"
    return str(value)


def _print_summary(diagnosis: Diagnosis) -> None:
    summary = diagnosis.to_dict()
    typer.echo(
        f"{counted(summary['n_samples'], 'sample')} in "
        f"{counted(summary['n_clusters'], 'cluster')}, "
        f"{counted(summary['n_partitions'], 'partition')}"
    )
    typer.echo(
        f"mean confidence {summary['mean_confidence']:.3f}, "
        f"{counted(summary['n_doubtful'], 'doubtful sample')}"
    )
    if summary["n_partitions"] > 1:
        typer.echo(f"mean element-centric consistency {summary['mean_element_consistency']:.3f}")
    if summary["n_modes"] > 1:
        typer.echo(f"the partitions tell different stories: {diagnosis.modes}")
    if summary["best_partition"] is None:
        typer.echo(
            f"the consensus agrees with the partitions (ANMI {summary['anmi']:.3f}); no partition "
            f"has about {summary['n_clusters']} clusters, so none is compared with it"
        )
        return
    verdict = "at least as good as" if summary["harmless"] else "worse than"
    typer.echo(
        f"the consensus is {verdict} the best partition with about as many clusters, "
        f"{summary['best_partition']}: its ANMI with the partitions is {summary['anmi']:.3f}, that "
        f"of {summary['best_partition']} with the others {summary['best_partition_anmi']:.3f}"
    )
