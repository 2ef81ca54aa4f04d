"""`partita update`: add partitions to a consensus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import METHODS_HINT, Messages, hint_on_error, print_json
from partita.cli._options import (
    Columns,
    Encoding,
    IdColumn,
    Json,
    LabelsColumn,
    LabelsFile,
    Method,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    Output,
    PartitionsFile,
    Quiet,
    Seed,
)

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    labels: LabelsFile,
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="Table of new partitions of the same samples.")
    ],
    method: Method = "ccgp",
    output: Output = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="Report to write: .html or .json.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the column to write.")] = "consensus",
    labels_column: LabelsColumn = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add partitions to a consensus and say which samples change their cluster.

    The number of clusters stays. sec, kcc, ccc and kc start from the consensus in LABELS, other
    methods are fitted to all partitions. Samples are matched by id, or by their order if a table
    has no ids. --columns is for PARTITIONS; all columns of NEW are read.
    """
    from partita.cli._fusion_files import write_fusion
    from partita.cli._fusion_summary import print_summary, summarize_fusion, write_report
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, check_report
    from partita.fusion import update_consensus

    check_output(output, as_json, [partitions, new])
    check_report(report)
    messages = Messages(quiet)
    reading = (id_column, missing_values, no_header, encoding)
    with progress_bars("reading", quiet=quiet):
        before = Source(partitions, columns, *reading).ensemble(noise, messages)
        consensus = Source(labels, None, *reading).consensus(labels_column, before.ensemble)
        added = Source(new, None, *reading).ensemble(noise, messages)
    with progress_bars("updating", quiet=quiet), hint_on_error(METHODS_HINT):
        fusion = update_consensus(
            before.ensemble, consensus, added.ensemble, method=method, random_state=seed
        )
    if report is not None:
        write_report(fusion, report, seed, quiet)
    if output is not None or not as_json:
        write_fusion(fusion, name, before.id_name, output, base=partitions, noise=noise, seed=seed)
    summary = summarize_fusion(fusion, seed, by_size=(output or "").endswith(".h5ad"))
    if as_json:
        record = summary | {"output": output, "report": report and str(report)}
        if output is None:
            ids, confidence = fusion.partitions.sample_ids, fusion.confidence
            record |= {"ids": ids, "labels": fusion.labels, "confidence": confidence}
        print_json(record)
    print_summary(messages, fusion, summary)
    files = [str(path) for path in (output, report) if path not in (None, "-")]
    if files:
        messages.show(f"wrote {' and '.join(files)}")
