"""The command line: each command calls one function of the library and shows its result.

Data go to stdout, messages and progress to stderr. Commands import what they need when they run, so
that `partita --help` is fast. A new command is one file here and one line below.
"""

from __future__ import annotations

from partita.cli._app import app
from partita.cli.compare import compare
from partita.cli.convert import convert
from partita.cli.demo import demo
from partita.cli.evaluate import evaluate
from partita.cli.fuse import fuse
from partita.cli.generate import generate
from partita.cli.methods import methods
from partita.cli.plan import plan
from partita.cli.report import report
from partita.cli.scan_k import scan_k
from partita.cli.segment import segment

__all__ = ["app", "main"]

# in the order of the help
for command in (
    demo, methods, generate, segment, fuse, scan_k, compare, evaluate, report, convert, plan,
):  # fmt: skip
    app.command()(command)
app.command("scan", hidden=True)(scan_k)


def main() -> None:
    """Run the command line."""
    app()
