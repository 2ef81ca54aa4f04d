"""The command line: each command calls one function of the library and shows its result.

Data go to stdout, messages and progress to stderr. Commands import what they need when they run, so
that `partita --help` is fast. A new command is one file here, with a function `run`, and one line
below.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from partita.cli import (
    cluster_tree,
    compare,
    convert,
    demo,
    diagnose,
    evaluate,
    fuse,
    generate,
    graph_consensus,
    hierarchical_consensus,
    methods,
    modes,
    plan,
    predict,
    report,
    scan_k,
    segment,
    update,
)
from partita.cli._app import app

__all__ = ["app", "main"]

_COMMANDS: dict[str, Callable[..., None]] = {  # in the order of the help
    "demo": demo.run,
    "methods": methods.run,
    "generate": generate.run,
    "segment": segment.run,
    "fuse": fuse.run,
    "predict": predict.run,
    "update": update.run,
    "scan-k": scan_k.run,
    "compare": compare.run,
    "evaluate": evaluate.run,
    "diagnose": diagnose.run,
    "report": report.run,
    "cluster-tree": cluster_tree.run,
    "hierarchical-consensus": hierarchical_consensus.run,
    "modes": modes.run,
    "graph-consensus": graph_consensus.run,
    "convert": convert.run,
    "plan": plan.run,
}
_EXAMPLES = {
    "demo": ["partita demo"],
    "methods": ["partita methods"],
    "generate": [
        "partita generate features.csv --id-column name -n 100 -o partitions.csv",
        "partita generate cells.h5ad --use X_pca -o partitions.parquet",
        "partita generate cells.h5ad --use connectivities -o cells.h5ad",
    ],
    "segment": ["partita segment vectors.npy -o partitions.store -n 20 -k 50:100"],
    "fuse": [
        "partita fuse partitions.csv --id-column name -o consensus.csv",
        'partita fuse cells.h5ad --columns "leiden_*" -k 12 -o fused.h5ad',
        "partita fuse gene.csv protein.csv --features --id-column name -k 4",
    ],
    "predict": ["partita predict old.csv new.csv -i name -k 4 -o new_labels.csv"],
    "update": ["partita update partitions.csv consensus.csv more.csv -i name -o new.csv"],
    "scan-k": ["partita scan-k partitions.csv --id-column name -k 2:15"],
    "compare": ["partita compare partitions.csv --id-column name -k 5 -m ccgp -m sec"],
    "evaluate": ["partita evaluate consensus.csv classes.csv --id-column name"],
    "diagnose": ["partita diagnose partitions.csv consensus.csv --id-column name"],
    "report": ["partita report partitions.csv consensus.csv -i name -o report.html"],
    "cluster-tree": ['partita cluster-tree cells.h5ad --columns "leiden_*" -o tree.png'],
    "hierarchical-consensus": [
        "partita hierarchical-consensus partitions.csv -i name -o levels.csv"
    ],
    "modes": ["partita modes partitions.csv --id-column name -o modes.csv"],
    "graph-consensus": [
        "partita graph-consensus partitions.csv edges.csv -i name -o communities.csv",
        'partita graph-consensus cells.h5ad connectivities -c "leiden_*" -o out.h5ad',
    ],
    "convert": ["partita convert partitions.csv partitions.store -i name"],
    "plan": ["partita plan --samples 1e6 --partitions 100 --clusters 20"],
}


def _epilog(name: str) -> str:
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in _EXAMPLES[name])])


def _help(run: Callable[..., None]) -> str:
    """Return the docstring with one line per paragraph, which the terminal breaks to its width."""
    paragraphs = inspect.cleandoc(run.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _name, _run in _COMMANDS.items():
    app.command(_name, help=_help(_run), epilog=_epilog(_name))(_run)
app.command("scan", hidden=True)(scan_k.run)


def main() -> None:
    """Run the command line."""
    app()
