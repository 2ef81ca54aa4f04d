"""`partita graph-consensus`: consensus of communities on the edges of a graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import (
    Columns,
    Encoding,
    IdColumn,
    Json,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    Output,
    PartitionsFile,
    Quiet,
)

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="Table with an edge per line, whose first two columns are the nodes by id (by "
            "number from 0 without --id-column); or a key of obsp of an .h5ad file.",
        ),
    ],
    threshold: Annotated[
        float, typer.Option(help="Share of the partitions that must join an edge, exceeded.")
    ] = 0.5,
    output: Output = None,
    name: Annotated[str, typer.Option(help="Name of the column to write.")] = "consensus",
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Combine partitions of the nodes of a graph by their agreement on its edges.

    No number of clusters is needed: edges that too few partitions join are cut, and what stays
    connected is a community.
    """
    import numpy as np

    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.io import read_graph
    from partita.structure import graph_consensus

    check_output(output, as_json, [partitions, graph])
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        data = source.ensemble(noise, messages)
        stored = read_graph(partitions, graph) if partitions.endswith(".h5ad") else None
        edges = _read_edges(graph, data.ensemble, encoding) if stored is None else stored[0]
    result = graph_consensus(data.ensemble, edges, threshold=threshold)
    if output is not None or not as_json:
        table = data.with_ids({name: np.ma.masked_equal(result.labels, -1)})
        write(table, output, base=partitions)
    if as_json:
        sizes = np.bincount(result.labels[result.labels >= 0])
        record: dict[str, Any] = {
            "n_clusters": result.n_clusters,
            "n_edges": len(result.edges),
            "sizes": sizes,
            "mean_agreement": float(np.nanmean(result.agreement)),
        }
        extra = {"ids": data.ensemble.sample_ids, "labels": result.labels}
        print_json(record if output else record | extra)
    messages.show(str(result) if output in (None, "-") else f"wrote {output}: {result}")


def _read_edges(path: str, ensemble: Any, encoding: str | None) -> Any:
    """Return the graph of a table of edges as a sparse matrix over the samples."""
    import numpy as np
    import scipy.sparse as sp

    from partita.io import read_labels

    table = read_labels(path, encoding=encoding)
    if len(table.columns) < 2:
        raise ValueError(f"{path} must have two columns, the nodes of each edge.")
    ids = ensemble.sample_ids
    names = range(ensemble.n_samples) if ids is None else ids.tolist()
    place = {str(name): i for i, name in enumerate(names)}
    ends = []
    for column in list(table.columns.values())[:2]:
        unknown = [str(node) for node in column.tolist() if str(node) not in place]
        if unknown:
            advice = (
                "Name the column of the ids with --id-column."
                if ids is None
                else f"The ids of the samples are {', '.join(map(repr, names[:3]))}, ..."
            )
            raise ValueError(
                f"{path} has the node {unknown[0]!r}, which is no sample of the partitions. "
                f"{advice}"
            )
        ends.append(np.asarray([place[str(node)] for node in column.tolist()]))
    n = ensemble.n_samples
    return sp.coo_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(n, n))
