"""`partita modes`: groups of partitions that tell different stories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli._messages import (
    METHODS_HINT,
    Messages,
    escape_markup,
    hint_on_error,
    print_json,
    print_table,
)
from partita.cli._options import (
    Columns,
    Encoding,
    IdColumn,
    Json,
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

if TYPE_CHECKING:
    from partita.structure import Modes

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            min=1,
            help="Number of clusters of each consensus; by default the median of the partitions "
            "that it combines.",
        ),
    ] = None,
    method: Method = "ccgp",
    alpha: Annotated[
        float, typer.Option(help="Probability that partitions of one story are grouped.")
    ] = 0.05,
    output: Output = None,
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
    """Find groups of partitions that disagree with each other, and the consensus of each group.

    The mode of each partition goes to stdout; --output writes the consensus of each mode as a
    column.
    """
    import numpy as np

    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.registry import prepare
    from partita.structure import modes

    if output == "-":
        raise ValueError("--output must be a file: the modes of the partitions go to stdout.")
    check_output(output, as_json, [partitions])
    with hint_on_error(METHODS_HINT):
        estimator = prepare(method)
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        data = source.ensemble(noise, messages)
    with progress_bars("grouping", quiet=quiet):
        result = modes(data.ensemble, clusters, method=estimator, alpha=alpha, random_state=seed)
    if output is not None:
        labels = {f"mode_{i}": np.ma.masked_equal(x, -1) for i, x in enumerate(result.labels)}
        write(data.with_ids(labels), output, base=partitions)
        messages.show(f"wrote {output}: the consensus of each mode")
    if as_json:
        record = {
            "n_modes": result.n_modes,
            "separation": result.separation,
            "p_value": result.p_value,
            "partitions": result.records(),
            "differences": result.differences,
        }
        if output is None:
            record |= {"ids": data.ensemble.sample_ids, "labels": result.labels}
        print_json(record)
        return
    _print(result)


def _print(result: Modes) -> None:
    rows = [
        [
            escape_markup(str(record["partition"])),
            "none" if record["mode"] < 0 else f"{record['mode']}",
            _number(record["within"]),
            _number(record["between"]),
        ]
        for record in result.records()
    ]
    names = ["partition", "mode", "agreement within", "with other modes"]
    print_table(names, rows, numbers=True, optional=names[2:])
    typer.echo(str(result))


def _number(value: float) -> str:
    return "" if value != value else f"{value:.3f}"
