"""`partita hierarchical-consensus`: a tree of clusters without a number of clusters."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita.cli._messages import Messages, counted, print_json, print_table
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
    Seed,
)

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    alpha: Annotated[float, typer.Option(help="Level of the tests of a division.")] = 0.05,
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
    """Divide clusters as long as a division is better than that of permuted labels.

    No number of clusters is needed. The tree goes to stdout; --output writes a column per level,
    from coarse to fine.
    """
    import numpy as np

    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.structure import hierarchical_consensus

    if output == "-":
        raise ValueError("--output must be a file: the tree goes to stdout.")
    check_output(output, as_json, [partitions])
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        data = source.ensemble(noise, messages)
    with progress_bars("dividing", quiet=quiet):
        hierarchy = hierarchical_consensus(data.ensemble, alpha=alpha, random_state=seed)
    if output is not None:
        levels = {
            f"level_{i}": np.ma.masked_equal(labels, -1)
            for i, labels in enumerate(hierarchy.levels)
            if i > 0 or len(hierarchy.levels) == 1
        }
        write(data.with_ids(levels), output, base=partitions)
        messages.show(f"wrote {output}: {counted(len(levels), 'level')}")
    if as_json:
        print_json(
            {
                "n_clusters": [int(level.max()) + 1 for level in hierarchy.levels],
                "tree": hierarchy.tree,
            }
            | ({} if output else {"ids": data.ensemble.sample_ids, "levels": hierarchy.levels})
        )
        return
    rows = [
        [
            f"{'  ' * node['level']}{node['cluster']}",
            f"{node['level']}",
            f"{node['n_samples']}",
            f"{node['n_parts'] or ''}",
            _number(node["similarity"]),
            _number(node["p_value"]),
        ]
        for node in _depth_first(hierarchy.tree)
    ]
    print_table(["cluster", "level", "samples", "parts", "similarity", "p"], rows, numbers=True)
    typer.echo(str(hierarchy).splitlines()[0])


def _depth_first(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every cluster followed by its parts."""
    parts: dict[int, list[dict[str, Any]]] = {}
    for node in tree:
        parts.setdefault(node["parent"], []).append(node)
    order, stack = [], parts.get(-1, [])[::-1]
    while stack:
        order.append(stack.pop())
        stack += parts.get(order[-1]["node"], [])[::-1]
    return order


def _number(value: float) -> str:
    return "" if value != value else f"{value:.3f}"
