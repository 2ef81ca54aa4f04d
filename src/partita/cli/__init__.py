"""The command line: each command is one call of the library and its presentation.

Data go to stdout, talk and progress to stderr. Commands import what they need when they run, so
that `partita --help` answers at once. A new command is one file here and one line below.
"""

from __future__ import annotations

from partita.cli._app import app
from partita.cli.demo import demo
from partita.cli.methods import methods

__all__ = ["app", "main"]

for command in (demo, methods):  # in the order of the help
    app.command()(command)


def main() -> None:
    """Run the command line."""
    app()
